// E-mails, and the addresses that they go to. Invariants of addresses: no character can end a header or a line; all variants
// of an address have one normalized form.

import { err, ok, type Result } from '../../core/result.ts'

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  /** The link that the mail is about. */
  readonly link: string
  readonly headers?: Readonly<Record<string, string>>
}

const LENGTH_MAX = 254
/** Plain ASCII without quotes, spaces or brackets, as mail providers issue them. */
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const DOMAIN = new RegExp(`^(?:${LABEL}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$`)

/** Gmail ignores dots in names, and both domains are the same mailbox. */
const GMAIL = ['gmail.com', 'googlemail.com']

export interface MailAddress {
  readonly address: string
  /** Normalized form, equal for all variants of an address. */
  readonly base: string
}

/** Validates and normalizes an address. `refused`: blocked domains, including subdomains. */
export function mailAddress(sent: string, refused: readonly string[]): Result<MailAddress, string> {
  const address = sent.trim().toLowerCase()
  const at = address.lastIndexOf('@')
  const name = address.slice(0, at)
  const domain = address.slice(at + 1)
  if (at < 1 || address.length > LENGTH_MAX || name.length > 64 || !LOCAL.test(name) || !DOMAIN.test(domain))
    return err('must be an e-mail address such as you@example.com')
  if (refused.some((each) => domain === each || domain.endsWith(`.${each}`)))
    return err('has a domain that is not accepted. Use a different address')
  const untagged = name.split('+')[0] || name
  const isGmail = GMAIL.includes(domain)
  const base = `${isGmail ? untagged.replaceAll('.', '') : untagged}@${isGmail ? GMAIL[0] : domain}`
  return ok({ address, base })
}
