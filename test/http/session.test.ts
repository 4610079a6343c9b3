import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSameOrigin, noSessionCookie, sessionCookie, sessionToken } from '../../src/accounts/sessions/session.ts'
import { browserOf, sessionPlace } from '../../src/accounts/sessions/session-client.ts'

const TOKEN = 'a1'.repeat(32)

describe('the cookie of a session', () => {
  it('is bound to this host and not readable by scripts', () => {
    expect(sessionCookie(TOKEN, 60)).toBe(`__Host-weir=${TOKEN}; Max-Age=60; Path=/; Secure; HttpOnly; SameSite=Strict`)
    expect(noSessionCookie()).toContain('Max-Age=0')
  })

  it('is found among other cookies', () => {
    expect(sessionToken(`a=b; __Host-weir=${TOKEN}; c`)).toBe(TOKEN)
  })

  it.each([
    ['no cookies', null],
    ['another name', `__Host-Weir=${TOKEN}`],
    ['another form', '__Host-weir=1'],
    ['two of them', `__Host-weir=${TOKEN}; __Host-weir=${TOKEN}`],
    ['something behind it', `__Host-weir=${TOKEN}x`],
  ])('is not found in %s', (_, cookies) => {
    expect(sessionToken(cookies)).toBeNull()
  })
})

describe('a page of this host', () => {
  const asked = (method: string, headers: Readonly<Record<string, string>>, url = 'https://weir.example/session') =>
    isSameOrigin({ method, url, headers: { get: (name) => headers[name] ?? null } })

  it('sends its own origin', () => {
    expect(asked('POST', { origin: 'https://weir.example', 'sec-fetch-site': 'same-origin' })).toBe(true)
    expect(asked('GET', { 'sec-fetch-site': 'same-origin' })).toBe(true)
    expect(asked('GET', {})).toBe(true)
  })

  it('may be behind a TLS-terminating proxy', () => {
    expect(asked('POST', { origin: 'https://weir.example' }, 'http://weir.example/session')).toBe(true)
  })

  it.each([
    ['another host', 'POST', { origin: 'https://evil.example' }],
    ['another port', 'POST', { origin: 'https://weir.example:8443' }],
    ['a host that begins alike', 'POST', { origin: 'https://weir.example.evil.example' }],
    ['a sandboxed page', 'POST', { origin: 'null' }],
    ['who says no origin', 'POST', {}],
    ['who says none and deletes', 'DELETE', {}],
    ['a sibling site', 'GET', { 'sec-fetch-site': 'same-site' }],
    ['another site', 'GET', { 'sec-fetch-site': 'cross-site' }],
  ])('is not %s', (_, method, headers) => {
    expect(asked(method, headers as Record<string, string>)).toBe(false)
  })
})

describe('the client of a session', () => {
  it.each([
    ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox on Windows'],
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36',
      'Chrome on Linux',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36 Edg/142.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15',
      'Safari on macOS',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
      'Safari on iOS',
    ],
    [
      'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Mobile Safari/537.36',
      'Chrome on Android',
    ],
    ['curl/8.5.0', 'curl'],
    [null, ''],
  ])('of %j is %j', (agent, expected) => {
    expect(browserOf(agent)).toBe(expected)
  })

  it('is never the text that was sent', () => {
    const names = /^(|[A-Za-z. ]+)$/
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), (agent) => {
        expect(browserOf(agent)).toMatch(names)
        expect(browserOf(agent).length).toBeLessThan(40)
      }),
    )
  })

  it.each([
    ['GB', '192.0.2.7', 'GB'],
    [undefined, '192.0.2.7', '192.0.2.0/24'],
    ['XX', '2001:db8:7:1::9', '2001:db8:7::/48'],
    ['<b>', null, ''],
  ])('in %j at %j is at %j', (country, address, expected) => {
    expect(sessionPlace(country, address)).toBe(expected)
  })
})
