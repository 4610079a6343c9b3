// Sends requests to Weir and to its baselines in turn. Contains the sections that consist of such requests: info,
// JSON-RPC and snapshots.

import type { RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { median } from '../kit/statistics.ts'
import { showAnswer, showUpstream } from './bare.node.ts'
import { COIN } from './blocks.ts'
import type { Arrival, HttpLoad, HttpOutcome } from './http-load.node.ts'
import { compared, inTurn, type Rounds, spent } from './rounds.node.ts'
import { type Line, ms, pairLine, whole } from './table.ts'
import { type Bench, type Loader, type Target, usingWeir, type Weir } from './targets.node.ts'

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
  const rate = compared(outcomes, base, ({ perSecond }) => perSecond)
  const line = pairLine(what, rate, (value) => `${whole(value)}/s`, { least: goal })
  return { ...line, ...spent(outcomes, base, ({ answers }) => answers) }
}

/** The time of an answer, p50. */
export function timeLine<W extends string>(what: string, outcomes: Outcomes<W>, base: W): Line {
  const figures = compared(outcomes, base, ({ latency }) => latency.p50)
  return { ...pairLine(what, figures, ms), ...spent(outcomes, base, ({ answers }) => answers) }
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

// An info answer from the isolate's cache, authenticated and metered, against a Worker that sends the same body with the
// same headers, against one that also reads those that a key needs, and against the least one: it echoes the request, which
// is shorter and has one header.

const INFO = JSON.stringify({ type: 'l2Book', coin: COIN })
const INFO_GOALS = { same: 0.95, keyed: 0.95, minimal: 0.75 } as const
const INFO_BASES = {
  same: 'a bare Worker with the same body and headers',
  keyed: 'one that also reads the headers of a key and writes those of its answer',
  minimal: 'a Worker that echoes',
} as const

/** Requests per second at 32 connections, and the time of an answer at 1 and at 32. */
export async function infoLines(bench: Bench): Promise<Line[]> {
  const { authorization, bare, weir, quick } = bench
  const headers = JSON_HEADER + authorization
  const asked = { 'content-type': 'application/json', ...Object.fromEntries([authorization.trim().split(': ')]) }
  await showAnswer(
    bare.port,
    await fetch(`http://127.0.0.1:${weir.port}/info`, { method: 'POST', headers: asked, body: INFO }),
  )
  const measure = asking(
    bench,
    {
      minimal: [bare, '/echo', headers],
      same: [bare, '/same', headers],
      keyed: [bare, '/keyed', headers],
      weir: [weir, '/info', headers],
    },
    INFO,
  )
  await measure(1, 32, quick ? 700 : 1500)
  const many = await measure(quick ? 4 : 40, 32, 250)
  const one = await measure(quick ? 2 : 20, 1, 200)
  return (['same', 'keyed', 'minimal'] as const).flatMap((base) => [
    rateLine(`info \`l2Book\` from cache, 32 connections, against ${INFO_BASES[base]}`, many, base, INFO_GOALS[base]),
    timeLine('the same, p50', many, base),
    timeLine('the same, 1 connection, p50', one, base),
  ])
}

// JSON-RPC: a call that the node has to answer and a batch of a hundred, beside a Worker that only passes them on; and an
// answer that never changes, beside a Worker that gives the same bytes. The node is a Node server in this process.

const MISS_GOAL_MS = 0.8
const CACHED_GOAL = 0.8
const BATCH = 100
const RPC_PATH = '/v1/evm'
const call = (id: number, method: string, params: string) =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`
/** Of a block that is named by its number: nothing of it is kept. */
const balance = (id: number) => call(id, 'eth_getBalance', `["0x${id.toString(16).padStart(40, '0')}","0x1"]`)
const CACHED = call(1, 'eth_chainId', '[]')
const MANY = `[${Array.from({ length: BATCH }, (_, id) => balance(id + 1)).join()}]`

type Keyed = Weir['target']

export async function rpcLines(bench: Bench): Promise<Line[]> {
  return usingWeir(
    answerCalls,
    (url) => ({ vars: { RPC_CHAINS: JSON.stringify([{ name: 'evm', urls: [`${url}/evm`] }]) } }),
    async (target, origin) => {
      const url = `${origin}/evm`
      await showUpstream(bench.bare.port, url)
      return [
        await missLine(bench, target, url, 'a call that the node answers', balance(1)),
        await missLine(bench, target, url, `a batch of ${BATCH} calls`, MANY),
        await cachedLine(bench, target),
      ]
    },
  )
}

const answerCalls: RequestListener = async (request, response) => {
  const body = JSON.parse(await text(request)) as { id: number } | { id: number }[]
  const one = ({ id }: { id: number }) => `{"jsonrpc":"2.0","id":${id},"result":"0x3e7"}`
  const answer = Array.isArray(body) ? `[${body.map(one).join()}]` : one(body)
  response.setHeader('content-type', 'application/json').end(answer)
}

/** What Weir adds to a Worker that only passes it on; the node itself is told for the scale. */
async function missLine(bench: Bench, weir: Keyed, url: string, what: string, body: string): Promise<Line> {
  const headers = headersOf(weir.key)
  const measure = asking(bench, { proxy: [bench.bare, '/proxy', headers], weir: [weir, RPC_PATH, headers] }, body)
  await measure(1, 1, bench.quick ? 300 : 1_500)
  const outcomes = await measure(bench.quick ? 2 : 15, 1, 250)
  const port = Number(new URL(url).port)
  const direct = await requests(bench.load, { port, path: '/evm', headers, body, concurrency: 1, ms: 500 })
  bench.say(`  the node itself answers ${what} in ${ms(direct.latency.p50)} (p50)`)
  const text = `JSON-RPC: ${what}, against a Worker that only passes it on, 1 connection, p50`
  return addedLine(text, outcomes, 'proxy', MISS_GOAL_MS)
}

async function cachedLine(bench: Bench, weir: Keyed): Promise<Line> {
  await showAnswer(bench.bare.port, await weir.world.call('POST', RPC_PATH, weir.key, CACHED))
  const headers = headersOf(weir.key)
  const measure = asking(bench, { same: [bench.bare, '/same', headers], weir: [weir, RPC_PATH, headers] }, CACHED)
  await measure(1, 32, bench.quick ? 700 : 1_500)
  const what =
    'JSON-RPC: `eth_chainId` from memory, 32 connections, against a bare Worker with the same body and headers'
  return rateLine(what, await measure(bench.quick ? 4 : 40, 32, 250), 'same', CACHED_GOAL)
}

// A whole book as deep as the real one, just changed, so that its hub has to write it down anew: alone, and for a
// hundred callers at once. A bare Worker has nothing to compare with: the goal is a time.

const SNAPSHOT = JSON.stringify({ type: 'l2BookDiffSnapshot', coin: COIN })
const SNAPSHOT_GOAL_MS = 15
const CALLERS = 100
/** For a block to reach its hub. */
const SETTLE_MS = 60

/** First byte of one call, and the last of a hundred. */
export async function snapshotLines({ weir, load, authorization, quick, say }: Bench): Promise<Line[]> {
  const headers = `Content-Type: application/json\r\n${authorization}`
  const call = async (calls: number): Promise<Arrival[]> => {
    await load.call('change', 'weir')
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
    return load.call('atOnce', { port: weir.port, path: '/info', headers, body: SNAPSHOT, calls })
  }
  await load.call('resize', 'weir', 0)
  const rounds = async (count: number, calls: number) => {
    const outcomes: Arrival[][] = []
    for (let round = 0; round < count; round++) outcomes.push(await call(calls))
    return outcomes
  }
  await rounds(5, 1)
  const alone = await rounds(quick ? 5 : 40, 1)
  const many = await rounds(quick ? 1 : 5, CALLERS)
  const first = median(alone.map(([arrival]) => arrival!.firstMs))
  const last = median(many.map((arrivals) => Math.max(...arrivals.map(({ wholeMs }) => wholeMs))))
  say(`  ${alone[0]![0]!.bytes} bytes, whole after ${ms(median(alone.map(([arrival]) => arrival!.wholeMs)))}`)
  return [
    {
      what: 'info `l2BookDiffSnapshot` of 21 378 levels that just changed, first byte, p50',
      bare: '–',
      weir: ms(first),
      goal: `≤ ${SNAPSHOT_GOAL_MS} ms`,
      met: first <= SNAPSHOT_GOAL_MS,
    },
    { what: `the same for ${CALLERS} callers at once, last byte`, bare: '–', weir: ms(last) },
  ]
}
