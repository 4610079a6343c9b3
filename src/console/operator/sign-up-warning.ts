// What the overview says where the day's links of the sign-up run out.

import type { Responses } from '../responses.ts'

/** Null: there is room. */
export function signUpWarning(signUp: Responses['business']['sign_up']): string | null {
  if (signUp === null) return null
  const { per_day: perDay, links, networks, most_of_network: ofNetwork, domains, most_of_domain: ofDomain } = signUp
  if (links < (perDay * 3) / 4) return null
  const by = networks === 0 ? 'networks that are not known' : `${networks} networks, at most ${ofNetwork} from one`
  const used = `${links} of ${perDay} sign-up links of the last 24 hours are used: by ${by}; to ${domains} domains, at most ${ofDomain} to one.`
  const now =
    links < perDay
      ? 'The rest is for networks that had none.'
      : 'Only owners of accounts get links now. Raise "perDay" of SIGNUP_SETTINGS, or set "turnstileSiteKey" there.'
  return `${used} ${now}`
}
