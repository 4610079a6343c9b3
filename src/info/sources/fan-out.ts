// One question to the upstream per item, a few at a time: a Worker has six connections, and a request that waits for
// one would use up its timeout in the queue. All of them together are bounded, so that nothing that hangs holds the rest.
// A part that cannot be had, where others can, holds an error: its key `error` tells it from a state, so that it never
// reads as an empty account.

import * as z from 'zod'
import { orFallback } from '../../core/deadline.ts'
import { type Failure, failureMessage } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { Address } from '../../protocol/feed/block.ts'
import type { Sources } from '../ports.ts'
import { type InfoAnswer, latenessOf } from '../query.ts'

const CONCURRENCY = 6

/** Bound of all questions of one call together: above one timeout of a source, far below that of a flight. */
export const FAN_OUT_MAX_MS = 5_000

const LATE: Failure = { kind: 'upstream_timeout', source: 'exchange' }

/** The answers in the order of the items; what was not answered in time has timed out. `ask` must not reject. */
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

/** The text of a slot: whose it is, and why it failed. */
export function failedSlot(whose: { readonly user: Address } | { readonly dex: string }, failure: Failure): string {
  return JSON.stringify({ error: 'upstream_error', ...whose, message: failureMessage(failure) })
}

/** A slot for each of one or more users, with the bytes of `ask`. Where no slot is filled the call fails uncharged. */
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
