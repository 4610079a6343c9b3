// Requests to Weir and to what it is measured against, in turn, and the lines that come of them.

import type { HttpLoad, HttpOutcome } from './http-load.node.ts'
import { compared, inTurn, type Rounds, spent } from './rounds.node.ts'
import { type Line, ms, times, whole } from './table.ts'
import type { Bench, Loader, Target } from './targets.node.ts'

type Outcomes<W extends string> = Rounds<W | 'weir', HttpOutcome>

export const JSON_HEADER = 'Content-Type: application/json\r\n'
export const headersOf = (key: string) => `${JSON_HEADER}Authorization: Bearer ${key}\r\n`

/** Throws where an answer is not a 200. */
export async function requests(load: Loader, order: HttpLoad): Promise<HttpOutcome> {
  const outcome = await load.call('http', order)
  if (outcome.failure !== null) throw new Error(`${order.path}: ${outcome.failures} failures: ${outcome.failure}`)
  return outcome
}

/** Each way with its path and its header lines. */
type Ways<W extends string> = Readonly<Record<W, readonly [target: Target, path: string, headers: string]>>

/** Measures `rounds` of every way, each with so many connections for so long. */
export function asking<W extends string>({ load }: Pick<Bench, 'load'>, ways: Ways<W>, body: string) {
  const names = Object.keys(ways) as W[]
  const targets = Object.fromEntries(names.map((way) => [way, ways[way][0]])) as Record<W, Target>
  return (rounds: number, concurrency: number, forMs: number) =>
    inTurn({ load }, targets, rounds, ({ port }, way) => {
      const [, path, headers] = ways[way]
      return requests(load, { port, path, headers, body, concurrency, ms: forMs })
    })
}

/** Answers a second, of which Weir must reach this share of the other's. */
export function rateLine<W extends string>(what: string, outcomes: Outcomes<W>, base: W, goal: number): Line {
  const { bare, weir, ratio } = compared(outcomes, base, ({ perSecond }) => perSecond)
  return {
    what,
    bare: `${whole(bare)}/s`,
    weir: `${whole(weir)}/s`,
    ratio: times(ratio),
    ...spent(outcomes, base, ({ answers }) => answers),
    goal: `≥ ${times(goal)}`,
    met: ratio >= goal,
  }
}

/** The time of an answer, p50. */
export function timeLine<W extends string>(what: string, outcomes: Outcomes<W>, base: W): Line {
  const { bare, weir, ratio } = compared(outcomes, base, ({ latency }) => latency.p50)
  const used = spent(outcomes, base, ({ answers }) => answers)
  return { what, bare: ms(bare), weir: ms(weir), ratio: times(ratio), ...used, goal: '', met: null }
}

/** What Weir adds to the time of an answer, p50: so many milliseconds at most. */
export function addedLine<W extends string>(what: string, outcomes: Outcomes<W>, base: W, goalMs: number): Line {
  const { bare, weir } = compared(outcomes, base, ({ latency }) => latency.p50)
  const added = weir - bare
  return {
    what,
    bare: ms(bare),
    weir: ms(weir),
    ratio: `${added < 0 ? '' : '+'}${ms(added)}`,
    ...spent(outcomes, base, ({ answers }) => answers),
    goal: `≤ +${ms(goalMs)}`,
    met: added <= goalMs,
  }
}
