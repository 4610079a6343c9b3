// Roles in the operator's API, and the rule that nothing happens there without an audit row.

import { describe, expect, it, vi } from 'vitest'
import { sha256 } from '../../../src/accounts/digest.client.ts'
import { StaffStore } from '../../../src/accounts/staff.store.ts'
import { STAFF_ROLES } from '../../../src/accounts/staff.ts'
import { roleFor } from '../../../src/http/operation.ts'
import { auditIn } from '../../../src/http/platform/audit.store.ts'
import { ENDPOINTS } from '../../../src/http/platform/catalogue.ts'
import { ask, bindings, everyRow, KEY_SECRET } from './operator.worker.ts'

const { ACCOUNTS: db } = bindings
const AUDIT = auditIn(db)

async function staff(name: string, role: string): Promise<string> {
  const made = await ask('POST', '/staff', { name, role })
  expect(made.status).toBe(201)
  return made.json.token
}
const lines = async (query = '') => (await ask('GET', `/audit${query}`)).json.audit
/** Path of the operation with example parameters. */
const called = (path: string) =>
  path
    .replace('/admin', '')
    .replace('/keys/{key}', '/keys/cqt_9fKxWq2T')
    .replaceAll(/\{\w+\}/g, 'nobody')

describe('roles', () => {
  it('are enforced by every operation', async () => {
    const tokens = new Map<string, string>()
    for (const role of STAFF_ROLES) tokens.set(role, await staff(`a.${role}`, role))
    const before = await everyRow()
    const operations = ENDPOINTS.filter(({ auth }) => auth === 'admin')
    expect(operations.length).toBeGreaterThan(30)
    for (const operation of operations) {
      for (const role of STAFF_ROLES.filter((each) => each !== 'owner')) {
        // A body that every operation rejects after the role check.
        const body = operation.method === 'get' ? undefined : 'no JSON'
        const { status, json } = await ask(operation.method.toUpperCase(), called(operation.path), body, {
          token: tokens.get(role)!,
        }).catch((error) => ({ status: String(error), json: {} }))
        const mayNot = STAFF_ROLES.indexOf(role) < STAFF_ROLES.indexOf(roleFor(operation))
        expect([operation.id, role, status === 403]).toEqual([operation.id, role, mayNot])
        if (mayNot) expect(json.error_message).toContain(`needs the role "${roleFor(operation)}"`)
      }
    }
    expect(await everyRow()).toEqual(before)
  })

  it('allow reading, billing and everything', () => {
    const of = (role: string) => ENDPOINTS.filter((each) => each.auth === 'admin' && roleFor(each) === role)
    expect(of('support').every(({ method }) => method === 'get')).toBe(true)
    expect(
      of('billing')
        .map(({ id }) => id)
        .sort(),
    ).toEqual([
      ...['changePlan', 'grantCredits', 'payOrder', 'refundOrder', 'removeCard', 'setBilling', 'turnOffAutoTopUp'],
      'voidOrder',
    ])
    expect(
      of('owner')
        .flatMap(({ id, method }) => (method === 'get' ? [id] : []))
        .sort(),
    ).toEqual(['exportAccounts', 'exportPipelines', 'keyReach', 'listStaff', 'ownHistoryFiles', 'showWebhook'])
  })
})

describe('a staff token', () => {
  it('works until it is revoked, and is stored only as a hash', async () => {
    const token = await staff('kim', 'billing')
    const found = new StaffStore(db, KEY_SECRET)
    expect(await found.byHash(await sha256(token))).toEqual({ name: 'kim', role: 'billing' })
    expect((await ask('GET', '/plans', undefined, { token })).status).toBe(200)
    expect((await ask('PUT', '/accounts/acme', {})).status).toBe(201)
    expect(await ask('POST', '/accounts/acme/grants', { credits: 5, idempotency_key: 'a' }, { token })).toMatchObject({
      status: 200,
    })
    expect((await ask('POST', '/staff', { name: 'kim', role: 'owner' })).status).toBe(409)
    for (const table of ['staff', 'audit']) {
      const { results } = await db.prepare(`SELECT * FROM ${table}`).all()
      expect(JSON.stringify(results)).not.toContain(token.slice(12))
    }
    expect((await ask('DELETE', '/staff/kim')).status).toBe(200)
    expect((await ask('DELETE', '/staff/kim')).status).toBe(404)
    expect(await found.byHash(await sha256(token))).toBe(null)
    expect((await ask('GET', '/plans', undefined, { token })).status).toBe(401)
    // The same person with another token.
    expect(await staff('kim', 'support')).not.toBe(token)
    expect((await ask('GET', '/staff')).json.staff.filter(({ name }: { name: string }) => name === 'kim')).toHaveLength(
      2,
    )
  })

  it('cannot be forged', async () => {
    const token = await staff('lee', 'owner')
    const last = token.endsWith('1') ? '2' : '1'
    for (const forged of [
      `${token.slice(0, -1)}${last}`,
      `${token}x`,
      token.slice(0, -1),
      `cqo_${'1'.repeat(40)}`,
      'cqo_',
    ])
      expect((await ask('GET', '/plans', undefined, { token: forged })).status).toBe(401)
    expect((await ask('GET', '/plans', undefined, { token, adminToken: undefined })).status).toBe(404)
  })

  it('is looked up only with a valid checksum', async () => {
    const token = await staff('max', 'support')
    const untouched = new StaffStore({ prepare: () => expect.unreachable() } as never, KEY_SECRET)
    for (const made of [`cqo_${'9fKxWq2T'.repeat(5)}`, token.replace(/.$/, (last) => (last === '1' ? '2' : '1'))])
      expect(await untouched.byToken(made)).toBe(null)
    expect(await new StaffStore(db, '').byToken(token)).toBe(null)
    expect(await new StaffStore(db, KEY_SECRET).byToken(token)).toEqual({ name: 'max', role: 'support' })
  })

  it.each(['operator', 'a\nb', '😀', 'x'.repeat(10_000), '=cmd()', ''])(
    'is made for nobody called %j',
    async (name) => {
      const { status, json } = await ask('POST', '/staff', { name, role: 'support' })
      expect([status, json.error_message]).toEqual([400, expect.stringMatching(/^name: /)])
    },
  )
})

describe('the audit log', () => {
  it('has a line for every change: done, rejected and failed', async () => {
    const token = await staff('aud', 'support')
    await ask('PUT', '/accounts/traced', { credits: 3 })
    await ask('POST', '/accounts/traced/grants', { credits: 5, idempotency_key: 'g' }, { token })
    await ask('POST', '/accounts/traced/grants', { credits: -5, idempotency_key: 'g' })
    await ask('POST', '/keys', 'no JSON')
    await ask('GET', '/keys', undefined, { token })
    const lent = { accounts: { missingFailure: () => Promise.reject(new Error('D1 is away')) } as never }
    await ask('PUT', '/accounts/traced/webhook', { url: 'https://x.example/secret-path' }, { lent })
    const [webhook, keys, negative, refused, made] = await lines()
    expect(webhook).toMatchObject({
      action: 'setWebhook',
      status: 500,
      sent: expect.not.stringContaining('secret-path'),
    })
    expect(keys).toMatchObject({ action: 'createKey', status: 400, sent: '{}', account: null })
    expect(negative).toMatchObject({ action: 'grantCredits', status: 400, account: 'traced', actor: 'operator' })
    expect(refused).toMatchObject({
      actor: 'aud',
      role: 'support',
      action: 'grantCredits',
      status: 403,
      target: 'traced',
      sent: expect.stringContaining('"credits":5'),
    })
    expect(made).toMatchObject({
      action: 'ensureAccount',
      status: 201,
      sent: '{"body":{"credits":3}}',
      request_id: 'req_1',
    })
  })

  it('names the account of a key from the response', async () => {
    const { json } = await ask('POST', '/keys', {})
    expect((await lines(`?account=${json.account}`))[0]).toMatchObject({ action: 'createKey', account: json.account })
    expect(JSON.stringify(await lines())).not.toContain(json.key)
    await ask('DELETE', `/keys/${json.prefix}`)
    expect((await lines(`?account=${json.account}`))[0]).toMatchObject({ action: 'revokeKey', target: json.prefix })
  })

  it('prevents actions that it cannot record', async () => {
    const before = await everyRow()
    const broken = (part: 'start' | 'finish') => {
      const away = () => Promise.reject(new Error('D1 is away'))
      return { lent: { audit: { ...AUDIT, [part]: away } } }
    }
    const refused = await ask('PUT', '/accounts/unwritten', {}, broken('start'))
    expect([refused.status, refused.json.error_code]).toEqual([503, '503'])
    expect(await everyRow()).toEqual(before)
    // An action is recorded even if its outcome is not.
    expect((await ask('PUT', '/accounts/written', {}, broken('finish'))).status).toBe(201)
    expect((await lines('?account=written'))[0]).toMatchObject({ action: 'ensureAccount', status: null })
  })

  it('keeps the first outcome of a line', async () => {
    await ask('PUT', '/accounts/kept', {})
    const before = await lines()
    const [{ number }] = before
    await expect(AUDIT.finish(number, 500, null, 1)).rejects.toThrow('UNIQUE')
    expect(await lines()).toEqual(before)
  })

  it('is paged and filtered by actor, action and day', async () => {
    const token = await staff('pager', 'owner')
    for (let i = 0; i < 5; i++) await ask('PUT', `/accounts/paged${i}`, {}, { token })
    const first = (await ask('GET', '/audit?actor=pager&limit=3')).json
    const second = (await ask('GET', `/audit?actor=pager&limit=3&before=${first.next}`)).json
    expect([...first.audit, ...second.audit].map(({ target }: { target: string }) => target)).toEqual(
      [4, 3, 2, 1, 0].map((i) => `paged${i}`),
    )
    expect(second.next).toBe(null)
    expect(await lines('?actor=pager&action=grantCredits')).toEqual([])
    expect(await lines('?actor=pager&to=2000-01-01')).toEqual([])
    const today = new Date().toISOString().slice(0, 10)
    expect(await lines(`?actor=pager&from=${today}&to=${today}`)).toHaveLength(5)
  })
})

describe('incidents', () => {
  it('that cannot be read hide no others', async () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue()
    const readable = (await ask('POST', '/incidents', NEW)).json.id
    const broken = (await ask('POST', '/incidents', NEW)).json.id
    await bindings.ACCOUNTS.prepare("UPDATE incident_updates SET state = 'unheard_of' WHERE incident = ?")
      .bind(broken)
      .run()
    const listed = (await ask('GET', '/incidents')).json.incidents.map(({ id }: { id: number }) => id)
    expect([listed.includes(readable), listed.includes(broken)]).toEqual([true, false])
    // Nor does a page end at it.
    const page = (await ask('GET', `/incidents?limit=1&before=${broken + 1}`)).json
    expect(page.incidents.map(({ id }: { id: number }) => id)).toEqual([readable])
    expect(logged.mock.calls.join()).toContain('incident_unreadable')
    logged.mockRestore()
    for (const id of [readable, broken]) expect((await ask('DELETE', `/incidents/${id}`)).status).toBe(200)
  })

  const NEW = {
    kind: 'incident',
    title: 'Late books',
    components: ['streams'],
    state: 'investigating',
    message: 'Why?',
  }

  it('are posted, updated, listed and removed, with a line in the audit log', async () => {
    const made = await ask('POST', '/incidents', { ...NEW, title: ' <b>Late</b> books ' })
    expect(made).toMatchObject({
      status: 201,
      json: { title: '<b>Late</b> books', state: 'investigating', closed: null },
    })
    const path = `/incidents/${made.json.id}`
    const update = (state: string) => ask('POST', `${path}/updates`, { state, message: `It is ${state}.` })
    expect((await update('resolved')).json.closed).toBeGreaterThan(0)
    const open = await update('monitoring')
    expect(open.json).toMatchObject({ state: 'monitoring', closed: null })
    expect(open.json.updates.map(({ state }: { state: string }) => state)).toEqual([
      'monitoring',
      'resolved',
      'investigating',
    ])
    const second = await ask('POST', '/incidents', {
      ...NEW,
      kind: 'maintenance',
      state: 'scheduled',
      starts: 5,
      ends: 9,
    })
    expect(
      (await ask('POST', `/incidents/${second.json.id}/updates`, { state: 'in_progress', message: 'x', ends: 12 }))
        .json,
    ).toMatchObject({ starts: 5, ends: 12 })
    const idsOf = async (query: string) => {
      const { incidents, next } = (await ask('GET', `/incidents${query}`)).json
      return [incidents.map(({ id }: { id: number }) => id), next]
    }
    expect(await idsOf('?limit=1')).toEqual([[second.json.id], second.json.id])
    expect(await idsOf(`?before=${second.json.id}`)).toEqual([[made.json.id], null])
    expect((await ask('DELETE', path)).status).toBe(200)
    expect([(await ask('DELETE', path)).status, (await update('resolved')).status]).toEqual([404, 404])
    const { actor, target, status } = (await lines('?action=updateIncident')).find(
      (line: { status: number }) => line.status === 200,
    )
    expect([actor, target, status]).toEqual(['operator', String(second.json.id), 200])
    // An id is never used again.
    await ask('DELETE', `/incidents/${second.json.id}`)
    expect((await ask('POST', '/incidents', NEW)).json.id).toBe(second.json.id + 1)
  })

  it('have at most a hundred updates', async () => {
    const { json } = await ask('POST', '/incidents', NEW)
    const insert = 'INSERT INTO incident_updates (incident, at, state, message) VALUES (?, 1, ?, ?)'
    await db.batch(Array.from({ length: 98 }, () => db.prepare(insert).bind(json.id, 'monitoring', 'x')))
    const update = () => ask('POST', `/incidents/${json.id}/updates`, { state: 'resolved', message: 'y' })
    expect([(await update()).status, (await update()).status]).toEqual([200, 409])
    expect((await ask('GET', '/incidents?limit=1')).json.incidents[0].updates).toHaveLength(100)
  })

  it.each([
    [{ state: 'scheduled' }, /^state: must be one of investigating/],
    [{ kind: 'maintenance', state: 'scheduled' }, /^starts: is required/],
    [{ kind: 'maintenance', state: 'scheduled', starts: 9, ends: 9 }, /^ends: must be after "starts"/],
    [{ components: ['books'] }, /^components/],
    [{ message: ' ' }, /^message: must be 1 to 2,000 characters/],
    [{ title: 'x'.repeat(121) }, /^title: must be 1 to 120 characters/],
    [{ starts: 1e15 }, /^starts: must be Unix milliseconds/],
  ])('are not posted with %j', async (change, message) => {
    const { status, json } = await ask('POST', '/incidents', { ...NEW, ...change })
    expect([status, json.error_message]).toEqual([400, expect.stringMatching(message)])
  })
})
