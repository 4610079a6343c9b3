import { describe, expect, it } from 'vitest'
import { AddressLimiter, WRONG_TOKENS } from '../../../src/accounts/address-limiter.ts'
import { hashKey, mintKey } from '../../../src/accounts/digest.client.ts'
import { KeyResolver } from '../../../src/accounts/key-resolver.store.ts'
import { accountsOf } from '../../../src/http/platform/account-service.client.ts'
import { KeyService } from '../../../src/http/platform/key-service.client.ts'
import { spend } from '../../metering/meter.worker.ts'
import {
  ADMIN_TOKEN,
  ask,
  bindings,
  enter,
  KEY_SECRET,
  meterOf,
  newKey,
  settings,
  waitUntil,
} from './operator.worker.ts'

/** An isolate with a clock one minute ahead. */
const later = () => new KeyResolver(() => Date.now() + 61_000)
const entry = { product: 'info', kind: 'api', places: ['bearer'] } as const

describe('the operator’s API', () => {
  it('does not exist while its token is unset or short', async () => {
    for (const short of [undefined, '', 'short']) {
      const answer = await ask('GET', '/keys', undefined, { token: short ?? null, adminToken: short })
      expect(answer).toMatchObject({ status: 404, json: { error: true, error_code: '404' } })
    }
  })

  it('accepts no other token and sends no CORS headers', async () => {
    for (const token of [null, 'x', `${ADMIN_TOKEN}x`]) {
      const answer = await ask('GET', '/keys', undefined, { token })
      expect(answer).toMatchObject({ status: 401, json: { error: true, error_code: '401' } })
      expect(answer.text).not.toContain(ADMIN_TOKEN)
    }
    const open = await ask('GET', '/keys')
    expect(open.status).toBe(200)
    expect([...open.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})

it('creates the meter of a new account in the named region', async () => {
  const regions: unknown[] = []
  const ports = {
    db: bindings.ACCOUNTS,
    usage: bindings.USAGE,
    kv: bindings.KEYS,
    keySecret: KEY_SECRET,
    meterOf: (account: string, region?: string | null) => {
      regions.push(region)
      return meterOf(account)
    },
    nowMs: Date.now,
  }
  const lent = { accounts: accountsOf(ports), keys: new KeyService(ports) }
  const post = (path: string, body: object) => ask('POST', path, body, { lent })
  expect(await ask('PUT', '/accounts/tokyo', { region: 'apac-ne' }, { lent })).toMatchObject({ status: 201 })
  expect(await post('/keys', { region: 'sam' })).toMatchObject({ status: 201 })
  // Later calls find the meter that the first one created.
  expect(regions.slice(0, 2)).toEqual(['apac-ne', 'sam'])
  const wrong = [
    await post('/keys', { region: 'mars' }),
    await post('/keys', { account: 'tokyo', region: 'sam' }),
    await ask('PUT', '/accounts/mars', { region: null }, { lent }),
  ]
  expect(wrong.map(({ json }) => json.error_message)).toEqual([
    'region: must be one of wnam, enam, sam, weur, eeur, apac, apac-ne, apac-se, oc, afr, me',
    expect.stringMatching(/^region: is allowed only for a new account/),
    expect.stringMatching(/^region: must be one of/),
  ])
  expect(regions.slice(2).every((region) => region === undefined)).toBe(true)
})

describe('expired archive files', () => {
  it('are previewed, even with different settings, and removed step by step', async () => {
    const told = await ask('GET', '/history/retention?books_days=30&events_days=none')
    expect(told.status).toBe(200)
    expect(
      told.json.due.map(({ product, days, objects }: Record<string, unknown>) => [product, days, objects]),
    ).toEqual([
      ['events', null, 0],
      ['books', 30, 0],
      ['checkpoints', 90, 0],
    ])
    expect(await ask('POST', '/history/retention')).toMatchObject({ status: 200, json: { objects: 0, bytes: 0 } })
  })

  it.each(['books_days=0', 'books_days=-1', 'books_days=1e3', 'events_days=36501', 'days=5'])(
    'is not asked for with %s',
    async (query) => {
      const { status, json } = await ask('GET', `/history/retention?${query}`)
      expect([status, json.error_message.startsWith(`${query.split('=')[0]}: `)]).toEqual([400, true])
    },
  )
})

describe('wrong tokens', () => {
  it('are rate limited after twenty per minute; the right token is never limited', async () => {
    const gate = new AddressLimiter(WRONG_TOKENS)
    const attempt = (token: string, atMs = 0) => ask('GET', '/keys', undefined, { token, gate, atMs })
    for (let i = 0; i < 20; i++) expect((await attempt(`guess ${i}`)).status).toBe(401)
    for (let i = 0; i < 3; i++) {
      const refused = await attempt(`guess ${i}`)
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3'])
      expect(refused.json.error_message).toMatch(/ADMIN_TOKEN.* in 3 s\.$/)
    }
    for (let i = 0; i < 30; i++) expect((await attempt(ADMIN_TOKEN)).status).toBe(200)
    expect([(await attempt('x', 3_000)).status, (await attempt('x', 3_000)).status]).toEqual([401, 429])
  })
})

describe('accounts and keys', () => {
  it('creates an account once with its first credits', async () => {
    expect(await ask('PUT', '/accounts/demo', { plan: 'enterprise', credits: 100_000 })).toMatchObject({
      status: 201,
      json: { account: 'demo', created: true, balance: '100000' },
    })
    await spend(meterOf('demo'), 'k', 130_000)
    for (const credits of [100_000, 5]) {
      expect(await ask('PUT', '/accounts/demo', { plan: 'enterprise', credits })).toMatchObject({
        status: 200,
        json: { created: false, balance: '99999.87', spent: '0.13' },
      })
    }
  })

  it('creates a key that works at once, even after a negative KV lookup', async () => {
    const ring = new KeyResolver()
    const { key, hash, account } = await newKey({ credits: '1.5', label: 'first' })
    expect(await bindings.KEYS.get(`key:${hash}`)).toBe(null)
    expect(await enter(ring, key)).toBe('ok')
    expect(await meterOf(account).balance()).toMatchObject({ available: 1_500_000 })
    const stored = await bindings.ACCOUNTS.prepare('SELECT * FROM keys WHERE hash = ?').bind(hash).first()
    expect(JSON.stringify(stored)).not.toContain(key)
    expect(await hashKey(key)).toBe(hash)
  })

  it('lists keys with balances but without the keys', async () => {
    const { key, prefix, account, hash } = await newKey({ credits: 3, label: 'listed' })
    const { json, text } = await ask('GET', '/keys')
    expect(json.keys.find((row: { hash: string }) => row.hash === hash)).toMatchObject({
      prefix,
      account,
      label: 'listed',
      kind: 'api',
      revoked: null,
      balance: '3',
    })
    expect(text).not.toContain(key)
  })

  it('grants once per idempotency key', async () => {
    const { account } = await newKey({ credits: 0 })
    const grant = (credits: unknown, id = 'top-up-1') =>
      ask('POST', `/accounts/${account}/grants`, { credits, idempotency_key: id })
    expect(await grant(5)).toMatchObject({ status: 200, json: { balance: '5', repeated: false } })
    expect(await grant(5)).toMatchObject({ status: 200, json: { balance: '5', repeated: true } })
    expect(await grant(6)).toMatchObject({
      status: 409,
      json: { error_code: '409', error_message: expect.stringContaining('idempotency_key') },
    })
    expect((await ask('POST', '/accounts/nobody/grants', { credits: 1, idempotency_key: 'a' })).status).toBe(404)
    expect((await ask('GET', `/accounts/${account.toUpperCase()}`)).json.error_message).toBe(
      `The account "${account.toUpperCase()}" does not exist; did you mean "${account}"?`,
    )
  })

  it('shows an account with period and keys, and changes its plan once', async () => {
    expect((await ask('PUT', '/accounts/shown', { plan: 'entry' })).status).toBe(201)
    const { hash } = await newKey({ account: 'shown', label: 'one' })
    const before = await ask('GET', '/accounts/shown')
    expect(before.json).toMatchObject({
      plan: 'entry',
      balance: '10000',
      held: '0',
      written_off: '0',
      period: { credits: '10000', renews_with: '10000' },
      keys: [{ hash, label: 'one' }],
    })
    const month = before.json.period.until - Date.now()
    expect(month).toBeGreaterThan(26 * 86_400_000)
    expect(month).toBeLessThanOrEqual(31 * 86_400_000)
    for (let i = 0; i < 2; i++) {
      expect(await ask('PUT', '/accounts/shown/plan', { plan: 'enterprise', terms: { credits: '5.5' } })).toMatchObject(
        {
          status: 200,
          json: { plan: 'enterprise', period: { credits: '5.5' } },
        },
      )
      expect((await ask('GET', '/accounts/shown')).json).toMatchObject({ plan: 'enterprise', balance: '5.5' })
    }
    expect(JSON.parse((await bindings.KEYS.get(`key:${hash}`)) ?? '{}').plan).toBe('enterprise')
    expect((await ask('GET', '/accounts/nobody')).status).toBe(404)
    expect((await ask('PUT', '/accounts/nobody/plan', { plan: 'entry' })).status).toBe(404)
  })

  it('completes an account after an interrupted creation, granting credits once', async () => {
    await bindings.ACCOUNTS.prepare("INSERT INTO accounts (id, plan, created) VALUES ('half', 'entry', 1)").run()
    for (let i = 0; i < 2; i++) {
      expect(await ask('PUT', '/accounts/half', { plan: 'trial' })).toMatchObject({ json: { balance: '10000' } })
    }
    await bindings.ACCOUNTS.prepare("INSERT INTO accounts (id, plan, created) VALUES ('old', 'trial', 1)").run()
    await meterOf('old').grantCredits('first', 3e6)
    expect(await ask('PUT', '/accounts/old', {})).toMatchObject({ json: { created: false, balance: '3' } })
  })

  it('changes label, restrictions and expiry of a key', async () => {
    const ring = () => new KeyResolver()
    const { key, hash, prefix } = await newKey({ credits: 1 })
    expect((await ask('PATCH', `/keys/${prefix}`, { label: 'renamed', products: ['rpc'] })).json).toMatchObject({
      hash,
      label: 'renamed',
      products: ['rpc'],
      expires: null,
    })
    expect(await enter(ring(), key)).toBe('not_entitled')
    await ask('PATCH', `/keys/${hash}`, { products: ['info'], expires: Date.now() + 60_000 })
    expect([await enter(ring(), key), await enter(later(), key)]).toEqual(['ok', 'key_expired'])
    expect((await ask('PATCH', `/keys/${hash}`, { expires: null })).json).toMatchObject({ label: 'renamed' })
    expect(await enter(later(), key)).toBe('ok')
    const service = await newKey({ kind: 'service', credits: 0 })
    expect((await ask('PATCH', `/keys/${service.hash}`, { products: ['info'] })).status).toBe(400)
    expect((await ask('PATCH', `/keys/${'0'.repeat(64)}`, {})).status).toBe(404)
  })

  it('warns about a key without credits or with unverifiable ranges', async () => {
    const warnings = async (body: object, over = {}) => (await ask('POST', '/keys', body, over)).json.warnings ?? []
    const ranges = { ranges: ['192.0.2.0/24'] }
    expect(await warnings({ credits: 0 })).toEqual([expect.stringMatching(/^credits: 0 /)])
    expect(await warnings({ credits: 1, ...ranges })).toEqual([expect.stringMatching(/^ranges: /)])
    expect(await warnings({ credits: 1, ...ranges }, { isProxied: true })).toEqual([])
    const { hash } = await newKey({ credits: 1 })
    expect((await ask('PATCH', `/keys/${hash}`, ranges)).json.warnings).toHaveLength(1)
    expect((await ask('PATCH', `/keys/${hash}`, { ranges: null })).json).not.toHaveProperty('warnings')
  })

  it('limits the spending of a key', async () => {
    const { hash, account } = await newKey({ credits: 10, cap: '1.5' })
    const spendOne = () => spend(meterOf(account), hash, 1e6)
    const other = await newKey({ account })
    expect([(await spendOne()).ok, (await spendOne()).ok]).toEqual([true, false])
    const left = async (path: string) =>
      (await ask('GET', path)).json.keys
        .map((key: { hash: string; cap_remaining: string | null }) => [key.hash, key.cap_remaining])
        .sort()
    const shown = [
      [hash, '0.5'],
      [other.hash, null],
    ].sort()
    expect(await left(`/accounts/${account}`)).toEqual(shown)
    expect(await left(`/keys?account=${account}`)).toEqual(shown)
    expect((await ask('PATCH', `/keys/${hash}`, { cap: 2 })).json).toMatchObject({ cap: '2' })
    expect([(await spendOne()).ok, (await spendOne()).ok]).toEqual([true, false])
    expect((await ask('PATCH', `/keys/${hash}`, { cap: null })).json).toMatchObject({ cap: null })
    expect((await spendOne()).ok).toBe(true)
    expect((await ask('PATCH', `/keys/${hash}`, { cap: -1 })).json.error_message).toContain('cap: ')
  })

  it('rejects malformed and large bodies', async () => {
    expect(await ask('POST', '/keys', '{')).toMatchObject({ status: 400, json: { error: true } })
    expect((await ask('POST', '/keys', `"${'x'.repeat(20_000)}"`)).status).toBe(413)
    expect((await ask('PATCH', '/keys')).status).toBe(404)
  })
})

describe('revoking', () => {
  it('takes effect at once in the meter and new isolates, and within 30 s in old ones', async () => {
    let now = Date.now()
    const ring = new KeyResolver(() => now)
    const other = new KeyResolver(() => now)
    const { key, hash, prefix, account } = await newKey({ credits: 3 })
    expect([await enter(ring, key), await enter(other, key)]).toEqual(['ok', 'ok'])
    expect(await ask('DELETE', `/keys/${prefix}`)).toMatchObject({ status: 200, json: { hash, prefix } })
    const again = await ask('DELETE', `/keys/${hash}`)
    expect(again.status).toBe(200)
    expect(await enter(new KeyResolver(), key)).toBe('key_revoked')
    expect(await spend(meterOf(account), hash, 1)).toMatchObject({ ok: false, reason: 'revoked' })
    expect(await enter(ring, key)).toBe('ok')
    ring.markRevoked(settings, hash, waitUntil)
    expect(await enter(ring, key)).toBe('key_revoked')
    now += 29_999
    expect(await enter(other, key)).toBe('ok')
    now += 1
    expect(await enter(other, key)).toBe('key_revoked')
    expect(
      (await ask('GET', '/keys')).json.keys.find((row: { hash: string }) => row.hash === hash).revoked,
    ).toBeGreaterThan(0)
  })

  it('rejects a full key in the URL without echoing it, and unknown keys', async () => {
    const { key } = await newKey()
    const answer = await ask('DELETE', `/keys/${key}`)
    expect(answer.status).toBe(400)
    expect(answer.text).not.toContain(key)
    expect((await ask('DELETE', `/keys/${'0'.repeat(64)}`)).status).toBe(404)
  })
})

describe('the key ring', () => {
  it('distinguishes kinds of invalid keys, and never looks up an invented key', async () => {
    const ring = new KeyResolver()
    const dead = {
      ...settings,
      get ACCOUNTS(): never {
        throw new Error('looked up')
      },
      get KEYS(): never {
        throw new Error('looked up')
      },
    }
    const made = `cqt_${'1'.repeat(26)}`
    const identify = (key: string) => ring.identify(dead as unknown as typeof settings, key, entry, waitUntil)
    expect(await identify('x')).toMatchObject({ ok: false, error: { kind: 'key_malformed' } })
    for (const key of [made, `${made} `, made.slice(0, -1)]) {
      const result = await identify(key)
      expect(result).toMatchObject({ ok: false, error: { kind: 'key_malformed' } })
      expect(JSON.stringify(result)).not.toContain(key)
    }
    expect(await enter(ring, await mintKey('api', KEY_SECRET))).toBe('key_unknown')
    expect(await enter(ring, await mintKey('api', 'another operator with another secret'))).toBe('key_malformed')
  })

  it('accepts keys without the checksum if it is off', async () => {
    const ring = new KeyResolver()
    const result = await ring.identify({ ...settings, KEY_CHECK: false }, `cqt_${'1'.repeat(26)}`, entry, waitUntil)
    expect(result).toEqual({ ok: false, error: { kind: 'key_unknown' } })
  })
})
