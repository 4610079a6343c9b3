// Addresses of people who sign up. Laws: nothing in one can end a header or a line; what is asked for with an address is
// for that address alone; variants of one address share one trial.

import { err, ok, type Result } from '../../core/result.ts'

const LENGTH_MAX = 254
/** Plain ASCII, with no quotes, spaces or brackets: what providers of mail give out. */
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const DOMAIN = new RegExp(`^(?:${LABEL}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$`)

/** Dots in the names of these mean nothing, as their provider says, and both are the same. */
const GMAIL = ['gmail.com', 'googlemail.com']

export interface SignUpAddress {
  /** Where the link goes, and whose account it opens. */
  readonly address: string
  /** The same of all variants of an address: one trial each. */
  readonly base: string
}

/** The error says what is wrong with it. `refused`: domains, with what is below them. */
export function signUpAddress(sent: string, refused: readonly string[]): Result<SignUpAddress, string> {
  const address = sent.trim().toLowerCase()
  const at = address.lastIndexOf('@')
  const name = address.slice(0, at)
  const domain = address.slice(at + 1)
  if (at < 1 || address.length > LENGTH_MAX || name.length > 64 || !LOCAL.test(name) || !DOMAIN.test(domain))
    return err('must be an e-mail address such as you@example.com')
  if (refused.some((each) => domain === each || domain.endsWith(`.${each}`)))
    return err('addresses of this domain are not taken here: use another one')
  const untagged = name.split('+')[0] || name
  const isGmail = GMAIL.includes(domain)
  const base = `${isGmail ? untagged.replaceAll('.', '') : untagged}@${isGmail ? GMAIL[0] : domain}`
  return ok({ address, base })
}
