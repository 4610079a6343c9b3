// Rows of a topic with state that a repair completes: candles and trades that touch the repaired heights. The blocks
// around these heights are read again by two folds. For the second one, the repaired heights are still missing. Offered
// are the rows that only the first one has. Invariants: a row is offered by the repair that completes it, and by no
// other; reading ends once both folds have the same state, or at the cursor, which then continues with the first one.

import type { ArchiveReader, RepairedHeights } from '../../archive/archive/archive-read.ts'
import type { Target } from '../../relay/channel.ts'
import type { Reread, TopicBlock, TopicDefinition, TopicFold } from '../topics/topic.ts'

interface RereadState {
  /** State of the fold with the repaired heights, and of the one without them. */
  readonly repaired: string | null
  readonly before: string | null
  /** Time of the last repaired block that was read; null: none yet. */
  readonly repairedMs: number | null
}

/** The states of the folds are compared at multiples of this height. */
const COMPARE_EVERY = 16

/** `repair`: the repaired heights. `state`: state of an earlier fold of the same repair. */
export function rereadFold(
  definition: Pick<TopicDefinition, 'open'>,
  { maxAfterMs, lasting }: Reread,
  target: Target | null,
  repair: Pick<RepairedHeights, 'from' | 'to'>,
  state: string | null,
): TopicFold {
  const start: RereadState = state === null ? { repaired: null, before: null, repairedMs: null } : JSON.parse(state)
  const repaired = definition.open(target, start.repaired)
  const before = definition.open(target, start.before)
  let { repairedMs } = start
  let isDone = false
  const stateOf = (fold: TopicFold) => fold.state?.() ?? null
  const isOver = ({ height, time }: TopicBlock) =>
    repairedMs === null ||
    time - repairedMs > maxAfterMs ||
    (height % COMPARE_EVERY === 0 && lasting(stateOf(repaired)) === lasting(stateOf(before)))
  return {
    parse: (line, rows) => repaired.parse(line, rows),
    rows: (block) => {
      const { height, time } = block
      const isRepaired = repair.from <= height && height <= repair.to
      if (isRepaired) {
        before.onGap?.()
        repairedMs = time
      }
      const rows = repaired.rows(block).filter(({ _kind }) => _kind === 'row')
      const known = new Set(isRepaired ? [] : before.rows(block).map(({ _key }) => _key))
      isDone = height > repair.to && isOver(block)
      return rows.filter(({ _key }) => !known.has(_key))
    },
    onGap: () => {
      repaired.onGap?.()
      before.onGap?.()
    },
    state: () =>
      JSON.stringify({ repaired: stateOf(repaired), before: stateOf(before), repairedMs } satisfies RereadState),
    isDone: () => isDone,
  }
}

/** The state with which a cursor continues that the folds have reached. */
export function stateAfterReread(state: string): string | null {
  return (JSON.parse(state) as RereadState).repaired
}

/** The height from which blocks are read again for heights that were repaired from `from` on. */
export async function rereadFrom(
  archive: Pick<ArchiveReader, 'segmentsFrom'>,
  from: number,
  target: Target | null,
  { fromMs }: Pick<Reread, 'fromMs'>,
): Promise<number> {
  const [last] = await archive.segmentsFrom({ height: from - 1 }, 1)
  if (last === undefined || last.first >= from) return from
  const timeMs = fromMs(target, last.firstMs)
  const [start] = await archive.segmentsFrom({ timeMs }, 1)
  if (start === undefined) return from
  // The block before that time shows that all blocks after it are known.
  return Math.max(0, Math.min(from, start.firstMs > timeMs ? start.first - 1 : start.first))
}
