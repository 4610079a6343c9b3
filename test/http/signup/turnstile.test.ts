// The sign-up challenge against a fake siteverify server.

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { policyWithTurnstile, turnstile } from '../../../src/http/signup/turnstile.client.ts'
import { type HttpServer, startServer } from '../../kit/http-server.ts'

const GOOD = { success: true, 'error-codes': [], hostname: 'weir.example', action: 'sign-up' }
let server: HttpServer
/** Null: no response. */
let answer: [status: number, text: string] | null
const seen: object[] = []
const told: unknown[] = []

beforeAll(async () => {
  server = await startServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push(JSON.parse(body))
    if (answer !== null) response.writeHead(answer[0], { 'content-type': 'application/json' }).end(answer[1])
  })
})
afterAll(() => server.close())
beforeEach(() => {
  seen.splice(0)
  told.splice(0)
})

const check = (timeoutMs = 5_000) =>
  turnstile({ secret: 'the-secret', verifyUrl: server.url, timeoutMs, report: (error) => void told.push(error) })
const outcome = async (said: object | string, status = 200) => {
  answer = [status, typeof said === 'string' ? said : JSON.stringify(said)]
  return (await check()('token', 'weir.example', '192.0.2.1'))?.kind ?? 'passed'
}

it('accepts a token solved on this host for this action', async () => {
  expect(await outcome(GOOD)).toBe('passed')
  expect(seen).toEqual([{ secret: 'the-secret', response: 'token', remoteip: '192.0.2.1' }])
  await check()('token', 'weir.example', null)
  expect(seen[1]).toEqual({ secret: 'the-secret', response: 'token' })
})

it('rejects unsolved, reused and foreign tokens', async () => {
  for (const said of [
    { success: false, 'error-codes': ['timeout-or-duplicate'] },
    { ...GOOD, hostname: 'other.example' },
    { ...GOOD, action: 'login' },
    { success: true },
  ])
    expect(await outcome(said)).toBe('bad_field')
  expect(await check()(undefined, 'weir.example', null)).toMatchObject({ kind: 'bad_field' })
  expect([seen.length, told]).toEqual([4, []])
})

it('fails closed and alerts the operator if there is no clear verdict', async () => {
  expect(await outcome({ success: false, 'error-codes': ['invalid-input-secret'] })).toBe('unavailable')
  expect(await outcome('<html>', 502)).toBe('unavailable')
  expect(await outcome(`{"success":true,"more":"${'x'.repeat(20_000)}"}`)).toBe('unavailable')
  answer = null
  expect(await check(50)('token', 'weir.example', null)).toMatchObject({ kind: 'unavailable', retryAfterMs: 10_000 })
  expect(told).toHaveLength(4)
  expect(String(told)).not.toMatch(/the-secret|token/)
})

it('allows only the widget in the content security policy', () => {
  const policy = "default-src 'none'; script-src 'self'; style-src 'self'"
  expect(policyWithTurnstile(policy)).toBe(
    "default-src 'none'; script-src 'self' https://challenges.cloudflare.com; style-src 'self'; frame-src https://challenges.cloudflare.com",
  )
})
