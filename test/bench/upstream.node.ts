// What an answer costs that only an upstream has, and what the upstream sees of many callers: identical requests in
// flight, and ten times the budget of a source. The upstream is a Node server in this process.

import { text } from 'node:stream/consumers'
import { showUpstream } from './bare.node.ts'
import { compared, inTurn, spent } from './rounds.node.ts'
import { type Line, ms, times, whole } from './table.ts'
import { type Bench, type Target, usingWeir } from './targets.node.ts'

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
const JSON_HEADER = 'Content-Type: application/json\r\n'

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
async function missLine(bench: Bench, upstream: Upstream, weir: Target & { readonly key: string }): Promise<Line> {
  const headers = `${JSON_HEADER}Authorization: Bearer ${weir.key}\r\n`
  await showUpstream(bench.bare.port, upstream.url)
  const run = async (port: number, path: string, ms: number) => {
    const outcome = await bench.load.call('http', { port, path, headers, body: MISS, concurrency: 1, ms })
    if (outcome.failure !== null) throw new Error(`${outcome.failures} failures: ${outcome.failure}`)
    return outcome
  }
  const ways = { proxy: bench.bare, weir }
  const paths = { proxy: '/proxy', weir: '/info' }
  const rounds = (count: number, forMs: number) =>
    inTurn(bench, ways, count, ({ port }, way) => run(port, paths[way], forMs))
  await rounds(1, bench.quick ? 300 : 1_500)
  const outcomes = await rounds(bench.quick ? 2 : 15, 250)
  const direct = await run(Number(new URL(upstream.url).port), '/info', 500)
  bench.say(`  the upstream itself answers in ${ms(direct.latency.p50)} (p50)`)
  const p50 = compared(outcomes, 'proxy', ({ latency }) => latency.p50)
  const added = p50.weir - p50.bare
  return {
    what: 'a miss (`userRole`) against a Worker that only passes it on, 1 connection, p50',
    bare: ms(p50.bare),
    weir: ms(p50.weir),
    ratio: `+${ms(added)}`,
    ...spent(outcomes, 'proxy', ({ answers }) => answers),
    goal: `≤ +${ms(MISS_GOAL_MS)}`,
    met: added <= MISS_GOAL_MS,
  }
}

async function sameLine(bench: Bench, upstream: Upstream, weir: Target & { readonly key: string }): Promise<Line> {
  const headers = `${JSON_HEADER}Authorization: Bearer ${weir.key}\r\n`
  const load = { port: weir.port, path: '/info', headers, body: SAME, concurrency: IN_FLIGHT, ms: 1 }
  const outcome = await bench.load.call('http', load)
  if (outcome.failure !== null) throw new Error(`${outcome.failures} failures: ${outcome.failure}`)
  const calls = upstream.arrivals.get('meta')?.length ?? 0
  return {
    what: `upstream calls of ${whole(outcome.answers)} identical requests in flight`,
    bare: whole(outcome.answers),
    weir: whole(calls),
    ratio: times(calls / outcome.answers),
    goal: '1 call',
    met: calls === 1,
  }
}

/** Evenly offered, each request of another user, for a minute and a bit: the heaviest minute counts. */
async function budgetLine(bench: Bench, upstream: Upstream, weir: Target & { readonly key: string }): Promise<Line> {
  const perSecond = (BUDGET * OVERLOAD) / METERED.weight / 60
  const seconds = bench.quick ? 5 : 65
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${weir.key}` }
  const replies: Promise<number>[] = []
  for (let i = 0; i < perSecond * seconds; i++) {
    const body = JSON.stringify({ type: METERED.type, user: `0x${i.toString(16).padStart(40, '0')}` })
    const sent = fetch(`http://127.0.0.1:${weir.port}/info`, { method: 'POST', headers, body })
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

/** The most arrivals within any 60 s. */
function heaviestMinute(arrivals: readonly number[]): number {
  let heaviest = 0
  for (let from = 0, to = 0; to < arrivals.length; to++) {
    while (arrivals[to]! - arrivals[from]! > 60_000) from++
    heaviest = Math.max(heaviest, to - from + 1)
  }
  return heaviest
}
