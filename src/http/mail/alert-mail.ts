// E-mails about alerts. Invariants (test/http/mail/alert-mail.test.ts): they are plain text; what an owner named stays on its line and has no invisible
// characters; each one has a link that ends them, which mail programs can call by themselves (RFC 8058); nothing answers
// them automatically.

import { visible } from '../../core/visible.ts'
import type { AlertText } from '../../metering/alerts/alert-event.ts'
import type { Mail } from './mail.ts'

const SUBJECT_NAME_CHARS = 60
const STATES = { 'alert.fired': 'Alert', 'alert.resolved': 'Resolved', 'alert.test': 'Test' } as const

interface MailLinks {
  /** Host of the gateway; empty: not known. */
  readonly host: string
  /** Ends mails to this address. */
  readonly unsubscribe: string
}

const from = (host: string) => host || 'this gateway'

const headers = ({ unsubscribe }: MailLinks) => ({
  'List-Unsubscribe': `<${unsubscribe}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  'Auto-Submitted': 'auto-generated',
  'X-Auto-Response-Suppress': 'All',
})

export function alertMail(to: string, alert: AlertText, console: string, links: MailLinks): Mail {
  const name = visible(alert.name)
  const short = name.length > SUBJECT_NAME_CHARS ? `${name.slice(0, SUBJECT_NAME_CHARS)}…` : name
  return {
    to,
    link: console,
    subject: `${STATES[alert.type]}: ${short} (${visible(alert.account)})`,
    text: `${STATES[alert.type]}: ${name}

${visible(alert.message)}

Account: ${visible(alert.account)}
Time: ${new Date(alert.created).toISOString().replace('T', ' ').slice(0, 19)} UTC
Rules and history: ${console}

To stop these e-mails from ${from(links.host)}, open ${links.unsubscribe}
`,
    headers: headers(links),
  }
}

export function confirmationMail(to: string, account: string, confirm: string, links: MailLinks): Mail {
  return {
    to,
    link: confirm,
    subject: `Confirm alerts of the account ${visible(account)}`,
    text: `The account ${visible(account)} of ${from(links.host)} wants to send alerts to this address. To allow that, open this link and confirm:

${confirm}

The link works once and expires in 7 days. If you do not expect it, ignore this e-mail, and no alerts are sent.
`,
    headers: headers(links),
  }
}
