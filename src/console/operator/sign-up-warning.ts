// A warning for the overview page when the day’s sign-up links run out.

import type { Responses } from '../responses.ts'
import * as strings from './strings.ts'

/** Null while enough links are left. */
export function signUpWarning(signUp: Responses['business']['sign_up']): string | null {
  if (signUp === null) return null
  const { per_day: perDay, links, networks, most_of_network: ofNetwork, domains, most_of_domain: ofDomain } = signUp
  if (links < (perDay * 3) / 4) return null
  const by = networks === 0 ? strings.signUpWarningUnknownNetworks : strings.signUpWarningNetworks(networks, ofNetwork)
  const used = strings.signUpWarningUsed(links, perDay, by, domains, ofDomain)
  return `${used} ${links < perDay ? strings.signUpWarningReserved : strings.signUpWarningExhausted}`
}
