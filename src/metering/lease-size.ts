// How large a lease is: the meter's side of sharing a balance among isolates.
// Law: never more than is available; near the end of a balance exactly what waiting calls need, so that
// the last credit is found by whoever asks and not held by an idle isolate.

import type { MicroCredits } from '../core/amount.ts'
import type { AccountState } from './account-state.ts'
import type { LeaseRequest } from './lease-api.ts'

/** A forecast may take at most this part of what is available: many isolates share it. */
const FORECAST_SHARE = 16

/** Below this multiple of the call at hand, every call goes to the meter. */
const CALL_BY_CALL_BELOW = 64

/** An account with more than 1 % of its spending written off gets no forecasts. */
const WRITTEN_OFF_SHARE = 100

/** Micro-credits to add to a lease; null where less than `need` is available. */
export function grantSize(
  account: AccountState,
  request: Pick<LeaseRequest, 'need' | 'waiting' | 'forecast'>,
): MicroCredits | null {
  const { available } = account
  if (available < request.need) return null
  const waiting = request.need === 0 ? 0 : Math.min(Math.max(request.waiting, request.need), available)
  const callByCall =
    available < request.need * CALL_BY_CALL_BELOW || account.writtenOff * WRITTEN_OFF_SHARE > account.spent
  if (callByCall) return waiting
  return Math.max(waiting, Math.min(request.forecast, Math.floor(available / FORECAST_SHARE)))
}
