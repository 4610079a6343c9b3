// One answer for many users: a slot each, in their order. A user whose state cannot be had gets an error in the slot;
// where no slot can be filled the whole call fails, so that nothing is charged for nothing.

import type { Failure } from '../../core/failure.ts'
import { ok, type Result } from '../../core/result.ts'
import type { Sources } from '../ports.ts'
import { type Answer, latenessOf } from '../query.ts'
import { failedSlot } from './failed-slot.ts'
import { fanOut } from './fan-out.ts'

/** `ask` answers one user; its bytes stand in the slot unchanged. `users` is not empty. */
export async function batch(
  users: readonly string[],
  ask: (user: string) => Promise<Result<Answer, Failure>>,
  from: Pick<Sources, 'after'>,
): Promise<Result<Answer, Failure>> {
  const answers = await fanOut(users, ask, from)
  const [first] = answers
  if (first && !first.ok && answers.every(({ ok }) => !ok)) return first
  const slots = answers.map((answer, i) =>
    answer.ok ? answer.value.body : failedSlot({ user: users[i] ?? '' }, answer.error),
  )
  return ok({ body: `[${slots.join(',')}]`, ...latenessOf(answers) })
}
