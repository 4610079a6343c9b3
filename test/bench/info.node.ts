// An info answer from the isolate's cache, authenticated and metered, against a Worker that sends the same body with the
// same headers, against one that also reads those that a key needs, and against the least one: it echoes the request, which
// is shorter and has one header.

import { showAnswer } from './bare.node.ts'
import { COIN } from './blocks.ts'
import { compared, inTurn, spent } from './rounds.node.ts'
import { type Line, ms, times, whole } from './table.ts'
import type { Bench, Target } from './targets.node.ts'

const BODY = JSON.stringify({ type: 'l2Book', coin: COIN })
const PATHS = { minimal: '/echo', same: '/same', keyed: '/keyed', weir: '/info' } as const
type Way = keyof typeof PATHS
const GOALS = { same: 0.95, keyed: 0.95, minimal: 0.75 } as const
const AGAINST = {
  same: 'a bare Worker with the same body and headers',
  keyed: 'one that also reads the headers of a key and writes those of its answer',
  minimal: 'a Worker that echoes',
} as const

/** Requests per second at 32 connections, and the time of an answer at 1 and at 32. */
export async function infoLines(bench: Bench): Promise<Line[]> {
  const { load, authorization, bare, weir, quick } = bench
  const headers = `Content-Type: application/json\r\n${authorization}`
  const ways = { minimal: bare, same: bare, keyed: bare, weir }
  const run = async ({ port }: Target, way: Way, concurrency: number, forMs: number) => {
    const outcome = await load.call('http', { port, path: PATHS[way], headers, body: BODY, concurrency, ms: forMs })
    if (outcome.failure !== null) throw new Error(`${way}: ${outcome.failures} failures: ${outcome.failure}`)
    return outcome
  }
  const asked = { 'content-type': 'application/json', ...Object.fromEntries([authorization.trim().split(': ')]) }
  await showAnswer(
    bare.port,
    await fetch(`http://127.0.0.1:${weir.port}/info`, { method: 'POST', headers: asked, body: BODY }),
  )
  await inTurn(bench, ways, 1, (target, way) => run(target, way, 32, quick ? 700 : 1500))
  const many = await inTurn(bench, ways, quick ? 4 : 40, (target, way) => run(target, way, 32, 250))
  const one = await inTurn(bench, ways, quick ? 2 : 20, (target, way) => run(target, way, 1, 200))
  const lines = (base: keyof typeof GOALS): Line[] => {
    const rate = compared(many, base, ({ perSecond }) => perSecond)
    return [
      {
        what: `info \`l2Book\` from cache, 32 connections, against ${AGAINST[base]}`,
        bare: `${whole(rate.bare)}/s`,
        weir: `${whole(rate.weir)}/s`,
        ratio: times(rate.ratio),
        ...spent(many, base, ({ answers }) => answers),
        goal: `≥ ${times(GOALS[base])}`,
        met: rate.ratio >= GOALS[base],
      },
      p50('the same, p50', many, base),
      p50('the same, 1 connection, p50', one, base),
    ]
  }
  return [...lines('same'), ...lines('keyed'), ...lines('minimal')]
}

type Outcomes = Awaited<ReturnType<typeof inTurn<Way, { answers: number; latency: { p50: number } }>>>

function p50(what: string, outcomes: Outcomes, base: keyof typeof GOALS): Line {
  const { bare, weir, ratio } = compared(outcomes, base, ({ latency }) => latency.p50)
  const used = spent(outcomes, base, ({ answers }) => answers)
  return { what, bare: ms(bare), weir: ms(weir), ratio: times(ratio), ...used, goal: '', met: null }
}
