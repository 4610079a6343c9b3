// What key and metering cost a cached answer: in time, against the same Worker without them and the bare Worker; in
// calls of the meter, by rate; in dollars, by counted operations.

import { showAnswer } from './bare.node.ts'
import { dollarsPerMillionCalls } from './cost.ts'
import type { Counts } from './counted/counts.ts'
import { compared, inTurn, spent } from './rounds.node.ts'
import { type Line, ms, times, whole } from './table.ts'
import { type Bench, bundleCounted, usingWeir, type Weir } from './targets.node.ts'

const BODY = JSON.stringify({ type: 'marginTable', id: 1 })
const ANSWER = JSON.stringify({
  description: 'x'.repeat(1000),
  marginTiers: Array.from({ length: 10 }, (_, tier) => ({ lowerBound: `${tier}000000.0`, maxLeverage: 20 - tier })),
})
const GOALS = { bare: 0.95, free: 0.8 } as const
/** Rates a second, and for how long each is offered. */
const RATES = [
  [1, 15_000],
  [50, 8_000],
  [5_000, 5_000],
] as const
const JSON_HEADER = 'Content-Type: application/json\r\n'

interface Credits {
  readonly bench: Bench
  readonly counted: Weir['target']
}

/** Lines of speed, of the meter and of money. */
export async function creditLines(bench: Bench): Promise<Line[]> {
  const bundles = await bundleCounted()
  return usingWeir(
    (_, answer) => answer.setHeader('content-type', 'application/json').end(ANSWER),
    (node) => ({ bundles, node }),
    async (counted) => [...(await speedLines({ bench, counted })), ...(await meterLines({ bench, counted }))],
  )
}

async function speedLines({ bench, counted }: Credits): Promise<Line[]> {
  const metered = `${JSON_HEADER}Authorization: Bearer ${counted.key}\r\n`
  const asks = {
    bare: { port: bench.bare.port, path: '/same', headers: metered },
    free: { port: counted.port, path: '/free', headers: JSON_HEADER },
    weir: { port: counted.port, path: '/info', headers: metered },
  }
  const ways = { bare: bench.bare, free: counted, weir: counted }
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${counted.key}` }
  const url = `http://127.0.0.1:${counted.port}/info`
  await showAnswer(bench.bare.port, await fetch(url, { method: 'POST', headers, body: BODY }))
  const measure = (rounds: number, concurrency: number, forMs: number) =>
    inTurn(bench, ways, rounds, async (_, way) => {
      const outcome = await bench.load.call('http', { ...asks[way], body: BODY, concurrency, ms: forMs })
      if (outcome.failure !== null) throw new Error(`${way}: ${outcome.failures} failures: ${outcome.failure}`)
      return outcome
    })
  await measure(1, 32, bench.quick ? 300 : 1000)
  const many = await measure(bench.quick ? 4 : 24, 32, 250)
  const one = await measure(bench.quick ? 2 : 12, 1, 200)
  const rate = (against: 'bare' | 'free'): Line => {
    const { bare, weir, ratio } = compared(many, against, ({ perSecond }) => perSecond)
    const goal = GOALS[against]
    return {
      what: `a cached answer with key and metering, 32 connections, against ${NAMES[against]}`,
      bare: `${whole(bare)}/s`,
      weir: `${whole(weir)}/s`,
      ratio: times(ratio),
      ...spent(many, against, ({ answers }) => answers),
      goal: `≥ ${times(goal)}`,
      met: ratio >= goal,
    }
  }
  const time = (against: 'bare' | 'free', connections: number): Line => {
    const outcomes = connections === 1 ? one : many
    const { bare, weir, ratio } = compared(outcomes, against, ({ latency }) => latency.p50)
    const what = `the same, p50 at ${connections}, against ${NAMES[against]}`
    const used = spent(outcomes, against, ({ answers }) => answers)
    return { what, bare: ms(bare), weir: ms(weir), ratio: times(ratio), ...used, goal: '', met: null }
  }
  return [rate('bare'), rate('free'), time('bare', 32), time('free', 32), time('bare', 1), time('free', 1)]
}

const NAMES = { bare: 'a bare Worker with the same body and headers', free: 'itself without both' } as const

async function meterLines({ bench, counted }: Credits): Promise<Line[]> {
  const lines: Line[] = []
  const take = async () => (await (await fetch(`http://127.0.0.1:${counted.port}/counts`)).json()) as Counts
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${counted.key}` }
  for (const [perSecond, forMs] of RATES) {
    // What an earlier rate left behind is reported first.
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    await take()
    const cpuBefore = counted.cpuMs()
    const load = { port: counted.port, path: '/info', headers, body: BODY, perSecond }
    const outcome = await bench.load.call('paced', { ...load, ms: bench.quick ? forMs / 5 : forMs })
    if (outcome.failure !== null) throw new Error(`${outcome.failures} failures: ${outcome.failure}`)
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    const cpuMs = (counted.cpuMs() - cpuBefore) / outcome.answers
    lines.push(meterLine(perSecond, outcome, await take(), cpuMs))
  }
  return lines
}

function meterLine(
  perSecond: number,
  { answers, perSecond: reached }: { answers: number; perSecond: number },
  counts: Counts,
  cpuMs: number,
): Line {
  const perThousand = (count: number) => ((1000 * count) / answers).toFixed(count * 100 < answers ? 1 : 0)
  const { kvReads, kvWrites, d1Statements, meterWaits, meterReports, rowsWritten } = counts
  return {
    what:
      `per 1 000 requests at ${whole(perSecond)}/s offered (${whole(reached)}/s reached): waits for the meter, ` +
      'reports, rows it wrote, KV operations, D1 statements',
    bare: '',
    weir: [meterWaits, meterReports, rowsWritten, kvReads + kvWrites, d1Statements].map(perThousand).join(' · '),
    ratio: `$${dollarsPerMillionCalls(answers, cpuMs, counts).toFixed(2)} per million`,
    goal: '',
    met: null,
  }
}
