// How often a key may connect: an upgrade costs a call of a relay and a question to its meter, whatever comes of it. Law:
// who has as many sockets as its plan allows may bring them all back at once, as after a deploy, and again 10 s later.

import type { Identity } from '../../accounts/identity.ts'
import type { RequestLimit } from '../../core/failure.ts'
import { limitsOf } from '../../metering/plans/plan.ts'

const WINDOW_S = 10
/** Beyond what the plan allows, so that whoever opens one socket too many hears that. */
const MORE = 50

/** Of one visitor with stream tokens. */
const TOKEN_CONNECTS = 20

export function connectLimit(identity: Identity): RequestLimit {
  return {
    name: 'connects',
    quota: identity.token ? TOKEN_CONNECTS : limitsOf(identity).streamConnections + MORE,
    windowSeconds: WINDOW_S,
  }
}
