import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ADMIN_OPERATOR,
  hasRole,
  parseStaffToken,
  randomStaffTokenBody,
  STAFF_ROLES,
} from '../../../src/accounts/staff.ts'
import { accountIn, auditRow } from '../../../src/http/platform/audit.ts'
import { StaffName } from '../../../src/http/platform/endpoints/staff.ts'

const asked = (over: object = {}) =>
  auditRow({
    operator: ADMIN_OPERATOR,
    action: 'grantCredits',
    path: '/admin/accounts/{id}/grants',
    params: { id: 'acme' },
    query: {},
    body: { credits: 5 },
    requestId: 'req_1',
    ...over,
  })

describe('an audit row', () => {
  it('records who requested what', () => {
    expect(asked()).toEqual({
      name: 'operator',
      role: 'owner',
      action: 'grantCredits',
      target: 'acme',
      account: 'acme',
      sent: '{"body":{"credits":5}}',
      requestId: 'req_1',
    })
    const key = { path: '/admin/keys', params: {}, query: { a: '1' }, body: { account: 'other' } }
    expect(asked(key)).toMatchObject({
      target: '',
      account: 'other',
      sent: expect.stringContaining('"query":{"a":"1"}'),
    })
    expect(asked({ path: '/admin/feed/reset', params: {}, body: undefined })).toMatchObject({
      account: null,
      sent: '{}',
    })
    expect(accountIn({ account: 5 })).toBe(null)
  })

  it('contains no secret', () => {
    const secrets = [
      'cqt_9fKxWq2TbNkRzd5mYvHs4uJwXe',
      `${randomStaffTokenBody((bytes) => new Uint8Array(bytes).fill(7))}12345678`,
      'cqe_eyJ2IjoxLC-_.0uJ4yQ3m1v8s7w6x5z4b3c2d1e0f9g8h7i6j5k4l3m2',
    ]
    for (const secret of secrets) {
      const row = asked({
        params: { id: secret },
        query: { key: secret },
        body: { label: `x ${secret} y`, list: [secret], token: secret, account: secret, [secret]: 1 },
      })
      expect(JSON.stringify(row)).not.toContain(secret.slice(0, 13))
      expect(row.target).toBe(`${secret.slice(0, 12)}…`)
    }
    const body = {
      url: 'https://user:pass@hooks.example/T0/B1/xyz?sig=1',
      secret: 's',
      new_secret: true,
      password: 'p',
    }
    expect(asked({ body }).sent).toBe(
      '{"body":{"url":"https://hooks.example/…","secret":"******","new_secret":true,"password":"******"}}',
    )
  })

  it('escapes invisible characters and is bounded in size', () => {
    const row = asked({ params: { id: 'a\n\u202eb\u0000' }, body: { label: '\u001b[2J😀' } })
    expect(row.target).toBe('a\\u000a\\u202eb\\u0000')
    expect(row.sent).not.toMatch(/\p{C}/u)
    expect(row.sent).toContain('😀')
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 12_000 }), fc.jsonValue(), (text, json) => {
        const { target, sent } = asked({ params: { id: text }, body: { text, json } })
        expect(target.length).toBeLessThanOrEqual(256)
        expect(sent.length).toBeLessThanOrEqual(4_000)
        expect(target + sent).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
      }),
    )
    expect(asked({ body: { label: '\u0000'.repeat(10_000) } }).sent.length).toBeLessThanOrEqual(4_000)
  })
})

describe('names and roles', () => {
  it('are plain ASCII and differ from the name of ADMIN_TOKEN', () => {
    for (const name of ['kim', 'kim.lee@example.com', 'A-1_b+c']) expect(StaffName.safeParse(name).success).toBe(true)
    for (const name of ['', 'operator', 'OPERATOR', 'a b', 'a\nb', '😀', 'x'.repeat(65), '-x', '=cmd', 'kim\u202e'])
      expect([name, StaffName.safeParse(name).success]).toEqual([name, false])
  })

  it('include the rights of lower roles', () => {
    const table = STAFF_ROLES.map((role) => STAFF_ROLES.map((needed) => hasRole(role, needed)))
    expect(table).toEqual([
      [true, false, false],
      [true, true, false],
      [true, true, true],
    ])
  })

  it('have tokens of one format', () => {
    const drawn = randomStaffTokenBody((bytes) => crypto.getRandomValues(new Uint8Array(bytes)))
    const token = `${drawn}9fKxWq2T`
    expect(token).toMatch(/^cqo_.{40}$/)
    expect(parseStaffToken(token)).toEqual({ signed: drawn, check: '9fKxWq2T' })
    for (const wrong of ['', 'cqo_', `${token}1`, token.slice(1), `${token}\n`, token.replace('cqo', 'cqt')])
      expect(parseStaffToken(wrong)).toBe(null)
  })
})
