// Sends e-mails: by the operator's mail API, or to the gateway's log. Invariants: an address is sent only to the mail API;
// its response body is not read.

import { logEvent } from '../../core/log.client.ts'
import type { Mail } from './mail.ts'

/** Rejects if the mail was not accepted. */
export type Mailer = (mail: Mail) => Promise<void>

/** The mail API: accepts `{from, to, subject, text, headers}` with a bearer token. */
interface MailApi {
  readonly url: string
  readonly from: string
}

export interface MailerSettings {
  readonly SIGNUP: 'off' | 'log' | 'http'
  readonly SIGNUP_SETTINGS: { readonly mailer?: MailApi | undefined }
  readonly PUBLIC_URL: string
}

export interface MailerEnv {
  /** Bearer token for the mail API. */
  readonly SIGNUP_MAILER_TOKEN?: string
}

const TIMEOUT_MS = 10_000

/** Null if this gateway sends no e-mails. `event`: how a mail is logged instead. */
export function mailerOf(
  { SIGNUP_MAILER_TOKEN: token }: MailerEnv,
  { SIGNUP, SIGNUP_SETTINGS: { mailer }, PUBLIC_URL: publicUrl }: MailerSettings,
  event: 'sign_up_link' | 'alert_mail',
): Mailer | null {
  if (SIGNUP === 'log') return async ({ subject, link }) => logEvent(event, { link, subject })
  // Links need an address.
  return mailer && token && publicUrl ? httpMailer(mailer, token) : null
}

/** Sends with Resend's API, or any service that implements it. */
const httpMailer =
  ({ url, from }: MailApi, token: string): Mailer =>
  async ({ to, subject, text, headers }) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ from, to: [to], subject, text, headers }),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await response.body?.cancel()
    if (!response.ok) throw new Error(`the mail API returned ${response.status}`)
  }
