import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AccountOptions, accountCommand } from '../../src/cli/accounts.node.ts'
import { type WebhookOptions, webhookCommand } from '../../src/cli/webhooks.node.ts'
import { hashKey } from '../../src/key/digest.client.ts'

const KEY = `cqt_${'A'.repeat(26)}`
const TOKEN = 'the token'
let seen: { call: string; body: unknown }
let server: Server

/** Stands for the admin API: keeps what it was asked, answers as the API does. */
beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (piece) => {
      body += piece
    })
    request.on('end', () => {
      seen = { call: `${request.method} ${request.url}`, body: body === '' ? null : JSON.parse(body) }
      const issues = request.method === 'POST' && !request.url?.endsWith('/grants')
      const keys = [{ account: 'demo' }, { account: 'other' }]
      if (body.includes('golden')) response.statusCode = 400
      if (response.statusCode === 400) response.end('{"error_message":"plan: must be one of …"}')
      else
        response.end(
          JSON.stringify(
            issues ? { key: KEY, prefix: 'cqt_AAAAAAAA', account: 'demo', old_key_ends: 0 } : { balance: '5', keys },
          ),
        )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => server.close())

const target = () => ({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: TOKEN })
const run = (line: string, options: AccountOptions = {}) => accountCommand(target(), line.split(' '), options)
const webhook = (line: string, options: WebhookOptions = {}) => webhookCommand(target(), line.split(' '), options)

describe('the operator’s commands', () => {
  it.each([
    ['account create a', { plan: 'entry' }, 'PUT /admin/accounts/a', { plan: 'entry' }],
    ['account show a', {}, 'GET /admin/accounts/a', null],
    [
      'account plan a enterprise',
      { terms: 'credits=5.5,rest_requests_per_second=none' },
      'PUT /admin/accounts/a/plan',
      { plan: 'enterprise', terms: { credits: '5.5', rest_requests_per_second: null } },
    ],
    ['account grant a 0.5', { id: 'x' }, 'POST /admin/accounts/a/grants', { credits: '0.5', idempotency_key: 'x' }],
    ['key issue a', { products: 'info,rpc' }, 'POST /admin/keys', { account: 'a', products: ['info', 'rpc'] }],
    ['key list', {}, 'GET /admin/keys', null],
    ['key change cqt_AAAAAAAA', { expires: 'never' }, 'PATCH /admin/keys/cqt_AAAAAAAA', { expires: null }],
    [
      'key change cqt_AAAAAAAA',
      { expires: '2027-01-31' },
      'PATCH /admin/keys/cqt_AAAAAAAA',
      { expires: 1801353600000 },
    ],
    ['key change cqt_AAAAAAAA', { cap: 'none' }, 'PATCH /admin/keys/cqt_AAAAAAAA', { cap: null }],
    ['key issue a', { cap: '5' }, 'POST /admin/keys', { account: 'a', cap: '5' }],
    ['key rotate cqt_AAAAAAAA', { grace: '60' }, 'POST /admin/keys/cqt_AAAAAAAA/rotate', { grace_seconds: 60 }],
    ['key revoke cqt_AAAAAAAA', {}, 'DELETE /admin/keys/cqt_AAAAAAAA', null],
  ])('%s %j is %s', async (line, options, call, body) => {
    expect(await run(line, options)).toMatchObject({ ok: true })
    expect(seen).toEqual({ call, body })
  })

  it('send a key as its hash', async () => {
    await run(`key revoke ${KEY}`)
    expect(seen.call).toBe(`DELETE /admin/keys/${await hashKey(KEY)}`)
  })

  it('show a new key once, and keys of one account alone', async () => {
    expect(await run('key rotate cqt_AAAAAAAA')).toEqual({
      ok: true,
      value: `${KEY}\naccount demo; the key is not shown again; the old key works until 1970-01-01T00:00:00.000Z`,
    })
    const listed = await run('key list other')
    expect(listed?.ok && JSON.parse(listed.value)).toHaveLength(2)
    expect(seen.call).toBe('GET /admin/keys?account=other')
  })

  it('repeat the gateway’s own refusal, and know their own', async () => {
    expect(await run('account plan a golden')).toEqual({ ok: false, error: 'plan: must be one of …' })
    expect(await run('key change cqt_AAAAAAAA', { expires: 'soon' })).toMatchObject({ ok: false })
    for (const line of ['account', 'account show', 'account show a b', 'key lose x', 'constructor x'])
      expect(await run(line)).toBe(null)
  })

  it.each([
    ['webhook set a https://b', {}, 'PUT /admin/accounts/a/webhook', { url: 'https://b' }],
    [
      'webhook set a https://b',
      { thresholds: '20%,0', 'new-secret': true },
      'PUT /admin/accounts/a/webhook',
      { url: 'https://b', thresholds: ['20%', '0'], new_secret: true },
    ],
    ['webhook show a', {}, 'GET /admin/accounts/a/webhook', null],
    ['webhook test a', {}, 'POST /admin/accounts/a/webhook/test', null],
    ['webhook clear a', {}, 'DELETE /admin/accounts/a/webhook', null],
  ])('%s %j is %s', async (line, options, call, body) => {
    expect(await webhook(line, options)).toMatchObject({ ok: true })
    expect(seen).toEqual({ call, body })
  })

  it('on webhooks know their own', async () => {
    for (const line of ['webhook', 'webhook set a', 'webhook show', 'webhook show a b', 'webhook toString a'])
      expect(await webhook(line)).toBe(null)
  })
})
