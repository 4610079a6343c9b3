// What the doctor makes of what it saw.

import { describe, expect, it } from 'vitest'
import {
  bytesText,
  type Check,
  checkDisk,
  checkFiles,
  checkLaunch,
  checkLine,
  checkNode,
  checkResults,
  checkSnapshot,
  checkStatus,
  checkStoredState,
  checkToken,
  type FilesFacts,
  type HttpFacts,
  type LaunchFacts,
  type StreamFacts,
  withLaunchFix,
} from '../../../src/cli/doctor/checks.ts'
import { STREAMS, type StreamName } from '../../../src/feeder/streams.ts'

const LOG = {
  chain: 'c',
  height: 7,
  booksKnown: true,
  lagMs: 300,
  state: 'live',
  advice: '',
  feedRegion: null,
  feeders: [{ name: 'a', conflict: null, connected: true, sinceMs: 0 }],
  readers: [1],
}
const NOW = Date.parse('2026-11-22T10:00:00.000Z')
const told = (checks: Check | readonly Check[]) => [checks].flat().map(({ state, saw }) => `${state}: ${saw}`)
const stream = (name: StreamName, change: Partial<StreamFacts> = {}): StreamFacts => ({
  name,
  state: 'there',
  before: { height: 100, time: '2026-11-22T09:59:57.500' },
  after: { height: 128, time: '2026-11-22T09:59:59.500000000' },
  ...change,
})
const answer = (change: Partial<HttpFacts> = {}): HttpFacts => ({
  url: 'http://x',
  status: 200,
  text: '',
  atMs: NOW,
  tookMs: 100,
  ...change,
})

describe('node files', () => {
  const files = (change: Partial<FilesFacts>, ...streams: StreamFacts[]): FilesFacts => {
    const others = STREAMS.map((name) => stream(name))
    const all = others.map((one) => streams.find(({ name }) => name === one.name) ?? one)
    const replica = { state: 'there', newest: { height: 90, writtenMs: NOW - 1_000 } } as const
    return {
      folder: '/data',
      state: 'there',
      streams: all,
      replica,
      unbatched: [],
      tookMs: 2000,
      nowMs: NOW,
      ...change,
    }
  }
  const still = { after: { height: 100, time: '2026-11-22T09:59:57.500' } }
  const absent = { state: 'absent', before: null, after: null } as const

  it.each<[string, FilesFacts, RegExp[]]>([
    ['grow', files({}), [/^ok: .* 128, 14\.0 /]],
    ['are not there', files({ state: 'absent' }), [/^FAIL: \/data /]],
    ['may not be read', files({ state: 'unreadable' }), [/^FAIL: \/data cannot/]],
    ['lack fills', files({}, stream('fills', absent)), [/^FAIL: node_fills_by/]],
    ['are not by block', files({ unbatched: ['node_fills'] }, stream('fills', absent)), [/^FAIL: node_fills /]],
    ['hold no diffs yet', files({}, stream('diffs', { before: null, after: null })), [/^FAIL: node_raw/]],
    ['hide a stream', files({}, stream('twaps', { state: 'unreadable' })), [/^FAIL: node_twap/]],
    ['lack transfers', files({}, stream('misc', absent)), [/^warn: misc_events/, /^ok: /]],
    ['lack what may be left out', files({}, stream('statuses', absent), stream('twaps', absent)), [/^ok: at block/]],
    ['stand still', files({}, stream('fills', still)), [/^FAIL: no new line in node_fills\S+ since block 100, 2.5 s/]],
    [
      'stand still since just now',
      files({ nowMs: NOW - 2000 }, stream('fills', still), stream('diffs', still)),
      [/^ok: .* 100, 0\.0 /],
    ],
    ['are late', files({ nowMs: NOW + 60_000 }), [/^warn: at block 128, .* 61 s old/]],
    ['come from the future', files({ nowMs: NOW - 60_000 }), [/^warn: at block 128, .* 60 s in the future/]],
  ])('that %s', (_, facts, lines) => {
    const isExtra = ({ saw }: Check) => /^(?:hip3|system|replica)\S* has block/.test(saw)
    const checks = checkFiles(facts)
    expect(told(checks.filter((check) => !isExtra(check)))).toEqual(lines.map((line) => expect.stringMatching(line)))
  })

  const HOURS_AGO = '2026-11-22T08:00:00.000'
  it.each<[string, FilesFacts, RegExp[]]>([
    [
      'are all there',
      files({}),
      [/^ok: hip3\S+ has block 128$/, /^ok: system\S+ has block 128$/, /^ok: replica_cmds has/],
    ],
    [
      'do not exist',
      files({ replica: { state: 'absent', newest: null } }, stream('oracle', absent), stream('writer', absent)),
      [/^ok: hip3\S+ does not exist/, /^ok: system\S+ does not exist/, /^ok: replica_cmds does not exist/],
    ],
    [
      'are stale',
      files(
        { replica: { state: 'there', newest: { height: 5, writtenMs: NOW - 7_200_000 } } },
        stream('oracle', { after: { height: 6, time: HOURS_AGO } }),
        stream('writer', { after: { height: 7, time: HOURS_AGO } }),
      ),
      [
        /^warn: hip3\S+ has nothing new since block 6, 2 h ago/,
        /^warn: system\S+ .* 7, 2 h/,
        /^warn: replica_cmds .* 5, 2 h/,
      ],
    ],
    [
      'are empty or unreadable',
      files(
        { replica: { state: 'unreadable', newest: null } },
        stream('oracle', { before: null, after: null }),
        stream('writer', { state: 'unreadable' }),
      ),
      [/^FAIL: system\S+ cannot be read/, /^ok: hip3\S+ is empty/, /^FAIL: replica_cmds cannot be read/],
    ],
  ])('that a node need not write %s', (_, facts, lines) => {
    const extras = told(checkFiles(facts)).filter((line) => /hip3|system|replica/.test(line))
    expect(extras).toEqual(lines.map((line) => expect.stringMatching(line)))
  })

  it('name the flag of a folder that does not exist', () => {
    const flags = { oracle: 'hip3-oracle', writer: 'core-writer', replica: '--replica-cmds-style' }
    const none = files(
      { replica: { state: 'absent', newest: null } },
      stream('oracle', absent),
      stream('writer', absent),
    )
    for (const flag of Object.values(flags)) expect(checkFiles(none).some(({ fix }) => fix?.includes(flag))).toBe(true)
  })
})

describe('a node', () => {
  it.each<[string, Partial<HttpFacts>, string]>([
    ['answers', { text: `{"time":${NOW - 500}}` }, 'ok: http://x responds, 0.5 s from our clock'],
    ['is late', { text: `{"time":${NOW - 9000}}` }, 'warn: http://x responds, 9.0 s behind our clock'],
    ['is early', { text: `{"time":${NOW + 9000}}` }, 'warn: http://x responds, 9.0 s ahead of our clock'],
    ['does not tell the time', { text: 'null' }, 'warn: http://x responds without a time: null'],
    ['refuses', { status: 422, text: 'no' }, 'FAIL: http://x responds to exchangeStatus with status 422: no'],
    ['is not there', { status: null, text: 'ECONNREFUSED' }, 'FAIL: http://x does not respond: ECONNREFUSED'],
  ])('that %s', (_, change, line) => {
    expect(told(checkNode(answer(change)))).toEqual([line])
  })

  it.each<[string, object, Partial<HttpFacts>, string]>([
    ['writes', { bytes: 2_500_000 }, {}, 'ok: 2.5 MB within 0.1 s in /s'],
    ['writes elsewhere', {}, {}, 'FAIL: the node reported a snapshot in /s, but the file does not exist'],
    ['refuses', {}, { status: 422, text: 'no' }, 'FAIL: the node responds to fileSnapshot with status 422: no'],
    ['takes long', {}, { status: null, text: 'late', tookMs: 30_000 }, 'warn: none within 30 s: late'],
    ['may write where we may not', { unwritable: 'EACCES' }, {}, 'FAIL: /s cannot be written: EACCES'],
  ])('that %s snapshots', (_, change, more, line) => {
    const facts = { folder: '/s', answer: answer(more), bytes: null, unwritable: null, ...change }
    expect(told(checkSnapshot(facts))).toEqual([line])
  })
})

describe('a gateway', () => {
  const status = (change: object) => checkStatus(answer({ text: JSON.stringify({ ...LOG, ...change }) }), 'c')

  const feeder = { name: 'a', conflict: null, connected: true, sinceMs: 0 }
  const conflict = 'another chain'
  it.each<[string, object, RegExp]>([
    ['is well', {}, /^ok: http:\/\/x at block 7, 0.3 s late, feeders 1, readers 1$/],
    ['is pinned', { feedRegion: 'apac-ne' }, /^ok: http:\/\/x, pinned to apac-ne at block 7/],
    ['is late', { lagMs: 60_000 }, /^warn: .* 60 s late/],
    ['is ahead', { lagMs: -60_000 }, /^warn: .* 60 s in the future/],
    ['has no feeder', { feeders: [] }, /^FAIL: .* no feeder/],
    ['has none any more', { feeders: [{ ...feeder, conflict, connected: false }] }, /^FAIL: .* no feeder/],
    ['has no block', { height: null }, /^warn: .* no block yet/],
    ['has no books', { booksKnown: false }, /^warn: /],
    ['refuses a feeder', { feeders: [{ ...feeder, conflict }] }, /^FAIL: .* feeder a .* another chain/],
    ['is of another chain', { chain: 'test' }, /^FAIL: .* chain test, not c/],
  ])('that %s', (_, change, line) => {
    expect(told(status(change))).toEqual([expect.stringMatching(line)])
  })

  const since = (ms: number) => [{ ...feeder, sinceMs: NOW - ms }]
  it.each<[string, string, object]>([
    ['warn', 'late', {}],
    ['warn', 'starting', {}],
    ['warn', 'books_unknown', { feeders: since(59_000) }],
    ['FAIL', 'books_unknown', { feeders: since(61_000) }],
    ['FAIL', 'node_still', {}],
    ['FAIL', 'feeder_stuck', {}],
    ['FAIL', 'feeder_silent', {}],
    ['FAIL', 'link_down', { feeders: [] }],
    ['FAIL', 'no_feeder', { feeders: [] }],
    ['FAIL', 'conflict', { feeders: [] }],
  ])('%s while the feed is %s', (word, state, change) => {
    const check = status({ state, advice: 'Look.', ...change })
    expect([told(check), check.fix]).toEqual([[`${word}: http://x responds; the feed is ${state}`], 'Look.'])
  })

  it('that is not Weir or does not respond', () => {
    expect(checkStatus(answer({ text: '<html>' }), 'c').state).toBe('FAIL')
    expect(checkStatus(answer({ status: null, text: 'ENOTFOUND' }), 'c').state).toBe('FAIL')
  })

  it.each<[number | null, string, string]>([
    [426, 'ok', 'warn'],
    [200, 'warn', 'ok'],
    [401, 'FAIL', 'FAIL'],
    [404, 'FAIL', 'FAIL'],
    [503, 'FAIL', 'FAIL'],
    [500, 'FAIL', 'FAIL'],
    [null, 'warn', 'warn'],
  ])('that responds to a token with %s', (code, feed, admin) => {
    const facts = answer({ status: code, text: 'timeout' })
    const statesOf = (checks: readonly Check[]) => checks.map(({ state }) => state)
    expect([statesOf(checkToken('feed token', facts)), statesOf(checkToken('admin token', facts))]).toEqual([
      [feed],
      [admin],
    ])
  })

  it('that was checked without tokens', () => {
    expect(checkToken('feed token', null).map(({ state }) => state)).toEqual(['warn'])
    expect(checkToken('admin token', null)).toEqual([])
  })
})

describe('a machine', () => {
  it.each([
    [500e9, null, 'ok: 500.0 GB free for /d'],
    [500e9, 1e9, 'ok: 500.0 GB free for /d; files grow by 1.0 GB per hour, full in 20 days'],
    [100e9, 5e9, 'warn: 100.0 GB free for /d; files grow by 5.0 GB per hour, full in 20 hours'],
    [9e9, null, 'warn: 9.0 GB free for /d'],
    [0.5e9, null, 'FAIL: 500.0 MB free for /d'],
  ])('with %d bytes free', (freeBytes, bytesPerHour, line) => {
    expect(told(checkDisk({ folders: '/d', freeBytes, bytesPerHour }))).toEqual([line])
  })
})

describe('npx weir demo', () => {
  const processes = [
    { name: 'start', pid: 1, runs: true, isStopped: false },
    { name: 'devnet', pid: 2, runs: true, isStopped: false },
  ]
  const facts: LaunchFacts = { folder: '/w', damaged: [], ports: { gateway: 8787, devnet: 3001 }, processes }

  const feeder = { name: 'feeder', pid: 3, runs: true, isStopped: false }
  it.each<[string, Partial<LaunchFacts>, string[]]>([
    ['runs', {}, ['ok: running with state folder /w: start 1, devnet 2; ports 8787 and 3001 (devnet)']],
    ['has stopped', { processes: null }, ['FAIL: not running with state folder /w']],
    ['lost a process', { processes: [{ ...feeder, runs: false }, ...processes] }, ['FAIL: not running: feeder 3']],
    [
      'has a stopped one',
      { processes: [{ ...feeder, isStopped: true }] },
      ['FAIL: feeder (process 3) is stopped by a signal'],
    ],
    [
      'has a damaged file',
      { damaged: ['a.json'], processes: null },
      ['FAIL: /w/a.json is damaged', 'FAIL: not running with state folder /w'],
    ],
  ])('that %s', (_, change, lines) => {
    expect(told(checkLaunch({ ...facts, ...change }))).toEqual(lines)
  })
})

it("advice for a node's host is replaced if npx weir demo runs the component at fault", () => {
  const devnet = { name: 'devnet', pid: 2, runs: true, isStopped: false }
  const facts: LaunchFacts = { folder: '/w', damaged: [], ports: null, processes: [devnet] }
  const feed = (state: string) => ({ ...answer(), text: JSON.stringify({ ...LOG, state, advice: 'Look.' }) })
  const fixOf = (check: Check) => withLaunchFix(check, facts).fix
  const restart = expect.stringContaining('"kill -KILL 2"; log: /w/log/devnet.log')
  expect(fixOf(checkNode(answer({ status: null })))).toEqual(restart)
  expect(fixOf(checkStatus(feed('node_still'), 'c'))).toEqual(restart)
  expect(fixOf(checkStatus(feed('feeder_silent'), 'c'))).toContain('"processes"')
  expect(fixOf(checkStatus(feed('conflict'), 'c'))).toBe('Look.')
  expect(withLaunchFix(checkStatus(feed('live'), 'c'), facts)).toEqual(checkStatus(feed('live'), 'c'))
  const [refused] = checkToken('admin token', answer({ status: 500 }))
  expect(refused).toMatchObject({ state: 'FAIL', part: 'gateway' })
  expect(withLaunchFix(refused!, facts)).not.toHaveProperty('part')
})

it('a state folder is checked as a start would check it', () => {
  expect([checkStoredState(null), told(checkStoredState('whole'))]).toEqual([
    [],
    ['ok: tokens and databases are intact'],
  ])
  const checks = checkStoredState(
    new Error('The database /a: b/c.sqlite is damaged (it is empty). Restore a copy of it.'),
  )
  expect(checks.map(checkLine)).toEqual([
    'FAIL  state        The database /a: b/c.sqlite is damaged (it is empty). Restore a copy of it.',
  ])
})

describe('a line', () => {
  it('has no control characters and shortens text from others', () => {
    const { ok, warn } = checkResults('gateway')
    const line = checkLine(ok(`a\u001b[31m\r\nb\u202e${'x'.repeat(1000)}`))
    expect(line).toMatch(/^ok {4}gateway {6}a \[31m b x+…$/)
    expect(line.length).toBeLessThan(350)
    expect(checkLine(warn('it is late', 'a\u001b[31m\u009bb'))).toBe('warn  gateway      it is late. a [31m b')
  })

  it('shows sizes in a suitable unit', () => {
    const texts = ['0 bytes', '999 bytes', '1.0 KB', '2.5 MB', '1.0 TB', '10000.0 TB']
    expect([0, 999, 1000, 2.5e6, 1e12, 1e16].map(bytesText)).toEqual(texts)
  })
})
