import { describe, expect, it } from 'vitest'
import { mailAddress } from '../../../src/http/mail/mail.ts'
import { SignUpSettings } from '../../../src/http/signup/signup-bounds.ts'

const read = (text: string, refused: readonly string[] = []) => {
  const address = mailAddress(text, refused)
  return address.ok ? [address.value.address, address.value.base] : address.error
}

describe('an address', () => {
  it.each([
    ['you@example.com', 'you@example.com', 'you@example.com'],
    [' You@Example.COM ', 'you@example.com', 'you@example.com'],
    ['you+weir+2@example.com', 'you+weir+2@example.com', 'you@example.com'],
    ['y.o.u@example.com', 'y.o.u@example.com', 'y.o.u@example.com'],
    ['Y.o.u+1@googlemail.com', 'y.o.u+1@googlemail.com', 'you@gmail.com'],
    ['+1@example.com', '+1@example.com', '+1@example.com'],
    ["o'neil@xn--bcher-kva.example", "o'neil@xn--bcher-kva.example", "o'neil@xn--bcher-kva.example"],
  ])('%j is sent to %s and shares the trial of %s', (text, address, base) => {
    expect(read(text)).toEqual([address, base])
  })

  it.each([
    '',
    'you',
    '@example.com',
    'you@',
    'you@example',
    'you@@example.com',
    'a@b@example.com',
    '.you@example.com',
    'you.@example.com',
    'y..u@example.com',
    'you@-example.com',
    'you@example..com',
    'you@127.0.0.1',
    'you@[127.0.0.1]',
    'you@localhost',
    'you@example.com\r\nBcc: all@example.com',
    'you\n@example.com',
    'you@example.com,me@example.com',
    'you@example.com; me',
    'you me@example.com',
    '"you"@example.com',
    'You <you@example.com>',
    'you@exámple.com',
    'yöu@example.com',
    'you@example.com\u0000',
    `${'y'.repeat(65)}@example.com`,
    `you@${'e'.repeat(64)}.com`,
    `you@${'e.'.repeat(130)}com`,
  ])('rejects %j', (text) => {
    expect(read(text)).toBe('must be an e-mail address such as you@example.com')
  })

  it('of a blocked domain or subdomain is rejected', () => {
    for (const text of ['you@throw.example', 'you@mx.throw.example'])
      expect(read(text, ['throw.example'])).toContain('domain')
    expect(read('you@notthrow.example', ['throw.example'])).toHaveLength(2)
  })
})

describe('the settings', () => {
  it('have default limits', () => {
    expect(SignUpSettings.parse({})).toEqual({ perDay: 200, refusedDomains: [] })
  })

  it.each([
    { perDay: 0 },
    { refusedDomains: ['A.example'] },
    { mailer: { url: 'http://mail.example', from: 'a@b.example' } },
    { mailer: { url: 'https://mail.example', from: 'a@b.example\r\nBcc: c@d.example' } },
    { mailer: { url: 'https://mail.example' } },
    { more: 1 },
  ])('reject %j', (value) => {
    expect(SignUpSettings.safeParse(value).success).toBe(false)
  })
})
