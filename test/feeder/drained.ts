import type { OrderBookProjector } from '../../src/feeder/order-book-projector.ts'
import type { ModelNode } from './model-node.ts'

/** The result of steps that are run one right after the other. */
export function drained<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Applies the diffs of a node's block to order books. */
export function passed(keeper: OrderBookProjector, node: ModelNode, height: number) {
  const { time, lines } = node.block(height)!
  return drained(keeper.advance({ height, time }, JSON.parse(lines.get('diffs')!).events))
}
