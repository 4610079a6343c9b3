// What key and metering cost a cached answer: in time, against the same Worker without them and the bare Worker; in
// calls of the meter, by rate; in dollars, by counted operations.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { bundle } from '../../src/launch/build.node.ts'
import { dollarsPerMillionCalls } from './cost.ts'
import type { Counts } from './counted/counts.ts'
import { median } from './statistics.ts'
import { type Line, ms, times, whole } from './table.ts'
import { type Bench, startWeir, type Target } from './targets.node.ts'

const BODY = JSON.stringify({ type: 'marginTable', id: 1 })
const ANSWER = JSON.stringify({
  description: 'x'.repeat(1000),
  marginTiers: Array.from({ length: 10 }, (_, tier) => ({ lowerBound: `${tier}000000.0`, maxLeverage: 20 - tier })),
})
const GOAL = 0.8
/** Rates a second, and for how long each is offered. */
const RATES = [
  [1, 15_000],
  [50, 8_000],
  [5_000, 5_000],
] as const
const JSON_HEADER = 'Content-Type: application/json\r\n'

interface Credits {
  readonly bench: Bench
  readonly counted: Target & { readonly key: string }
}

/** Lines of speed, of the meter and of money. */
export async function creditLines(bench: Bench): Promise<Line[]> {
  const bundles = 'dist/bench'
  await bundle(bench.root, 'wrangler.toml', join(bundles, 'gateway'), 'test/bench/counted/gateway.worker.ts')
  await bundle(bench.root, 'wrangler.live.toml', join(bundles, 'live'), 'test/bench/counted/live.worker.ts')
  const upstream = createServer((_, answer) => answer.setHeader('content-type', 'application/json').end(ANSWER))
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/info`
  try {
    const { target, stop } = await startWeir({ bundles, vars: { UPSTREAMS: JSON.stringify([{ name: 'stub', url }]) } })
    try {
      const credits = { bench, counted: target }
      return [...(await speedLines(credits)), ...(await meterLines(credits))]
    } finally {
      await stop()
    }
  } finally {
    upstream.close()
    upstream.closeAllConnections()
  }
}

async function speedLines({ bench, counted }: Credits): Promise<Line[]> {
  const ways = {
    bare: { port: bench.bare.port, path: '/echo', headers: JSON_HEADER, body: ANSWER },
    free: { port: counted.port, path: '/free', headers: JSON_HEADER, body: BODY },
    metered: {
      port: counted.port,
      path: '/info',
      headers: `${JSON_HEADER}Authorization: Bearer ${counted.key}\r\n`,
      body: BODY,
    },
  }
  type Way = keyof typeof ways
  const names = Object.keys(ways) as Way[]
  const run = async (way: Way, concurrency: number, forMs: number) => {
    const outcome = await bench.load.call('http', { ...ways[way], concurrency, ms: forMs })
    if (outcome.failure !== null) throw new Error(`${way}: ${outcome.failures} failures: ${outcome.failure}`)
    return { perSecond: outcome.perSecond, p50: outcome.latency.p50 }
  }
  const measure = async (concurrency: number, forMs: number) => {
    const rounds: Record<Way, { perSecond: number; p50: number }[]> = { bare: [], free: [], metered: [] }
    for (let round = 0; round < (bench.quick ? 1 : 5); round++)
      for (const way of names) rounds[way].push(await run(way, concurrency, forMs))
    return (way: Way, figure: 'perSecond' | 'p50') => median(rounds[way].map((outcome) => outcome[figure]))
  }
  for (const way of names) await run(way, 32, bench.quick ? 300 : 1000)
  const many = await measure(32, 1000)
  const one = await measure(1, 400)
  const rate = (against: 'bare' | 'free', goal: boolean): Line => {
    const [base, metered] = [many(against, 'perSecond'), many('metered', 'perSecond')]
    const what = `a cached answer with key and metering, 32 connections, against ${NAMES[against]}`
    const ratio = metered / base
    const shown = { what, bare: `${whole(base)}/s`, weir: `${whole(metered)}/s`, ratio: times(ratio) }
    return goal ? { ...shown, goal: `≥ ${times(GOAL)}`, met: ratio >= GOAL } : { ...shown, goal: '', met: null }
  }
  const time = (against: 'bare' | 'free', connections: number): Line => {
    const of = connections === 1 ? one : many
    const [base, metered] = [of(against, 'p50'), of('metered', 'p50')]
    const what = `the same, p50 at ${connections}, against ${NAMES[against]}`
    return { what, bare: ms(base), weir: ms(metered), ratio: times(metered / base), goal: '', met: null }
  }
  return [rate('bare', true), rate('free', true), time('bare', 32), time('free', 32), time('bare', 1), time('free', 1)]
}

const NAMES = { bare: 'the bare Worker', free: 'itself without both' } as const

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
