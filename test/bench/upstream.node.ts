// Measures the cost of responses that only an upstream has, and what the upstream receives from many callers:
// identical concurrent requests, and ten times the budget of a source. The upstream is a Node server in this
// process.

import { text } from 'node:stream/consumers'
import { showUpstream } from './bare.node.ts'
import { addedLine, asking, headersOf, requests } from './requests.node.ts'
import { type Line, ms, times, whole } from './table.ts'
import { type Bench, usingWeir, type Weir } from './targets.node.ts'

const USER = `0x${'12'.repeat(20)}`
const MISS = JSON.stringify({ type: 'userRole', user: USER })
const MISS_GOAL_MS = 0.8
const SAME = JSON.stringify({ type: 'meta' })
const IN_FLIGHT = 1_000
/** Long enough for all of them to come while the first is still out. */
const SAME_TAKES_MS = 3_000
const METERED = { type: 'userFees', weight: 20 }
const BUDGET = 1_200
const OVERLOAD = 10

interface Upstream {
  readonly url: string
  /** When requests of each type came; of misses, which are many, the first alone. */
  readonly arrivals: Map<string, number[]>
}

/** Lines of a miss, of one flight, and of a budget. */
export async function upstreamLines(bench: Bench): Promise<Line[]> {
  const arrivals = new Map<string, number[]>()
  const sources = (url: string) => [
    { name: 'metered', url: `${url}/info`, types: [METERED.type], budget: BUDGET },
    { name: 'stub', url: `${url}/info`, types: ['userRole', 'meta'], timeoutMs: 10_000 },
  ]
  return usingWeir(
    async (request, response) => {
      const { type } = JSON.parse(await text(request)) as { type: string }
      const known = arrivals.get(type)
      if (known === undefined) arrivals.set(type, [performance.now()])
      else if (type !== 'userRole') known.push(performance.now())
      const answer = () => response.setHeader('content-type', 'application/json').end('{"role":"user"}')
      if (type === 'meta') setTimeout(answer, SAME_TAKES_MS)
      else answer()
    },
    (url) => ({ vars: { UPSTREAMS: JSON.stringify(sources(url)) } }),
    async (target, url) => {
      const upstream = { url: `${url}/info`, arrivals }
      return [
        await missLine(bench, upstream, target),
        await sameLine(bench, upstream, target),
        await budgetLine(bench, upstream, target),
      ]
    },
  )
}

/** The same request to a Worker that only passes it on, and to Weir; and to the upstream itself, for the scale. */
async function missLine(bench: Bench, upstream: Upstream, weir: Weir['target']): Promise<Line> {
  const headers = headersOf(weir.key)
  await showUpstream(bench.bare.port, upstream.url)
  const measure = asking(bench, { proxy: [bench.bare, '/proxy', headers], weir: [weir, '/info', headers] }, MISS)
  await measure(1, 1, bench.quick ? 300 : 1_500)
  const outcomes = await measure(bench.quick ? 2 : 15, 1, 250)
  const port = Number(new URL(upstream.url).port)
  const direct = await requests(bench.load, { port, path: '/info', headers, body: MISS, concurrency: 1, ms: 500 })
  bench.say(`  the upstream itself answers in ${ms(direct.latency.p50)} (p50)`)
  const what = 'a miss (`userRole`) against a Worker that only passes it on, 1 connection, p50'
  return addedLine(what, outcomes, 'proxy', MISS_GOAL_MS)
}

async function sameLine(bench: Bench, upstream: Upstream, weir: Weir['target']): Promise<Line> {
  const headers = headersOf(weir.key)
  const order = { port: weir.port, path: '/info', headers, body: SAME, concurrency: IN_FLIGHT, ms: 1 }
  const { answers } = await requests(bench.load, order)
  const calls = upstream.arrivals.get('meta')?.length ?? 0
  return {
    what: `upstream calls of ${whole(answers)} identical requests in flight`,
    bare: whole(answers),
    weir: whole(calls),
    ratio: times(calls / answers),
    goal: '1 call',
    met: calls === 1,
  }
}

/** Evenly offered, each request of another user, for a minute and a bit: the heaviest minute counts. */
async function budgetLine(bench: Bench, upstream: Upstream, weir: Weir['target']): Promise<Line> {
  const perSecond = (BUDGET * OVERLOAD) / METERED.weight / 60
  const seconds = bench.quick ? 5 : 65
  const replies: Promise<number>[] = []
  for (let i = 0; i < perSecond * seconds; i++) {
    const sent = weir.world.info(weir.key, { type: METERED.type, user: `0x${i.toString(16).padStart(40, '0')}` })
    replies.push(sent.then((reply) => reply.text().then(() => reply.status)))
    await new Promise((resolve) => setTimeout(resolve, 1_000 / perSecond))
  }
  const odd = (await Promise.all(replies)).find((status) => status !== 200 && status !== 503)
  if (odd !== undefined) throw new Error(`an answer of the metered source was ${odd}`)
  const seen = heaviestMinute(upstream.arrivals.get(METERED.type) ?? []) * METERED.weight
  const offered = BUDGET * OVERLOAD
  return {
    what: `weight a minute that a source with a budget of ${whole(BUDGET)} saw (${seconds} s)`,
    bare: `${whole(offered)} (offered)`,
    weir: whole(seen),
    ratio: times(seen / BUDGET),
    goal: `≤ ${times(1)}`,
    met: seen > 0 && seen <= BUDGET,
  }
}

function heaviestMinute(arrivals: readonly number[]): number {
  let heaviest = 0
  for (let from = 0, to = 0; to < arrivals.length; to++) {
    while (arrivals[to]! - arrivals[from]! > 60_000) from++
    heaviest = Math.max(heaviest, to - from + 1)
  }
  return heaviest
}
