// Files of the archive: how fast they are made, what a page of them costs whoever asks, and what they cost a month.

import { compaction } from './compaction.node.ts'
import { monthOf } from './history-cost.ts'
import { historyPages } from './history-pages.node.ts'
import { type Line, ms, times, whole } from './table.ts'
import type { Bench } from './targets.node.ts'

/** Of the exchange: some 7 million a day. */
const FILLS_A_SECOND = 81
const GOAL = 20

export async function fileLines({ quick, say }: Pick<Bench, 'quick' | 'say'>): Promise<Line[]> {
  const made = await compaction(quick, say)
  const speed = made.fillsASecond / FILLS_A_SECOND
  const { lines, rowBytes } = await historyPages(quick, say)
  const { dollars, included, kept, does } = monthOf({ ...made, rowBytes })
  return [
    {
      what: `compaction of ${whole(made.fills)} fills into minutes, hours and days; the slowest turn ${ms(made.slowestMs)}`,
      bare: `${FILLS_A_SECOND} fills/s (the exchange)`,
      weir: `${whole(made.fillsASecond)} fills/s`,
      ratio: times(speed),
      goal: `≥ ${GOAL}×`,
      met: speed >= GOAL,
    },
    ...lines,
    {
      what: `files of the exchange for a month: ${does}`,
      bare: `$${dollars.toFixed(2)} without what the plan includes`,
      weir: `$${included.toFixed(2)}; $${kept.toFixed(2)} a month for each year kept`,
      goal: '≤ $15, ≤ $3',
      met: included <= 15 && kept <= 3,
    },
  ]
}
