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
import type { StreamName } from '../../../src/feeder/streams.ts'

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
    const others = (['diffs', 'fills', 'misc', 'twaps', 'statuses'] as const).map((name) => stream(name))
    const all = others.map((one) => streams.find(({ name }) => name === one.name) ?? one)
    return { folder: '/data', state: 'there', streams: all, unbatched: [], tookMs: 2000, nowMs: NOW, ...change }
  }
  const still = { after: { height: 100, time: '2026-11-22T09:59:57.500' } }
  const absent = { state: 'absent', before: null, after: null } as const

  it.each<[string, FilesFacts, RegExp[]]>([
    ['grow', files({}), [/^ok: at block 128, 14.0 a second$/]],
    ['are not there', files({ state: 'absent' }), [/^FAIL: there is no \/data/]],
    ['may not be read', files({ state: 'unreadable' }), [/^FAIL: \/data cannot/]],
    ['lack fills', files({}, stream('fills', absent)), [/^FAIL: there is no node_fills_by/]],
    ['are not by block', files({ unbatched: ['node_fills'] }, stream('fills', absent)), [/^FAIL: node_fills stands/]],
    ['hold no diffs yet', files({}, stream('diffs', { before: null, after: null })), [/^FAIL: node_raw\S+ holds no/]],
    ['hide a stream', files({}, stream('twaps', { state: 'unreadable' })), [/^FAIL: node_twap\S+ cannot/]],
    ['lack transfers', files({}, stream('misc', absent)), [/^warn: there is no misc_events/, /^ok: at block/]],
    ['lack what may be left out', files({}, stream('statuses', absent), stream('twaps', absent)), [/^ok: at block/]],
    ['stand still', files({}, stream('fills', still)), [/^FAIL: no new line in node_fills\S+ since block 100, 2.5 s/]],
    [
      'stand still since just now',
      files({ nowMs: NOW - 2000 }, stream('fills', still), stream('diffs', still)),
      [/^ok: at block 100, 0.0 a second$/],
    ],
    ['are late', files({ nowMs: NOW + 60_000 }), [/^warn: at block 128, .* 61 s old/]],
    ['come from the future', files({ nowMs: NOW - 60_000 }), [/^warn: at block 128, .* 60 s in the future/]],
  ])('that %s', (_, facts, lines) => {
    expect(told(checkFiles(facts))).toEqual(lines.map((line) => expect.stringMatching(line)))
  })
})

describe('a node', () => {
  it.each<[string, Partial<HttpFacts>, string]>([
    ['answers', { text: `{"time":${NOW - 500}}` }, 'ok: http://x answers, 0.5 s from our clock'],
    ['is late', { text: `{"time":${NOW - 9000}}` }, 'warn: http://x answers, 9.0 s behind our clock'],
    ['is early', { text: `{"time":${NOW + 9000}}` }, 'warn: http://x answers, 9.0 s ahead of our clock'],
    ['does not tell the time', { text: 'null' }, 'warn: http://x answers without a time: null'],
    ['refuses', { status: 422, text: 'no' }, 'FAIL: http://x answers exchangeStatus with 422: no'],
    ['is not there', { status: null, text: 'ECONNREFUSED' }, 'FAIL: http://x does not answer: ECONNREFUSED'],
  ])('that %s', (_, change, line) => {
    expect(told(checkNode(answer(change)))).toEqual([line])
  })

  it.each<[string, object, Partial<HttpFacts>, string]>([
    ['writes', { bytes: 2_500_000 }, {}, 'ok: 2.5 MB within 0.1 s in /s'],
    ['writes elsewhere', {}, {}, 'FAIL: the node says that it wrote into /s, and nothing is there'],
    ['refuses', {}, { status: 422, text: 'no' }, 'FAIL: the node answers fileSnapshot with 422: no'],
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
    ['has no books', { booksKnown: false }, /^warn: .* books are not known/],
    ['refuses a feeder', { feeders: [{ ...feeder, conflict }] }, /^FAIL: nothing of the feeder a .* another chain/],
    ['is of another chain', { chain: 'test' }, /^FAIL: .* of the chain test, not c/],
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
    expect([told(check), check.fix]).toEqual([[`${word}: http://x answers; the feed is ${state}`], 'Look.'])
  })

  it('that is none, or is not there', () => {
    expect(checkStatus(answer({ text: '<html>' }), 'c').saw).toMatch(/not as a Weir/)
    expect(checkStatus(answer({ status: null, text: 'ENOTFOUND' }), 'c').state).toBe('FAIL')
  })

  it.each<[number | null, string, string]>([
    [426, 'ok: the gateway takes it', 'warn: the gateway answers with 426'],
    [200, 'warn: the gateway answers with 200', 'ok: the gateway takes it'],
    [401, 'FAIL: the gateway refuses it', 'FAIL: the gateway refuses it'],
    [404, 'FAIL: the gateway has no /feed', 'FAIL: the gateway has no /admin'],
    [503, 'FAIL: the gateway answers with 503', 'FAIL: the gateway answers 503'],
    [500, 'FAIL: the gateway answers with 500', 'FAIL: the gateway answers with 500'],
    [null, 'warn: no answer: timeout', 'warn: no answer: timeout'],
  ])('that answers a token with %s', (code, feed, admin) => {
    const facts = answer({ status: code, text: 'timeout' })
    expect([told(checkToken('feed token', facts)), told(checkToken('admin token', facts))]).toEqual([[feed], [admin]])
  })

  it('that was asked without tokens', () => {
    expect(checkToken('feed token', null).map(({ state }) => state)).toEqual(['warn'])
    expect(checkToken('admin token', null)).toEqual([])
  })
})

describe('a machine', () => {
  it.each([
    [500e9, null, 'ok: 500.0 GB free for /d'],
    [500e9, 1e9, 'ok: 500.0 GB free for /d; files grow by 1.0 GB an hour: 20 days if nothing is removed'],
    [100e9, 5e9, 'warn: 100.0 GB free for /d; files grow by 5.0 GB an hour: 20 hours if nothing is removed'],
    [9e9, null, 'warn: 9.0 GB free for /d'],
    [0.5e9, null, 'FAIL: 500.0 MB free for /d'],
  ])('with %d bytes free', (freeBytes, bytesPerHour, line) => {
    expect(told(checkDisk({ folders: '/d', freeBytes, bytesPerHour }))).toEqual([line])
  })
})

describe('npm start', () => {
  const processes = [
    { name: 'start', pid: 1, runs: true, isStopped: false },
    { name: 'devnet', pid: 2, runs: true, isStopped: false },
  ]
  const facts: LaunchFacts = { folder: '/w', damaged: [], ports: { gateway: 8787, devnet: 3001 }, processes }

  const feeder = { name: 'feeder', pid: 3, runs: true, isStopped: false }
  it.each<[string, Partial<LaunchFacts>, string[]]>([
    ['runs', {}, ['ok: runs on /w: start 1, devnet 2; ports 8787 and 3001 (devnet)']],
    ['has stopped', { processes: null }, ['FAIL: nothing runs on /w']],
    ['lost a process', { processes: [{ ...feeder, runs: false }, ...processes] }, ['FAIL: does not run: feeder 3']],
    ['has a stopped one', { processes: [{ ...feeder, isStopped: true }] }, ['FAIL: feeder (process 3) is stopped']],
    [
      'has a damaged file',
      { damaged: ['a.json'], processes: null },
      ['FAIL: /w/a.json is damaged', 'FAIL: nothing runs on /w'],
    ],
  ])('that %s', (_, change, lines) => {
    expect(told(checkLaunch({ ...facts, ...change }))).toEqual(lines)
  })
})

it("advice for a node's host is replaced where npm start runs what is at fault", () => {
  const devnet = { name: 'devnet', pid: 2, runs: true, isStopped: false }
  const facts: LaunchFacts = { folder: '/w', damaged: [], ports: null, processes: [devnet] }
  const feed = (state: string) => ({ ...answer(), text: JSON.stringify({ ...LOG, state, advice: 'Look.' }) })
  const fixOf = (check: Check) => withLaunchFix(check, facts).fix
  const comesBack = 'It is devnet, process 2: after "kill -KILL 2" it comes back. /w/log/devnet.log'
  expect(fixOf(checkNode(answer({ status: null })))).toBe(comesBack)
  expect(fixOf(checkStatus(feed('node_still'), 'c'))).toBe(comesBack)
  expect(fixOf(checkStatus(feed('feeder_silent'), 'c'))).toBe('See the line "npm start".')
  expect(fixOf(checkStatus(feed('conflict'), 'c'))).toBe('Look.')
  expect(withLaunchFix(checkStatus(feed('live'), 'c'), facts)).toEqual(checkStatus(feed('live'), 'c'))
  const [refused] = checkToken('admin token', answer({ status: 500 }))
  expect(refused).toMatchObject({ state: 'FAIL', part: 'gateway' })
  expect(withLaunchFix(refused!, facts)).not.toHaveProperty('part')
})

it('a state folder is judged as a start would', () => {
  expect([checkStoredState(null), told(checkStoredState('whole'))]).toEqual([
    [],
    ['ok: its tokens and databases are whole'],
  ])
  const checks = checkStoredState(
    new Error('The database /a: b/c.sqlite is damaged (it is empty): put a copy of it back.'),
  )
  expect(checks.map(checkLine)).toEqual([
    'FAIL  state        The database /a: b/c.sqlite is damaged (it is empty). Put a copy of it back.',
  ])
})

describe('a line', () => {
  it('holds no control characters, and not much of what others wrote', () => {
    const { ok, warn } = checkResults('gateway')
    const line = checkLine(ok(`a\u001b[31m\r\nb\u202e${'x'.repeat(1000)}`))
    expect(line).toMatch(/^ok {4}gateway {6}a \[31m b x+…$/)
    expect(line.length).toBeLessThan(350)
    expect(checkLine(warn('it is late', 'a\u001b[31m\u009bb'))).toBe('warn  gateway      it is late. a [31m b')
  })

  it('tells sizes in the unit that fits', () => {
    const texts = ['0 bytes', '999 bytes', '1.0 KB', '2.5 MB', '1.0 TB', '10000.0 TB']
    expect([0, 999, 1000, 2.5e6, 1e12, 1e16].map(bytesText)).toEqual(texts)
  })
})
