import { describe, expect, it } from 'vitest'
import { isSameOrigin, noSessionCookie, sessionCookie, sessionToken } from '../../src/accounts/sessions/session.ts'

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
