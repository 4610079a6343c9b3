// Planted keys: whatever is done with a key, it appears in no log line, stored byte, upstream URL, header or body, and
// in no response except the one that issued it. No other secret is stored in clear either.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type GatewayProcess, type IssuedKey, SECRETS, startGateway } from '../kit/gateway.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'
import { scratch } from '../kit/program.ts'
import { Socket } from '../kit/socket.ts'

const folder = scratch()
let upstream: HttpServer
let gateway: GatewayProcess
let seen = ''
/** All responses except those that issued a key. */
let told = ''

beforeAll(async () => {
  upstream = await startServer((request, response) => {
    seen += `${request.method} ${request.url} ${JSON.stringify(request.rawHeaders)}\n`
    request.on('data', (chunk) => {
      seen += chunk
    })
    request.on('end', () => {
      response.setHeader('content-type', 'application/json')
      if (seen.includes('userRole')) response.statusCode = 500
      response.end('{"time":1,"specialStatuses":null}')
    })
  })
  gateway = await startGateway(folder.path, 0, upstream.url)
})
afterAll(async () => {
  await gateway?.stop()
  upstream.close()
  folder.remove()
})

async function tell(url: string, init: RequestInit = {}): Promise<void> {
  const answer = await fetch(url, init)
  told += `${answer.status} ${JSON.stringify([...answer.headers])} ${await answer.text()}\n`
}

/** Every way to send a key, and some invalid ones. */
async function use(key: string): Promise<void> {
  const { url } = gateway
  const post = (body: unknown, headers = {}) => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const bearer = { authorization: `Bearer ${key}` }
  const address = `0x${'1'.repeat(40)}`
  for (const body of [
    { type: 'exchangeStatus' },
    { type: 'userRole', user: address },
    { type: key },
    [key],
    { [key]: 1 },
  ])
    await tell(`${url}/info`, post(body, bearer))
  await tell(`${url}/k/${key}/info`, post({ type: 'exchangeStatus' }))
  await tell(`${url}/info?key=${key}`, post({ type: 'exchangeStatus' }))
  for (const path of ['platform/usage/', 'platform/key/', `platform/usage/?from=${key}`, `k/${key}/nowhere`, key])
    await tell(`${url}/${path}`, { headers: bearer })
  await tell(`${url}/admin/keys/${key}`, { method: 'DELETE', headers: bearer })
  const { ws } = gateway
  for (const open of [
    () => Socket.open(`${ws}/ws?key=${key}`),
    () => Socket.open(`${ws}/k/${key}/ws`),
    () => Socket.open(`${ws}/ws`, bearer),
    () => Socket.open(`${ws}/ws?key=${key}&key=${key}`),
  ]) {
    const socket = await open().catch((error: { body?: string }) => {
      told += `${error.body}\n`
      return null
    })
    if (socket === null) continue
    socket.send({ method: 'subscribe', subscription: { type: 'allFills' } })
    socket.send({ method: 'post', id: 1, request: { type: 'info', payload: { type: 'exchangeStatus' } } })
    socket.send({ method: 'ping' })
    await socket.channel('pong')
    told += JSON.stringify(socket.frames)
    socket.close()
  }
}

/** A secret of each kind but keys that a gateway stores something of, by its name. */
async function plantSecrets(account: string, key: string, serviceKey: string): Promise<Record<string, string>> {
  const { url } = gateway
  const ask = async (
    path: string,
    body: unknown,
    headers: Record<string, string> = { origin: url },
    method = 'POST',
  ) => {
    const init = { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
    const answer = await fetch(`${url}${path}`, init)
    const json = (await answer.json()) as { token?: string; key?: string; data?: { secret?: string; token?: string } }
    expect([path, answer.ok, answer.ok ? '' : json]).toEqual([path, true, ''])
    return { json, cookie: /__Host-weir=([0-9a-f]{64})/.exec(answer.headers.get('set-cookie') ?? '')?.[1] }
  }
  const owner = { authorization: `Bearer ${serviceKey}` }
  const hook = await gateway.ask<{ secret: string }>('PUT', `/accounts/${account}/webhook`, { url: upstream.url })
  const own = await ask('/platform/webhook/', { url: upstream.url, new_secret: true }, owner, 'PUT')
  await ask('/platform/webhook/test', {}, owner)
  const more: Record<string, string> = {}
  for (const [name, destination_config] of Object.entries({
    webhook: { url: upstream.url, secret: `whsec_${btoa('canary of a pipeline’s webhook'.replace('’', ''))}` },
    s3: {
      url: upstream.url,
      bucket: 'bucket',
      region: 'auto',
      prefix: 'a/',
      format: 'ndjson',
      access_key_id: 'id',
      secret_access_key: 'canary-of-the-s3-secret-access-key',
    },
    clickhouse: { url: upstream.url, user: 'u', password: 'canary-of-clickhouse-password', database: 'd', table: 't' },
    postgres: {
      url: 'postgres://127.0.0.1:9',
      user: 'u',
      password: 'canary-of-postgres-password',
      database: 'd',
      table: 't',
    },
    kafka: { url: upstream.url, topic: 't', user: 'u', password: 'canary-of-kafka-password' },
  })) {
    const order = { name, topic: 'fills', destination_config: { type: name, ...destination_config } }
    await ask('/platform/pipeline-api/', order, owner)
    const secret = Object.entries(destination_config).find(([field]) => /^(password|secret)/.test(field))!
    more[`pipeline ${name}`] = secret[1]
  }
  const session = await ask('/session', { token: key })
  const operator = await ask('/session', { token: SECRETS.ADMIN_TOKEN })
  const staff = await gateway.ask<{ token: string }>('POST', '/staff', { name: 'canary', role: 'support' })
  await ask('/signup', { email: 'canary@example.com' })
  await expect.poll(() => /#join=(\w+)/.exec(gateway.program.log())).not.toBeNull()
  const link = /#join=(\w+)/.exec(gateway.program.log())![1]!
  const joined = await ask('/signup/confirm', { token: link })
  await gateway.ask('PUT', '/accounts/live', { plan: 'entry' })
  await gateway.ask('POST', '/keys', { account: 'live', label: 'live page' })
  const stream = await ask('/live/token', {})
  const ownStream = await ask(
    '/platform/stream-tokens',
    { minutes: 5, coins: ['BTC'] },
    { authorization: `Bearer ${key}` },
  )
  await ask('/info', { type: 'exchangeStatus' }, { authorization: `Bearer ${stream.json.token}` }).catch(() => {})
  return {
    ...SECRETS,
    ...more,
    'account webhook': hook.secret,
    'own webhook': own.json.data!.secret!,
    session: session.cookie!,
    'operator session': operator.cookie!,
    staff: staff.token,
    'sign-up link': link,
    'trial key': joined.json.key!,
    'trial session': joined.cookie!,
    'visitor token': stream.json.token!,
    'own stream token': ownStream.json.data?.token ?? ownStream.json.token!,
  }
}

/** Every stored byte, as Latin-1 so that binary files can be searched too. */
function stored(path: string): string {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')
}

it('finds no planted key anywhere', async () => {
  const first = await gateway.issue('100')
  // Allows the request rate of a fast machine.
  const service = await gateway.issue('100', { kind: 'service', plan: 'professional' })
  const rotated = await gateway.ask<IssuedKey>('POST', `/keys/${first.hash}/rotate`, { grace_seconds: 60 })
  const madeUp = `cqt_${'Canary'.repeat(4)}22`
  const keys = [first.key, service.key, rotated.key, madeUp, first.key.slice(0, -1)]
  for (const key of keys) await use(key)
  const planted = await plantSecrets(first.account, first.key, service.key)
  await gateway.ask('DELETE', `/keys/${first.hash}`)
  await use(first.key)
  told += JSON.stringify(await gateway.ask('GET', '/keys'))
  // Usage is reported and idle leases are closed within seconds; then everything is stored.
  const { account } = first
  const held = async () => (await gateway.ask('GET', `/accounts/${account}`)).held
  await expect.poll(held, { timeout: 60_000 }).toBe('0')
  await gateway.stop()
  const disk = stored(folder.path)
  // Proves that the search works: allowed values are found, and the upstream was called.
  expect(disk).toContain(first.hash)
  expect(disk).toContain(first.prefix)
  expect(seen).toContain('exchangeStatus')
  for (const [name, secret] of Object.entries(planted)) {
    expect([name, typeof secret, secret.length > 20]).toEqual([name, 'string', true])
    // Whole, and as the bytes that it stands for.
    const forms = [secret, btoa(secret), secret.startsWith('whsec_') ? atob(secret.slice(6)) : secret]
    for (const form of forms) expect(disk.includes(form), `${name} is stored`).toBe(false)
    if (name !== 'sign-up link') expect(gateway.program.log().includes(secret), `${name} is logged`).toBe(false)
  }
  const secrets = keys.map((key) => key.slice(0, 29)).flatMap((key) => [key, key.slice(12)])
  for (const secret of secrets) {
    for (const [where, text] of Object.entries({ disk, log: gateway.program.log(), upstream: seen })) {
      expect(text.includes(secret), where).toBe(false)
    }
  }
  // A caller may be told its own words in an error of its own body, and nothing else.
  const answers = told.split('\n').filter((line) => !/unsupported_type|invalid_request/.test(line))
  for (const secret of secrets) expect(answers.find((line) => line.includes(secret))).toBe(undefined)
})
