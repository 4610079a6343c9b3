// Extracts staking events from a node's misc events, in the format of the node's ledger. `delta.type` is the public
// API's name for the kind of event. Unreadable events are skipped.

import * as z from 'zod'
import { Address, Decimal, type LedgerEvent } from './block.ts'

const baseFields = { user: Address, amount: Decimal }
type StakingAction = { readonly user: Address; readonly delta: LedgerEvent['delta'] }

/** Event names written by the node. Other events, such as validator rewards, are frequent and are not parsed. */
const KINDS: readonly (readonly [name: string, shape: z.ZodType<StakingAction>])[] = [
  [
    'Delegation',
    z
      .looseObject({ ...baseFields, validator: Address, is_undelegate: z.boolean() })
      .transform(({ user, validator, amount, is_undelegate: isUndelegate }) => {
        return { user, delta: { type: 'delegate', validator, amount, isUndelegate } }
      }),
  ],
  [
    'CDeposit',
    z.looseObject(baseFields).transform(({ user, amount }) => ({ user, delta: { type: 'cDeposit', amount } })),
  ],
  [
    'CWithdrawal',
    z
      .looseObject({ ...baseFields, is_finalized: z.boolean() })
      .transform(({ user, amount, is_finalized: isFinalized }) => {
        return { user, delta: { type: 'withdrawal', amount, phase: isFinalized ? 'finalized' : 'initiated' } }
      }),
  ],
]
const MILLIS = 'YYYY-MM-DDTHH:MM:SS.mmm'.length

/** Staking events in block order. */
export function stakingEvents(events: readonly unknown[] = []): LedgerEvent[] {
  return events.flatMap((event) => {
    const { time, hash, inner } = (event ?? {}) as Record<string, unknown>
    if (typeof time !== 'string' || typeof hash !== 'string') return []
    const timeMs = Date.parse(`${time.slice(0, MILLIS)}Z`)
    const fields = (inner ?? {}) as Record<string, unknown>
    const action = KINDS.flatMap(([name, shape]) => (name in fields ? [shape.safeParse(fields[name])] : []))[0]
    if (!action?.success || !(timeMs >= 0)) return []
    return [{ users: [action.data.user], time: timeMs, hash, delta: action.data.delta }]
  })
}
