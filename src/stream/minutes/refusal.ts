// Why a first minute was not granted, as the failure that its client is told.

import type { Failure } from '../../core/failure.ts'
import type { MicroCredits } from '../../credit/amount.ts'
import { formatCredits } from '../../credit/amount.ts'
import { limitsOf } from '../../credit/plans/plan.ts'
import type { MinuteAnswer } from '../../credit/streams/stream-api.ts'
import type { Identity } from '../../key/identity.ts'
import { LIMIT_FIELDS } from '../../key/limits.ts'

/** `price` is the minute's. */
export function refusal(answer: MinuteAnswer & { ok: false }, price: MicroCredits, identity: Identity): Failure {
  switch (answer.reason) {
    case 'revoked':
      return { kind: 'key_revoked' }
    case 'limit': {
      const most = limitsOf(identity).streamSubscriptions
      const limit = LIMIT_FIELDS.streamSubscriptions
      const hint = `${limit}: this account's plan allows ${most} at a time: end some, or ask for a larger plan`
      return { kind: 'limit_reached', limit, most, hint }
    }
    case 'exhausted': {
      const sums = `a minute costs ${formatCredits(price)} credits, ${formatCredits(answer.remaining)} remain`
      const hint = `${sums}: top up the account; GET /platform/key/ shows its balance`
      return { kind: 'credits_exhausted', neededMicro: price, remainingMicro: answer.remaining, hint }
    }
    case 'ended':
      return { kind: 'unavailable', what: 'the data', hint: 'it was lost on its way: subscribe again' }
  }
}
