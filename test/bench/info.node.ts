// An info answer from the isolate's cache, authenticated and metered, against a Worker that echoes the same body.

import { COIN } from './blocks.ts'
import { alternate, medians } from './rounds.node.ts'
import { type Line, ms, times, whole } from './table.ts'
import type { Bench, Target } from './targets.node.ts'

const BODY = JSON.stringify({ type: 'l2Book', coin: COIN })
const GOAL = 0.8

/** Requests per second at 32 connections, and the time of an answer at 1 and at 32. */
export async function infoLines(bench: Bench): Promise<Line[]> {
  const run = async ({ port, name }: Target, concurrency: number, forMs: number) => {
    const headers = `Content-Type: application/json\r\n${bench.authorization}`
    const path = name === 'bare' ? '/echo' : '/info'
    const outcome = await bench.load.call('http', { port, path, headers, body: BODY, concurrency, ms: forMs })
    if (outcome.failure !== null) throw new Error(`${name}: ${outcome.failures} failures: ${outcome.failure}`)
    return outcome
  }
  const rounds = bench.quick ? 1 : 5
  for (const target of bench.both) await run(target, 32, bench.quick ? 700 : 1500)
  const many = await alternate(bench, rounds, async (target) => {
    const before = target.cpuMs()
    const outcome = await run(target, 32, 1000)
    return { ...outcome, cpuUs: ((target.cpuMs() - before) * 1000) / outcome.answers }
  })
  const cpu = medians(many, ({ cpuUs }) => cpuUs)
  bench.say(`  CPU per answer ${cpu.bare.toFixed(0)} µs bare, ${cpu.weir.toFixed(0)} µs Weir`)
  const one = await alternate(bench, rounds, (target) => run(target, 1, 400))
  const rate = medians(many, ({ perSecond }) => perSecond)
  return [
    {
      what: 'info `l2Book` from cache, 32 connections',
      bare: `${whole(rate.bare)}/s`,
      weir: `${whole(rate.weir)}/s`,
      ratio: times(rate.ratio),
      goal: `≥ ${times(GOAL)}`,
      met: rate.ratio >= GOAL,
    },
    p50(
      'the same, p50',
      medians(many, ({ latency }) => latency.p50),
    ),
    p50(
      'the same, 1 connection, p50',
      medians(one, ({ latency }) => latency.p50),
    ),
  ]
}

function p50(what: string, { bare, weir, ratio }: ReturnType<typeof medians>): Line {
  return { what, bare: ms(bare), weir: ms(weir), ratio: times(ratio), goal: '', met: null }
}
