// Output of the commands: option values, errors, states of keys and of the feed.

import { describe, expect, it, test } from 'vitest'
import { keyState } from '../../src/cli/account-keys.node.ts'
import { feedLines, type Status } from '../../src/cli/feed.node.ts'
import { isAdminDisabled, KEY_HELP, refusalText, unreachableText, withOptionNames } from '../../src/cli/gateway.node.ts'
import { details, headedTable, sideBySide, table } from '../../src/cli/table.node.ts'
import {
  CapValue,
  CreditsValue,
  DayValue,
  ExpiryValue,
  GraceValue,
  PlanTermsValue,
  TermsValue,
  UrlValue,
} from '../../src/cli/values.ts'
import { failureMessage } from '../../src/core/failure.ts'
import { expiryRefusal, KEY_PARAMS } from '../../src/http/platform/key-shapes.ts'

describe('a value', () => {
  it.each([
    [ExpiryValue, '2027-01-31', 1801353600000],
    [ExpiryValue, '2027-01-31T12:00Z', 1801396800000],
    [ExpiryValue, '2027-01-31T12:00:00+01:00', 1801393200000],
    [ExpiryValue, 'never', 'never'],
    [CreditsValue, '0.130000', '0.130000'],
    [CapValue, 'none', 'none'],
    [GraceValue, '0', 0],
    [DayValue, '2026-11-01', '2026-11-01'],
    [UrlValue, 'https://weir.example:8443/', 'https://weir.example:8443/'],
    [
      TermsValue,
      'credits=5.50,days=none, custom=true,period=once',
      { credits: '5.50', days: null, custom: true, period: 'once' },
    ],
    [PlanTermsValue, 'stream_connections=5', { stream_connections: 5 }],
  ] as const)('%# %j is read', (schema, text, value) => {
    expect(schema.parse(text)).toEqual(value)
  })

  it.each([
    [ExpiryValue, '1', 'must be a UTC day'],
    [ExpiryValue, '2027-01-31T12:00', 'must be a UTC day'],
    [ExpiryValue, '2027-02-30', 'must be a UTC day'],
    [CreditsValue, '-1', 'must not be negative'],
    [CreditsValue, '1e3', 'must be a number of credits'],
    [CapValue, 'all', 'or none'],
    [GraceValue, '2592001', '2,592,000'],
    [DayValue, '2026-11-31', 'must be a UTC day such as'],
    [UrlValue, 'ftp://weir.example', 'https://weir'],
    [UrlValue, 'https://weir.example/admin', 'https://weir'],
    [UrlValue, 'https://user:pw@weir.example', 'https://weir'],
    [TermsValue, 'credits=5,days=1,credits=6', '"credits"'],
    [TermsValue, 'credits', 'credits=5000,days=none: credits must be N'],
    [TermsValue, '__proto__=none', 'term "__proto__"'],
    [TermsValue, 'rest_requests_per_second=null', 'rest_requests_per_second must be N or none'],
    [TermsValue, 'constructor=1,,custom=', 'unknown term "constructor"; unknown term ""; custom must be true or false'],
    [
      PlanTermsValue,
      'credits=5,info_requests_per_secnd=1,period=day',
      '"info_requests_per_secnd" (did you mean info_requests_per_second?); period must be once or month; a new plan also needs rest_requests_per_second',
    ],
  ] as const)('%# %j is rejected with what it must be', (schema, text, words) => {
    expect(schema.safeParse(text).error?.issues[0]?.message).toContain(words)
  })
})

describe('an error', () => {
  const taken = { options: ['id', 'grace', 'terms', 'ranges', 'new-secret'], arguments: ['account', 'credits'] }

  it.each([
    ['credits: must be more; idempotency_key: is required', 'CREDITS: must be more; --id: is required'],
    ['id: must be 1 to 64 letters', 'ACCOUNT: must be 1 to 64 letters'],
    ['grace_seconds: must be whole', '--grace: must be whole'],
    ['idempotency_key: was used before with another grace_seconds', '--id: was used before with another --grace'],
    ['days: is required; null is no limit', '--terms days: is required; none is no limit'],
    ['terms.credits: must not be negative', '--terms credits: must not be negative'],
    ['rest_requests_per_second: must be an integer', '--terms rest_requests_per_second: must be an integer'],
    ['days: must be an integer, or null', '--terms days: must be an integer, or none'],
    ['ranges.0: must be an address', '--ranges: must be an address'],
    ['new_secret: must be true', '--new-secret: must be true'],
    ['body: must be an object', 'body: must be an object'],
    ['This account does not exist.', 'This account does not exist.'],
    ['x; GET /admin/plans lists them', 'x; "npx weir admin plan list" lists them'],
  ])('%j is %j', (said, here) => {
    expect(withOptionNames(said, taken)).toBe(here)
  })

  test('of the API names the options of the command instead of API fields', () => {
    const ofKey = { options: ['expires'], arguments: ['key'] }
    const [issue] = KEY_PARAMS.key.safeParse('E').error!.issues
    expect(withOptionNames(`key: ${issue!.message}`, ofKey)).toBe(`KEY: must be ${KEY_HELP}`)
    const past = expiryRefusal(Date.parse('2026-11-22'), Date.parse('2026-11-22T12:00Z'))
    expect(withOptionNames(failureMessage(past!), ofKey)).toMatch(/^--expires: .*2026-11-22T00:00:00.000Z/)
  })

  test('of a gateway without /admin is recognized by its message', () => {
    const message = failureMessage({ kind: 'not_found', what: 'This endpoint' })
    expect(isAdminDisabled({ status: 404, message })).toBe(true)
    expect(isAdminDisabled({ status: 404, message: failureMessage({ kind: 'not_found', what: 'This account' }) })).toBe(
      false,
    )
    expect(refusalText('u', { status: 404, message }, 't')).toMatch(/ADMIN_TOKEN .* 32 /)
    expect(refusalText('u', { status: 409, message: 'as it is' }, 't')).toBe('as it is')
  })

  it.each([
    ['ECONNREFUSED', true, '"npx weir demo"'],
    ['ENOTFOUND', false, '--url'],
    ['TimeoutError', false, 'in time'],
    ['UND_ERR_SOCKET', false, 'may have been executed'],
    ['ECONNRESET', true, 'may have been executed'],
    ['UND_ERR_CONNECT_TIMEOUT', false, 'in time'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', false, 'TLS to https://g failed (DEPTH_ZERO_SELF_SIGNED_CERT)'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', false, 'TLS to https://g failed'],
  ])('without a response (%s) says what to check', (code, isOwn, words) => {
    expect(unreachableText('https://g', code, isOwn)).toContain(words)
  })
})

describe('a key', () => {
  const now = Date.parse('2026-11-22T12:00Z')
  const before = now - 60_000
  const after = now + 60_000
  it.each([
    [null, null, null, 'active'],
    [after, null, null, 'active until 2026-11-22T12:01:00Z'],
    [before, null, null, 'expired 2026-11-22T11:59Z'],
    [-Number.MAX_VALUE, null, null, 'expired -271821-04-20T00:00Z'],
    [now + 3_600_000, null, null, 'active until 2026-11-22T13:00Z'],
    [Number.MAX_SAFE_INTEGER, null, null, 'active until +275760-09-13T00:00Z'],
    [now, null, null, 'expired 2026-11-22T12:00Z'],
    [null, before, null, 'revoked 2026-11-22T11:59Z'],
    [after, before, null, 'revoked 2026-11-22T11:59Z'],
    [after, null, 'b2', 'replaced, active until 2026-11-22T12:01:00Z'],
    [before, null, 'b2', 'replaced, expired 2026-11-22T11:59Z'],
    [null, before, 'b2', 'replaced, revoked 2026-11-22T11:59Z'],
  ])('that expires %s, was revoked %s and replaced by %s is %s', (expires, revoked, replaced_by, state) => {
    expect(keyState({ expires, revoked, replaced_by }, now)).toBe(state)
    expect(keyState({ expires, revoked, replaced_by, cap_remaining: '0.13' }, now)).toBe(state)
    const works = /^(replaced, )?active/.test(state)
    const spent = keyState({ expires, revoked, replaced_by, cap_remaining: '0' }, now)
    expect(spent).toBe(works ? `cap used up, ${state}` : state)
  })
})

describe('a table', () => {
  it('aligns numbers right and text left, under their headings', () => {
    const rows = [
      ['account', 'calls', 'note'],
      ['acme', '7', '1 a'],
      ['b', '1,204.5', '-'],
      ['c', '-', '2'],
    ]
    expect(headedTable(rows).split('\n')).toEqual([
      'account    calls  note',
      'acme           7  1 a',
      'b        1,204.5  -',
      'c              -  2',
    ])
  })

  test('is aligned by displayed width, with one line per cell', () => {
    const lines = table([
      ['name', 'n'],
      ['日本', 1],
      ['e\u0301\u001b[2J\n', null],
    ]).split('\n')
    expect(lines).toEqual(['name              n', '日本              1', 'e\u0301\\u001b[2J\\u000a  -'])
  })

  test('of one response has its lists below', () => {
    const events = [{ id: 'e1', state: 'due', next: 0 }]
    expect(
      details({ account: 'acme', created: 0, terms: null, armed: ['5%', '0'], period: { credits: '5' }, events }),
    ).toBe(
      [
        ...['account  acme', 'created  1970-01-01T00:00Z', 'terms    -', 'armed    5%, 0', 'period   credits 5', ''],
        ...['events', 'id  state  next', 'e1  due    1970-01-01T00:00Z'],
      ].join('\n'),
    )
  })

  test('of objects of one kind has a column for each', () => {
    expect(
      sideBySide([
        { name: 'a', days: null },
        { name: 'bb', days: 7 },
      ]),
    ).toBe('name  a  bb\ndays  -  7')
  })
})

describe('the state of the feed', () => {
  test('shows the fields that are present', () => {
    const readers = [
      { name: 'hub-0', height: 100 },
      { name: 'hub-1', height: 90 },
    ]
    const gaps = [
      { from: 5, to: 7, why: 'skipped' },
      { from: 9, to: 9 },
    ]
    const log = { chain: 'hl', epoch: 'e', height: 100, durable: 99, time: 1000, lagMs: 1234, booksKnown: true }
    const feeders = [
      { name: 'a', connected: true, head: 101, heardMs: 2000, state: 'sending', conflict: 'another chain' },
      { name: 'b', connected: false, endedMs: 60_000, why: 'closed with 1006' },
    ]
    const status = { ...log, state: 'live', advice: 'Nothing to do.', feeders, readers, gaps, disagreements: 0 }
    const lastFailure = { atMs: 1_000, type: 'l2Book', reason: 'timeout' }
    const sources = [
      { name: 'node', state: 'ok', lastFailure },
      { name: 'public', state: 'ok', lastFailure: null },
    ]
    const regions = [{ region: 'weur', relays: 2, sockets: 9, p50Ms: 80, p99Ms: 300 }]
    const shown = { ...status, sources, feedRegion: 'apac-ne', regions } as object as Status
    expect(feedLines(shown)).toEqual([
      ['state', 'live: Nothing to do.'],
      ['chain', 'hl, epoch e, pinned to apac-ne'],
      ['height', '100, 1.2 s late; stored up to 99'],
      ['books', 'available'],
      ['feeder', 'a, node at 101, last message 0.2 s ago, sending, rejected: another chain'],
      ['feeder', 'b, disconnected since 1970-01-01T00:01Z: closed with 1006'],
      ['readers', '2; behind: hub-1 by 10 blocks'],
      ['ages', 'weur: p50 80 ms, p99 300 ms, relays 2'],
      ['gaps', '2, latest: 9, 5 to 7 (skipped)'],
      ['disagreements', '0'],
      ['sources', 'node ok (last failure 1.2 s ago: timeout for l2Book), public ok'],
    ])
  })

  test('is shown for a gateway that returns no fields', () => {
    const lines = Object.fromEntries(feedLines({}))
    expect(lines).toMatchObject({ height: 'the log is empty', feeder: 'none connected', gaps: 'none' })
    expect(lines).not.toHaveProperty('state')
  })
})
