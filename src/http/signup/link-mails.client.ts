// E-mails with links: to sign in, and to join an account. Invariant: a mail contains nothing that an inviter could choose
// freely.

import { INVITATION_LIFE_MS, type MemberRole } from '../../accounts/members.ts'
import type { AccountId } from '../../core/ids.ts'
import { DAY_MS } from '../../core/time.ts'
import type { Mail } from '../mail/mail.ts'
import { type MailerEnv, type MailerSettings, mailerOf } from '../mail/mailer.client.ts'

export interface LinkMail {
  readonly to: string
  readonly link: string
  /** Absent: a sign-in link. */
  readonly invitation?: { readonly account: AccountId; readonly role: MemberRole }
}

/** Rejects if the mail was not accepted. */
export type LinkMailer = (mail: LinkMail) => Promise<void>

/** Null: this gateway sends no links. */
export function linkMailerOf(
  env: MailerEnv & { readonly KEY_SECRET?: string },
  settings: MailerSettings,
): LinkMailer | null {
  // Without the secret, addresses cannot be stored.
  if (settings.SIGNUP === 'off' || !env.KEY_SECRET) return null
  const mailer = mailerOf(env, settings, 'sign_up_link')
  const host = settings.PUBLIC_URL && new URL(settings.PUBLIC_URL).host
  return mailer && ((mail) => mailer(written(mail, host)))
}

function written({ to, link, invitation }: LinkMail, host: string): Mail {
  if (invitation === undefined) {
    const text = `Open this link to sign in to ${host}. If you are new, it creates your account and trial key.

${link}

The link works once and expires in 30 minutes. If you did not request it, ignore this e-mail.
`
    return { to, link, subject: `Your sign-in link for ${host}`, text }
  }
  const { account, role } = invitation
  const text = `You are invited to the account ${account} on ${host}, with the role "${role}". Open this link to accept:

${link}

The link works once and expires in ${INVITATION_LIFE_MS / DAY_MS} days. If you do not expect it, ignore this e-mail.
`
  return { to, link, subject: `Invitation to the account ${account} on ${host}`, text }
}
