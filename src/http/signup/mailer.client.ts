// Delivers sign-up links: by the operator's mail API, or to the gateway's log. Invariants: an address is sent only to
// the mail API; its response body is not read.

import type { SignUpSettings } from './signup-bounds.ts'

/** Rejects if the mail was not accepted. */
export type Mailer = (to: string, link: string) => Promise<void>

const TIMEOUT_MS = 10_000

export const logMailer =
  (log: (link: string) => void): Mailer =>
  async (_, link) =>
    log(link)

/** Sends with Resend's API, or any service that implements it. */
export const httpMailer =
  ({ url, from }: NonNullable<SignUpSettings['mailer']>, token: string, host: string): Mailer =>
  async (to, link) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ from, to: [to], subject: `Your sign-in link for ${host}`, text: mailText(host, link) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await response.body?.cancel()
    if (!response.ok) throw new Error(`the mail API returned ${response.status}`)
  }

function mailText(host: string, link: string): string {
  return `Open this link to sign in to ${host}. If you are new, it creates your account and trial key.

${link}

The link works once and expires in 30 minutes. If you did not request it, ignore this e-mail.
`
}
