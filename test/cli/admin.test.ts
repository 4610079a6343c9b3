import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { adminProgram } from '../../src/cli/admin.node.ts'
import { refusal, say, startStub } from './stub.ts'

const KEY = `cqt_${'A'.repeat(26)}`
const HELD = { prefix: 'cqt_AAAAAAAA', kind: 'api', account: 'acme', label: '\u001b[2J' }
const TIMES = { created: 0, expires: null, revoked: null, last_used: null, replaced_by: null }
const BOUNDS = { products: ['info', 'stream'], cap: '3', cap_remaining: null, ranges: ['192.0.2.0/24'] }
let answer: readonly [number, unknown] | string
let stub: Awaited<ReturnType<typeof startStub>>

beforeAll(async () => {
  stub = await startStub(() => answer)
})
afterAll(() => stub.stop())
beforeEach(() => {
  stub.seen.length = 0
})

const admin = (line: string | readonly string[]) =>
  say(adminProgram, ['--url', stub.url, ...(typeof line === 'string' ? line.split(' ') : line)], { ADMIN_TOKEN: 'T' })

describe('the operator’s commands', () => {
  const sums = { account: 'a', balance: '5', created: true }
  const issued = { ...HELD, key: KEY }
  const webhook = { secret: null, url: 'https://b' }

  it.each([
    ['account create a --plan entry', sums, 'PUT /admin/accounts/a', { plan: 'entry' }],
    ['account show a', { ...sums, keys: [] }, 'GET /admin/accounts/a', null],
    [
      'account plan a enterprise --terms credits=5.5,rest_requests_per_second=none',
      {},
      'PUT /admin/accounts/a/plan',
      { plan: 'enterprise', terms: { credits: '5.5', rest_requests_per_second: null } },
    ],
    ['account grant a 0.5 --id x', {}, 'POST /admin/accounts/a/grants', { credits: '0.5', idempotency_key: 'x' }],
    ['plan list', { plans: [{ name: 'entry' }] }, 'GET /admin/plans', null],
    ['plan remove entry', {}, 'DELETE /admin/plans/entry', null],
    ['key issue a --products info,rpc', issued, 'POST /admin/keys', { account: 'a', products: ['info', 'rpc'] }],
    ['key issue a --expires 2027-01-31', issued, 'POST /admin/keys', { account: 'a', expires: 1801353600000 }],
    ['key list', { keys: [] }, 'GET /admin/keys', null],
    ['key change cqt_AAAAAAAA --expires never', {}, 'PATCH /admin/keys/cqt_AAAAAAAA', { expires: null }],
    ['key change cqt_AAAAAAAA --expires 2027-01-31', {}, 'PATCH /admin/keys/cqt_AAAAAAAA', { expires: 1801353600000 }],
    ['key change cqt_AAAAAAAA --cap none', {}, 'PATCH /admin/keys/cqt_AAAAAAAA', { cap: null }],
    ['key change cqt_AAAAAAAA --ranges none', {}, 'PATCH /admin/keys/cqt_AAAAAAAA', { ranges: null }],
    ['key rotate cqt_AAAAAAAA --grace 60', issued, 'POST /admin/keys/cqt_AAAAAAAA/rotate', { grace_seconds: 60 }],
    ['key revoke cqt_AAAAAAAA', HELD, 'DELETE /admin/keys/cqt_AAAAAAAA', null],
    ['order list', { orders: [], next: null }, 'GET /admin/orders', null],
    [
      'order list --only open --account a --provider x402',
      { orders: [{ number: 'W-1-aaaa', created: 0 }], next: '7' },
      'GET /admin/orders?account=a&provider=x402&state=open',
      null,
    ],
    ['order paid W-1-aaaa', {}, 'POST /admin/orders/W-1-aaaa/paid', null],
    ['order void W-1-aaaa', {}, 'POST /admin/orders/W-1-aaaa/void', null],
    ['webhook set a https://b', webhook, 'PUT /admin/accounts/a/webhook', { url: 'https://b' }],
    [
      'webhook set a https://b --thresholds 20%,0 --new-secret',
      webhook,
      'PUT /admin/accounts/a/webhook',
      { url: 'https://b', thresholds: ['20%', '0'], new_secret: true },
    ],
    ['webhook show a', webhook, 'GET /admin/accounts/a/webhook', null],
    ['webhook test a', { delivered: true, answer: '204' }, 'POST /admin/accounts/a/webhook/test', null],
    ['webhook clear a', {}, 'DELETE /admin/accounts/a/webhook', null],
    ['staff add kim --role support', { token: 'cqo_x' }, 'POST /admin/staff', { name: 'kim', role: 'support' }],
    ['staff list', { staff: [] }, 'GET /admin/staff', null],
    ['reconcile', { checked: 0, differences: [], failed: [], next: null }, 'POST /admin/reconcile', { apply: false }],
    [
      'reconcile --apply',
      { checked: 0, differences: [], failed: [], next: null },
      'POST /admin/reconcile',
      { apply: true },
    ],
    ['export', { accounts: [], failed: [], next: null }, 'GET /admin/export', null],
    ['staff revoke kim', {}, 'DELETE /admin/staff/kim', null],
    ['audit --account a', { audit: [{ at: 0 }], next: 7 }, 'GET /admin/audit?account=a', null],
    ['feed reset', { reset: true }, 'POST /admin/feed/reset', null],
    ['feed status', { chain: 'c' }, 'GET /status', null],
    ['history retention --dry-run', { bytes: 0, most_bytes: null, due: [] }, 'GET /admin/history/retention', null],
    [
      'history retention --dry-run --books-days 30 --events-days none',
      { bytes: 0, most_bytes: null, due: [] },
      'GET /admin/history/retention?events_days=none&books_days=30',
      null,
    ],
    ['history retention', { objects: 0, bytes: 0 }, 'POST /admin/history/retention', null],
  ])('%s', async (line, said, call, body) => {
    answer = [200, said]
    expect(await admin(line)).toMatchObject({ failed: false })
    expect(stub.seen).toEqual([{ call, body, authorization: 'Bearer T' }])
  })

  it('show what would be removed from the archive, and accept days only in a dry run', async () => {
    const nothing = { objects: 0, bytes: 0, from_ms: null, to_ms: null }
    const books = { product: 'books', days: 30, objects: 1440, bytes: 4_294_967_296, from_ms: 0, to_ms: 86_399_000 }
    const due = [books, { product: 'events', days: null, ...nothing }]
    answer = [200, { bytes: 5e9, most_bytes: 4e9, due }]
    expect((await admin('history retention --dry-run')).out[0]?.split('\n')).toEqual([
      expect.stringMatching(/^product /),
      'books    30                    1440  4295.0  1970-01-01T00:00Z  1970-01-01T23:59Z',
      'events   forever                  0     0.0  -                  -',
      '',
      expect.stringMatching(/^5000\.0 MB .* 1000\.0 MB/),
    ])
    stub.seen.length = 0
    const { notes, failed } = await admin('history retention --books-days 30')
    expect([failed, notes[0], stub.seen]).toEqual([true, expect.stringMatching(/--dry-run/), []])
    for (const days of ['0', '-1', '1e3', '36501', 'never'])
      expect((await admin(`history retention --dry-run --books-days ${days}`)).failed).toBe(true)
  })

  it('print a new key alone, and fail if there is no key to print', async () => {
    answer = [201, { ...issued, old_key_ends: 60_000 }]
    expect(await admin('key rotate cqt_AAAAAAAA')).toEqual({
      out: [KEY],
      notes: [expect.stringMatching(/^account acme; .*1970-01-01T00:01:00Z/)],
      failed: false,
    })
    answer = [200, { ...HELD, old_key_ends: 60_000 }]
    const again = await admin('key rotate cqt_AAAAAAAA --id x')
    expect([again.out, again.failed, again.notes[0]]).toEqual([[], true, expect.stringContaining('already created')])
  })

  it.each(['account show ..', 'account show .', 'usage ..', 'key revoke ..', 'plan remove ..'])(
    'ask nothing of a name that is none in a path (%s)',
    async (line) => {
      expect(await admin(line)).toEqual({
        out: [],
        failed: true,
        notes: [expect.stringMatching(/^"\.\.?" is not a valid name/)],
      })
      expect(stub.seen).toEqual([])
    },
  )

  it.each([
    ['feed status', { state: 5, feeders: 'x' }],
    ['account plan a b', { events: [{ id: 1 }, null], others: [null] }],
    ['key list', { keys: [{ ...HELD, ...TIMES, ...BOUNDS, created: -1e300 }] }],
  ])('accept any response (%s, %j)', async (line, said) => {
    answer = [200, said]
    const { out, notes } = await admin(line)
    expect([...out, ...notes]).toHaveLength(1)
  })

  it('neither send nor show a token that is invalid in a header', async () => {
    const { failed, notes } = await say(adminProgram, ['--url', stub.url, 'plan', 'list'], { ADMIN_TOKEN: 'T\r' })
    expect([failed, notes, stub.seen]).toEqual([
      true,
      [
        'The admin token (from ADMIN_TOKEN in the environment) contains a space, a line break or a non-ASCII character. Copy it again.',
      ],
      [],
    ])
  })

  it('report that a grant was already made', async () => {
    for (const repeated of [false, true]) {
      answer = [200, { account: 'a', repeated, balance: '5' }]
      const { notes, failed } = await admin('account grant a 5 --id top-up')
      expect([notes.join(), failed]).toEqual([
        expect.stringMatching(repeated ? /^nothing was added.*top-up/ : /^$/),
        false,
      ])
    }
  })

  it('print the secret of a webhook alone if a new one was generated', async () => {
    answer = [200, { ...webhook, secret: 'whsec_x' }]
    expect((await admin('webhook set a https://b')).out).toEqual(['whsec_x'])
    answer = [200, webhook]
    expect((await admin('webhook set a https://b')).out).toEqual([])
  })

  it('reject an edit without changes', async () => {
    const { out, notes, failed } = await admin('key change cqt_AAAAAAAA')
    expect([out, failed, stub.seen]).toEqual([[], true, []])
    expect(notes[0]).toContain('error: nothing to change')
  })

  it('list the limits of keys if any key has limits', async () => {
    answer = [200, { keys: [{ ...HELD, ...TIMES, ...BOUNDS }] }]
    const [names, row] = (await admin('key list')).out[0]!.split('\n').map((line) => line.split(/ {2,}/))
    expect(names?.slice(-4)).toEqual(['last used (hour)', 'state', 'limits', 'label'])
    expect(row?.slice(-4, -1)).toEqual(['never', 'active', 'cap 3; info, stream; 192.0.2.0/24'])
    answer = [200, { keys: [{ ...HELD, ...TIMES, ...BOUNDS, ranges: null, cap_remaining: '0.12' }] }]
    const spent = (await admin('key list')).out[0]!.split('\n')[1]!.split(/ {2,}/)
    expect(spent.slice(-4, -1)).toEqual(['never', 'cap used up, active', 'cap 3 (0.12 left); info, stream'])
  })

  it('fail if a test event is not delivered', async () => {
    answer = [200, { account: 'a', delivered: false, answer: '500\u001b' }]
    const { out, notes, failed } = await admin('webhook test a --json')
    expect([JSON.parse(out.join('')), failed]).toEqual([answer[1], true])
    expect(notes).toEqual([expect.stringContaining('(500\\u001b)')])
  })

  it('show control characters as escapes, and JSON unchanged', async () => {
    answer = [200, { balance: '5', plan: '\u009b2J', keys: [{ ...HELD, ...TIMES, ...BOUNDS }] }]
    const shown = (await admin('account show acme')).out.join('')
    expect(shown).toContain('\\u009b2J')
    expect(shown).toContain('\\u001b[2J')
    expect(shown).not.toContain('\u001b')
    expect(JSON.parse((await admin('account show acme --json')).out.join(''))).toEqual(answer[1])
  })

  it('change a plan, then apply it to its accounts page by page', async () => {
    const pages = [
      [200, { name: 'entry', warnings: ['old\u001b name'] }],
      [200, { told: 2, next: 'b' }],
      [200, { told: 1, next: null }],
    ] as const
    stub.stop()
    stub = await startStub(() => pages[stub.seen.length - 1] as readonly [number, unknown])
    const { out, notes } = await admin('plan set entry --terms credits=5')
    expect(stub.seen.map(({ call }) => call)).toEqual([
      'PUT /admin/plans/entry',
      'POST /admin/plans/entry/apply',
      'POST /admin/plans/entry/apply?after=b',
    ])
    expect(out).toEqual(['name  entry'])
    expect(notes).toEqual(['warning: old\\u001b name', 'applied to 3 accounts'])
    stub.stop()
    stub = await startStub(() => answer)
  })

  it('sum usage from all pages', async () => {
    const row = {
      date: '2026-11-21',
      hash: 'a1'.repeat(32),
      prefix: null,
      label: null,
      product: 'info',
      type: 'l2Book',
    }
    const sums = { calls: 3, stream_minutes: 0, pipeline_rows: 2, credits: '3' }
    const page = { from: '2026-11-01', to: '2026-11-22', totals: { ...sums, calls: 6, credits: '6' } }
    stub.stop()
    stub = await startStub(({ call }) => [
      200,
      { ...page, rows: [{ ...row, ...sums }], next: call.includes('after=') ? null : 'there' },
    ])
    const { out } = await admin('usage acme --from 2026-11-01')
    expect(stub.seen.map(({ call }) => call)).toEqual([
      'GET /admin/accounts/acme/usage?from=2026-11-01',
      'GET /admin/accounts/acme/usage?from=2026-11-01&after=there',
    ])
    expect(out[0]?.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['day', 'key', 'label', 'product', 'type', 'calls', 'stream minutes', 'rows', 'credits'],
      ...[1, 2].map(() => ['2026-11-21', 'a1a1a1a1a1a1', 'info', 'l2Book', '3', '0', '2', '3']),
      ['2026-11-01 to 2026-11-22', 'total', '6', '0', '2', '6'],
    ])
    stub.stop()
    stub = await startStub(() => answer)
  })
})

describe('an export and an import', () => {
  const account = (name: string, left = 0) => ({ account: name, keys: [], keys_left_out: left })

  it('print each page at once, and name what is missing', async () => {
    const pages: (readonly [number, unknown])[] = [
      [200, { accounts: [account('a'), account('b', 7)], failed: ['c'], next: 'c' }],
      [200, { accounts: [account('d')], failed: [], next: null }],
    ]
    stub.stop()
    stub = await startStub(() => pages[stub.seen.length - 1] ?? refusal(500, 'is away'))
    const { out, notes, failed } = await admin('export')
    expect(out.map((line) => JSON.parse(line).account)).toEqual(['a', 'b', 'd'])
    expect(notes).toEqual([expect.stringMatching(/^b: 7 keys/), expect.stringMatching(/^c: failed/), '3 accounts'])
    expect(failed).toBe(true)
    pages.length = 1
    stub.seen.length = 0
    const broken = await admin('export')
    expect([broken.out.length, broken.failed, broken.notes[0]]).toEqual([
      2,
      true,
      expect.stringContaining('not complete'),
    ])
    stub.stop()
    stub = await startStub(() => answer)
  })

  it('continue after a line that is refused', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'import-')), 'accounts.jsonl')
    writeFileSync(file, `${['a', 'b', 'c'].map((name) => JSON.stringify(account(name))).join('\n')}\nno JSON\n`)
    stub.stop()
    stub = await startStub(() => {
      const name = 'abc'[stub.seen.length - 1]
      return name === 'a' ? refusal(413, 'is too large') : [200, { account: name, imported: name !== 'b' }]
    })
    const { out, notes, failed } = await admin(['import', file, '--region', 'weur'])
    expect(stub.seen.map(({ body }) => body)).toEqual(
      ['a', 'b', 'c'].map((name) => ({ ...account(name), region: 'weur' })),
    )
    expect([out, failed]).toEqual([['imported 1 accounts'], true])
    expect(notes).toEqual([
      'line 1: a: is too large',
      expect.stringMatching(/^line 2: b: another account/),
      'line 4: not a JSON object',
      expect.stringMatching(/^Correct/),
    ])
    stub.stop()
    stub = await startStub(() => answer)
  })
})

describe('a list of the keys of an account', () => {
  it('distinguishes a missing account from an account without keys', async () => {
    const message = 'The account "akme" does not exist; did you mean "acme"?'
    stub.stop()
    stub = await startStub(({ call }) => {
      if (call.startsWith('GET /admin/keys')) return [200, { keys: [] }]
      return call.endsWith('/acme') ? [200, {}] : refusal(404, message)
    })
    expect(await admin('key list akme')).toEqual({ out: [], notes: [message], failed: true })
    expect(await admin('key list acme')).toMatchObject({ out: [expect.stringContaining('prefix')], failed: false })
    stub.stop()
    stub = await startStub(() => answer)
  })
})

describe('an error', () => {
  it.each([
    [
      'account grant a 5 --id x',
      'credits: is too much; idempotency_key: was used',
      'CREDITS: is too much; --id: was used',
    ],
    ['account plan a golden', 'plan: there is no plan "golden"', 'PLAN: there is no plan "golden"'],
    ['usage a --from 2026-11-30 --to 2026-11-01', 'from: must not be after "to"', '--from: must not be after --to'],
    [
      'usage a --from 2020-01-01',
      'from: must be within 400 days of "to"',
      '--from: must be within 400 days of today (UTC)',
    ],
    [
      'usage a --duration 1 --from 2026-11-01',
      'duration: goes without "from" and "to"',
      '--duration: goes without --from and --to',
    ],
    ['key rotate x', 'key: has ended: make a new key instead', 'KEY: has ended: make a new key instead'],
  ])('of %s is in its words', async (line, message, sentence) => {
    answer = refusal(400, message)
    expect(await admin(line)).toEqual({ out: [], notes: [sentence], failed: true })
  })

  it('distinguishes a wrong token, a missing /admin and a server that is not Weir', async () => {
    answer = refusal(401, 'The admin token is missing or wrong.')
    expect((await admin('key list')).notes[0]).toMatch(
      /from ADMIN_TOKEN in the environment.*deploy --secret ADMIN_TOKEN/,
    )
    answer = refusal(404, 'This endpoint does not exist. See GET /docs for all endpoints.')
    expect((await admin('key list')).notes[0]).toMatch(/no admin API/)
    answer = '<html>'
    expect((await admin('key list')).notes[0]).toMatch(/not respond like a Weir gateway/)
    answer = [502, null]
    expect((await admin('key list')).notes[0]).toMatch(/status 502, .*--url/)
  })
})
