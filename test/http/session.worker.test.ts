import { env } from 'cloudflare:workers'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { AddressLimiter, KEY_LOOKUPS, WRONG_TOKENS } from '../../src/accounts/address-limiter.ts'
import { hashKey, sha256 } from '../../src/accounts/digest.client.ts'
import { admit } from '../../src/accounts/key-record.ts'
import { keyFromD1 } from '../../src/accounts/key-records.store.ts'
import { createSession } from '../../src/accounts/sessions/session.store.ts'
import { sessionOperator, sessionOwner } from '../../src/accounts/sessions/session-auth.store.ts'
import type { Operator } from '../../src/accounts/staff.ts'
import { sessionRoutes } from '../../src/http/session/session.route.ts'
import { MemberSignIn } from '../../src/http/signup/member-sign-in.client.ts'
import { memberService, platformOf } from './platform/operator.worker.ts'

const ADMIN_TOKEN = 'an operator’s token of enough length'.replace('’', '')
const HOST = 'https://weir.example'
const { ACCOUNTS: db } = env
const PLATFORM = { product: 'platform', kind: 'any' } as const

/** Routes with a test clock, staff and operator token. */
function desk() {
  const world = { nowMs: 1_000, token: ADMIN_TOKEN, staff: new Map<string, Operator>(), address: null as string | null }
  const visits = new AddressLimiter(KEY_LOOKUPS)
  const countLookup = () => visits.take(world.address, world.nowMs)
  const visitorEnv = () => ({ ACCOUNTS: db, ADMIN_TOKEN: world.token, countLookup })
  const byHash = async (hash: string) => world.staff.get(hash) ?? null
  const staff = { byHash, byToken: async (token: string) => byHash(await sha256(token)) }
  const gate = new AddressLimiter(WRONG_TOKENS)
  const app = new Hono()
  app.all('*', (c) => {
    const routes = sessionRoutes({
      env: visitorEnv(),
      staff,
      members: new MemberSignIn({ keys: platformOf().keys, members: memberService() }),
      identify: async (key) => {
        const record = await keyFromD1(db, await hashKey(key))
        return record === null
          ? { ok: false, error: { kind: 'key_unknown' } }
          : admit(record, PLATFORM, world.nowMs, null)
      },
      wrongToken: () => gate.take(null, world.nowMs),
      addressOf: () => null,
      requestId: () => 'req_1',
      now: () => world.nowMs,
    })
    return routes.fetch(c.req.raw, {}, { waitUntil: () => {}, passThroughOnException: () => {}, props: {} })
  })
  const ask = (
    method: string,
    cookie: string | null,
    body?: unknown,
    headers: Record<string, string> = { origin: HOST },
    path = '/session',
  ) =>
    app.request(HOST + path, {
      method,
      headers: { ...headers, ...(cookie === null ? {} : { cookie }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const signIn = async (token: string, cookie: string | null = null) => {
    const answer = await ask('POST', cookie, { token })
    expect(answer.status).toBe(200)
    expect(await answer.text()).not.toContain(token)
    return answer.headers.get('set-cookie')!.split(';')[0]!
  }
  const request = (cookie: string, method = 'GET', headers: Record<string, string> = { origin: HOST }) =>
    new Request(`${HOST}/admin/plans`, { method, headers: { cookie, ...headers } })
  return { world, ask, signIn, request, visitorEnv, staff }
}

async function newKey(kind: 'api' | 'service', account: string, key: string) {
  await db.batch([
    db.prepare("INSERT OR IGNORE INTO accounts (id, plan, created) VALUES (?, 'entry', 1)").bind(account),
    db
      .prepare('INSERT INTO keys (hash, prefix, label, account, kind, products, created) VALUES (?, ?, ?, ?, ?, ?, 1)')
      .bind(await hashKey(key), key.slice(0, 12), '', account, kind, kind === 'api' ? '["info"]' : '["platform"]'),
  ])
}

describe('a session', () => {
  it('of the operator is valid while the token is unchanged', async () => {
    const { world, ask, signIn, request, visitorEnv, staff } = desk()
    const cookie = await signIn(ADMIN_TOKEN)
    expect(await (await ask('GET', cookie)).json()).toMatchObject({ role: 'operator', staff_role: 'owner' })
    expect((await sessionOperator(visitorEnv(), request(cookie, 'DELETE'), staff, 1_001)).ok).toBe(true)
    world.token = `${ADMIN_TOKEN} changed`
    expect((await ask('GET', cookie)).status).toBe(401)
    expect((await sessionOperator(visitorEnv(), request(cookie), staff, 1_001)).ok).toBe(false)
  })

  it('of a staff member is valid until the token is revoked', async () => {
    const { world, ask, signIn } = desk()
    const hash = await sha256('cqo_of a colleague')
    world.staff.set(hash, { name: 'kim', role: 'support' })
    const cookie = await signIn('cqo_of a colleague')
    expect(await (await ask('GET', cookie)).json()).toMatchObject({ name: 'kim', staff_role: 'support' })
    world.staff.delete(hash)
    expect((await ask('GET', cookie)).status).toBe(401)
  })

  it('of an owner allows what the key allows', async () => {
    const { ask, signIn, request, visitorEnv } = desk()
    await newKey('service', 'acme', 'cqs_service')
    await newKey('api', 'acme', 'cqt_api')
    const manager = await signIn('cqs_service')
    expect(await (await ask('GET', manager)).json()).toMatchObject({
      role: 'owner',
      account: 'acme',
      kind: 'service',
    })
    const enters = (cookie: string, entry: Parameters<typeof sessionOwner>[2]) =>
      sessionOwner(visitorEnv(), request(cookie), entry, null, 1_001)
    expect(await enters(manager, { product: 'info', kind: 'api' })).toMatchObject({ ok: true })
    expect(await enters(manager, { product: 'platform', kind: 'service' })).toMatchObject({ ok: true })
    await db.prepare(`UPDATE keys SET products = '["info","platform"]' WHERE prefix = 'cqt_api'`).run()
    const reader = await signIn('cqt_api')
    expect(await enters(reader, { product: 'info', kind: 'api' })).toMatchObject({ ok: true })
    expect(await enters(reader, { product: 'rpc', kind: 'api' })).toMatchObject({ ok: false })
    expect(await enters(reader, { product: 'platform', kind: 'service' })).toMatchObject({ ok: false })
    await db.prepare(`UPDATE keys SET revoked = 2 WHERE prefix = 'cqs_service'`).run()
    expect(await enters(manager, PLATFORM)).toMatchObject({ ok: false, error: { kind: 'key_revoked' } })
  })

  it('ends with sign-out, expiry or a new sign-in', async () => {
    const { world, ask, signIn } = desk()
    const first = await signIn(ADMIN_TOKEN)
    const second = await signIn(ADMIN_TOKEN, first)
    expect((await ask('GET', first)).status).toBe(401)
    const gone = await ask('DELETE', second)
    expect(gone.headers.get('set-cookie')).toContain('Max-Age=0')
    expect((await ask('GET', second)).status).toBe(401)
    const third = await signIn(ADMIN_TOKEN)
    world.nowMs += 12 * 3_600_000
    expect((await ask('GET', third)).status).toBe(401)
  })

  it('is stored only as a hash, and is limited in number per token', async () => {
    const { world, signIn, ask } = desk()
    const first = await signIn(ADMIN_TOKEN)
    for (let i = 0; i < 50; i++) {
      world.nowMs++
      await signIn(ADMIN_TOKEN)
    }
    expect((await ask('GET', first)).status).toBe(401)
    const { results } = await db.prepare('SELECT * FROM sessions').all()
    expect(JSON.stringify(results)).not.toContain(first.split('=')[1])
    expect(results.filter(({ kind }) => kind === 'admin')).toHaveLength(50)
  })

  it('that began with an invitation opens the account of the invitation only, also after a switch', async () => {
    const { ask } = desk()
    const members = memberService()
    for (const account of ['one', 'two'])
      await db.batch([
        db.prepare("INSERT INTO accounts (id, plan, created) VALUES (?, 'entry', 1)").bind(account),
        db
          .prepare(
            `INSERT INTO members (id, account, address, base, sealed, role, invited, joined)
             VALUES (?1, ?1, 'kim', 'kim', '', 'owner', 1, 1)`,
          )
          .bind(account),
      ])
    const signIn = new MemberSignIn({ keys: platformOf().keys, members })
    const origin = await signIn.originOf({ member: 'one', account: 'one', role: 'owner' })
    if (!origin.ok) throw new Error('no session')
    const start = async (isInvited: boolean) => {
      const { token } = await createSession(db, { ...origin.value, isInvited }, { browser: '', place: '' }, 1_000)
      return `__Host-weir=${token}`
    }
    const accounts = async (cookie: string) => {
      const { accounts: listed } = await (await ask('GET', cookie, undefined, {}, '/session/accounts')).json<{
        accounts: { account: string }[]
      }>()
      const { accounts: count } = await (await ask('GET', cookie)).json<{ accounts: number }>()
      expect(count).toBe(listed.length)
      return listed.map(({ account }) => account)
    }
    const change = async (cookie: string, account: string) => {
      const answer = await ask('POST', cookie, { account }, { origin: HOST }, '/session/account')
      return { status: answer.status, cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' }
    }
    const invited = await start(true)
    expect(await accounts(invited)).toEqual(['one'])
    expect((await change(invited, 'two')).status).toBe(403)
    const same = await change(invited, 'one')
    expect(same.status).toBe(200)
    expect(await accounts(same.cookie)).toEqual(['one'])
    expect((await change(same.cookie, 'two')).status).toBe(403)
    const byLink = await start(false)
    expect(await accounts(byLink)).toEqual(['one', 'two'])
    const other = await change(byLink, 'two')
    expect(other.status).toBe(200)
    expect(await accounts(other.cookie)).toEqual(['one', 'two'])
  })

  it('is ignored on other sites, with a forged cookie, or if the request has a key', async () => {
    const { ask, signIn, request, visitorEnv, staff } = desk()
    const cookie = await signIn(ADMIN_TOKEN)
    const enters = (asked: Request) => sessionOperator(visitorEnv(), asked, staff, 1_001)
    expect((await ask('POST', null, { token: ADMIN_TOKEN }, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await ask('DELETE', cookie, undefined, {})).status).toBe(403)
    expect(await enters(request(cookie, 'POST', { origin: 'https://evil.example' }))).toMatchObject({ ok: false })
    expect(await enters(request(cookie, 'POST', {}))).toMatchObject({ ok: false })
    expect(await enters(request(cookie, 'GET', { 'sec-fetch-site': 'same-site' }))).toMatchObject({ ok: false })
    expect(await enters(request(`__Host-weir=${'0'.repeat(64)}`))).toMatchObject({ ok: false })
    expect(await (await ask('GET', null)).json()).toBeNull()
  })

  it('limits lookups of invalid cookies per address', async () => {
    const { world, ask, signIn } = desk()
    world.nowMs = 10_000
    const cookie = await signIn(ADMIN_TOKEN)
    world.address = '192.0.2.1'
    const statuses = []
    for (let i = 0; i < 200; i++) statuses.push((await ask('GET', `__Host-weir=${`${i}`.padStart(64, '0')}`)).status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(50)
    expect(statuses.at(-1)).toBe(429)
    expect((await ask('DELETE', `__Host-weir=${'0'.repeat(64)}`)).status).toBe(429)
    world.address = '192.0.2.2'
    expect((await ask('GET', cookie)).status).toBe(200)
  })

  it('starts only with valid credentials, and guesses are rate limited', async () => {
    const { ask } = desk()
    const wrong = await ask('POST', null, { token: 'a guess of somebody' })
    expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([401, null])
    expect((await ask('POST', null, { token: '' })).status).toBe(400)
    expect((await ask('POST', null, { token: 'x', more: 1 })).status).toBe(400)
    expect((await ask('POST', null, { token: 'x'.repeat(2_000) })).status).toBe(413)
    expect((await ask('POST', null, { token: 'cqt_unknown' })).status).toBe(401)
    const statuses = []
    for (let i = 0; i < 30; i++) statuses.push((await ask('POST', null, { token: `guess ${i}` })).status)
    expect(statuses.at(-1)).toBe(429)
    expect((await ask('POST', null, { token: ADMIN_TOKEN })).status).toBe(200)
  })
})
