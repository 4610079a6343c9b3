// One question to the upstream per item, a few at a time: a Worker has six connections, and a request that waits for
// one would use up its timeout in the queue. All of them together are bounded, so that nothing that hangs holds the rest.

import { orLate } from '../../core/deadline.ts'
import type { Failure } from '../../core/failure.ts'
import { err, type Result } from '../../core/result.ts'
import type { Sources } from '../ports.ts'

const AT_ONCE = 6

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
  await orLate(Promise.all(Array.from({ length: AT_ONCE }, worker)), FAN_OUT_MAX_MS, null, after)
  isOver = true
  return answers as { readonly [At in keyof Items]: Result<T, Failure> }
}
