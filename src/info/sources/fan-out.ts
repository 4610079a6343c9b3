// Runs one upstream request per item with limited concurrency. A Worker can have six open connections, and a request
// that waits for a connection would use up its timeout. The total time is bounded, so that one hanging request does not
// block the rest. If only some parts fail, each failed part is an object with `error`, so that it cannot be read as an
// empty account.

import * as z from 'zod'
import { orFallback } from '../../core/deadline.ts'
import { type Failure, failureMessage } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { Address } from '../../protocol/feed/block.ts'
import type { Sources } from '../ports.ts'
import { type InfoAnswer, latenessOf } from '../query.ts'

const CONCURRENCY = 6

/** Time limit of all requests of one call: above the timeout of a source, far below FLIGHT_MAX_MS. */
export const FAN_OUT_MAX_MS = 5_000

const LATE: Failure = { kind: 'upstream_timeout', source: 'exchange' }

/** Results in item order; unfinished ones are timeouts. `ask` must not reject. */
export async function fanOut<const Items extends readonly unknown[], T>(
  items: Items,
  ask: (item: Items[number]) => Promise<Result<T, Failure>>,
  { after }: Pick<Sources, 'after'>,
): Promise<{ readonly [At in keyof Items]: Result<T, Failure> }> {
  const answers: Result<T, Failure>[] = items.map(() => err(LATE))
  const rest = items.entries()
  let isOver = false
  const worker = async () => {
    for (const [index, item] of rest) {
      const answer = await ask(item)
      if (isOver) return
      answers[index] = answer
    }
  }
  await orFallback(Promise.all(Array.from({ length: CONCURRENCY }, worker)), FAN_OUT_MAX_MS, null, after)
  isOver = true
  return answers as { readonly [At in keyof Items]: Result<T, Failure> }
}

const Slot = z.object({ error: z.literal('upstream_error'), message: z.string() })

export const FailedUser = Slot.extend({ user: Address }).meta({ id: 'FailedUser' })

export const FailedDex = Slot.extend({ dex: z.string() }).meta({ id: 'FailedDex' })

/** JSON of a failed slot: its user or DEX, and the reason. */
export function failedSlot(whose: { readonly user: Address } | { readonly dex: string }, failure: Failure): string {
  return JSON.stringify({ error: 'upstream_error', ...whose, message: failureMessage(failure) })
}

/** Returns one slot per user with the bytes of `ask`. If all slots fail, the call fails and is free. */
export async function batch(
  users: readonly string[],
  ask: (user: Address) => Promise<Result<InfoAnswer, Failure>>,
  from: Pick<Sources, 'after'>,
): Promise<Result<InfoAnswer, Failure>> {
  const answers = await fanOut(users, ask, from)
  const [first] = answers
  if (first && !first.ok && answers.every(({ ok }) => !ok)) return first
  const slots = answers.map((answer, i) =>
    answer.ok ? answer.value.body : failedSlot({ user: users[i] ?? '' }, answer.error),
  )
  return ok({ body: `[${slots.join(',')}]`, ...latenessOf(answers) })
}
