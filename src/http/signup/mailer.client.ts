// How a link comes to whoever asked for it: by the mailer of the operator, or into the gateway's own log. Laws: an address
// reaches the mailer alone; the mailer is told what the mail says, and its answer is not read.

import type { SignUpSettings } from './signup-bounds.ts'

/** Rejects where it is not on its way. */
export type Mailer = (to: string, link: string) => Promise<void>

const TIMEOUT_MS = 10_000

export const logMailer =
  (log: (line: string) => void): Mailer =>
  async (_, link) =>
    log(`sign-up: ${link}`)

/** As Resend takes mails, and what speaks its API or is put before another provider. */
export const httpMailer =
  ({ url, from }: NonNullable<SignUpSettings['mailer']>, token: string, host: string): Mailer =>
  async (to, link) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ from, to: [to], subject: `Your link to ${host}`, text: mailText(host, link) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await response.body?.cancel()
    if (!response.ok) throw new Error(`the mailer answered ${response.status}`)
  }

function mailText(host: string, link: string): string {
  return `Open this link within 30 minutes to get your trial key at ${host}, or to come back to your account:

${link}

It opens once. If you did not ask for it, ignore this mail: without the link nothing happens.
`
}
