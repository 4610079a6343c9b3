// Measures what API keys and metering cost for a cached response. Time is compared with the same Worker without them
// and with the bare Worker. Meter calls are measured by request rate, and dollars are computed from counted
// operations.

import { showAnswer } from './bare.node.ts'
import { dollarsPerMillionCalls } from './cost.ts'
import type { Counts } from './counted/counts.ts'
import { asking, headersOf, JSON_HEADER, rateLine, timeLine } from './requests.node.ts'
import { type Line, whole } from './table.ts'
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
  const { bare, quick } = bench
  await showAnswer(bare.port, await counted.world.info(counted.key, BODY))
  const metered = headersOf(counted.key)
  const measure = asking(
    bench,
    { bare: [bare, '/same', metered], free: [counted, '/free', JSON_HEADER], weir: [counted, '/info', metered] },
    BODY,
  )
  await measure(1, 32, quick ? 300 : 1000)
  const many = await measure(quick ? 4 : 24, 32, 250)
  const one = await measure(quick ? 2 : 12, 1, 200)
  const what = 'a cached answer with key and metering, 32 connections'
  const both = ['bare', 'free'] as const
  return [
    ...both.map((base) => rateLine(`${what}, against ${NAMES[base]}`, many, base, GOALS[base])),
    ...both.map((base) => timeLine(`the same, p50 at 32, against ${NAMES[base]}`, many, base)),
    ...both.map((base) => timeLine(`the same, p50 at 1, against ${NAMES[base]}`, one, base)),
  ]
}

const NAMES = { bare: 'a bare Worker with the same body and headers', free: 'itself without both' } as const

async function meterLines({ bench, counted }: Credits): Promise<Line[]> {
  const lines: Line[] = []
  const take = async () => (await (await fetch(`http://127.0.0.1:${counted.port}/counts`)).json()) as Counts
  const headers = headersOf(counted.key)
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
    weir: [meterWaits, meterReports, rowsWritten, kvReads + kvWrites, d1Statements].map(perThousand).join(' · '),
    ratio: `$${dollarsPerMillionCalls(answers, cpuMs, counts).toFixed(2)} per million`,
  }
}
