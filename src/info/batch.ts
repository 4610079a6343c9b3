// One answer for many users: a slot each, in their order. A user whose state cannot be had gets an error in the slot;
// where no slot can be filled the whole call fails, so that nothing is charged for nothing.

import * as z from 'zod'
import { type Failure, failureMessage } from '../core/failure.ts'
import { ok, type Result } from '../core/result.ts'
import { fanOut } from './fan-out.ts'
import type { Answer } from './query.ts'

/** A slot without a state, told apart by its key `error`. */
export const FailedSlot = z
  .object({ error: z.literal('upstream_error'), user: z.string(), message: z.string() })
  .meta({ id: 'FailedSlot' })

/** `ask` answers one user; its bytes stand in the slot unchanged. `users` is not empty. */
export async function batch(
  users: readonly string[],
  ask: (user: string) => Promise<Result<Answer, Failure>>,
): Promise<Result<Answer, Failure>> {
  const answers = await fanOut(users, ask)
  const [first] = answers
  if (first && !first.ok && answers.every(({ ok }) => !ok)) return first
  const slots = answers.map((answer, i) => (answer.ok ? answer.value.body : failedSlot(users[i]!, answer.error)))
  return ok({ body: `[${slots.join(',')}]` })
}

function failedSlot(user: string, failure: Failure): string {
  const slot: z.infer<typeof FailedSlot> = { error: 'upstream_error', user, message: failureMessage(failure) }
  return JSON.stringify(slot)
}
