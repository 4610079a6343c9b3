import { describe, expect, it } from 'vitest'
import { alertMail, confirmationMail } from '../../../src/http/mail/alert-mail.ts'

describe('e-mails about alerts', () => {
  const alert = {
    id: 'evt_1',
    rule: 'alr_1',
    type: 'alert.fired',
    account: 'acme',
    created: 1_790_000_000_000,
    name: '<b>Errors</b>\r\nBcc: other@example.com\u202e',
    message: '12 of 150 calls.',
  } as const
  const links = { host: 'gateway.example', unsubscribe: 'https://gateway.example/alerts/unsubscribe?token=1' }

  it('keep a name on its line, and can be ended with one click', () => {
    const { subject, text, headers } = alertMail('ops@example.com', alert, 'https://gateway.example/console', links)
    expect(subject).not.toMatch(/[\p{C}]/u)
    expect(text).not.toMatch(/[\r\u202e]/)
    expect(text.split('\n')).not.toContainEqual(expect.stringMatching(/^Bcc/))
    expect(headers).toMatchObject({
      'List-Unsubscribe': `<${links.unsubscribe}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      'Auto-Submitted': 'auto-generated',
    })
    expect(text).toContain(links.unsubscribe)
  })

  it('have a subject of bounded length', () => {
    const { subject } = alertMail('a@example.com', { ...alert, name: '\u202e'.repeat(100) }, '', links)
    expect(subject.length).toBeLessThan(150)
  })

  it('ask for a confirmation once', () => {
    const { text, link } = confirmationMail('ops@example.com', 'acme', 'https://gateway.example/alerts/confirm', links)
    expect(link).toBe('https://gateway.example/alerts/confirm')
    expect(text).toContain('expires in 7 days')
  })
})
