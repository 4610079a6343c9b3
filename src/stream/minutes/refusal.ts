// Why a first minute was not granted, as the failure that its client is told.

import { creditsShort, type Failure, KEY_ENDED } from '../../core/failure.ts'
import type { MicroCredits } from '../../credit/amount.ts'
import { limitsOf } from '../../credit/plans/plan.ts'
import type { MinuteAnswer } from '../../credit/streams/stream-api.ts'
import type { Identity } from '../../key/identity.ts'
import { LIMIT_FIELDS } from '../../key/limits.ts'
import { visitorsBusy } from '../../key/stream-token.ts'

/** `price` is the minute's. */
export function refusal(answer: MinuteAnswer & { ok: false }, price: MicroCredits, identity: Identity): Failure {
  switch (answer.reason) {
    case 'revoked':
      return KEY_ENDED
    case 'limit': {
      const most = limitsOf(identity).streamSubscriptions
      const limit = LIMIT_FIELDS.streamSubscriptions
      const hint = `${limit}: this account's plan allows ${most} at a time: end some, or ask for a larger plan`
      return { kind: 'limit_reached', limit, most, hint }
    }
    case 'exhausted': {
      const { remaining: remainingMicro, cap: capMicro } = answer
      const sums = { neededMicro: price, remainingMicro, capMicro, byToken: identity.token !== undefined }
      const short = { kind: 'credits_exhausted', ...sums } as const
      return { ...short, hint: creditsShort('a minute', short) }
    }
    case 'busy':
      return visitorsBusy(answer.busyMs)
    case 'ended':
      return { kind: 'unavailable', what: 'the data', hint: 'it was lost on its way: subscribe again' }
  }
}
