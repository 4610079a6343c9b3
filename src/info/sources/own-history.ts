// The completed trades of a wallet as far as its fills are held.

import type { Failure } from '../../core/failure.ts'
import { ok, type Result } from '../../core/result.ts'
import { acrossGap, foldTrades, noTrades } from '../../history/completed-trades.ts'
import type { HeldFills } from '../../history/held-runs.ts'
import type { CompletedTrade } from '../../history/open-trade.ts'
import type { Sources } from '../ports.ts'
import type { Answer } from '../query.ts'

/** Oldest first, with what they were made of. */
export interface OwnTrades {
  readonly held: HeldFills
  readonly trades: readonly CompletedTrade[]
}

/** Folds all that is held of a wallet; nothing is carried over a gap. */
export async function ownTrades(
  user: string,
  { history }: Pick<Sources, 'history'>,
): Promise<Result<OwnTrades, Failure>> {
  const held = await history.held({ by: 'user', address: user })
  if (!held.ok) return held
  let state = noTrades(user)
  const trades = held.value.runs.flatMap((blocks) => {
    const folded = foldTrades(acrossGap(state), blocks)
    state = folded.state
    return folded.trades
  })
  return ok({ held: held.value, trades })
}

/** An answer that says how far back it reaches. */
export function heldAnswer(value: unknown, { head, since }: HeldFills): Answer {
  return { body: JSON.stringify(value), height: head.height, since }
}
