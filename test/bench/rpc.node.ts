// JSON-RPC: a call that the node has to answer and a batch of a hundred, beside a Worker that only passes them on; and an
// answer that never changes, beside a Worker that gives the same bytes. The node is a Node server in this process.

import type { RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { showAnswer, showUpstream } from './bare.node.ts'
import { compared, inTurn, spent } from './rounds.node.ts'
import { type Line, ms, times, whole } from './table.ts'
import { type Bench, usingWeir, type Weir } from './targets.node.ts'

const MISS_GOAL_MS = 0.8
const CACHED_GOAL = 0.8
const BATCH = 100
const PATH = '/v1/evm'
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
        ...(await addedLine(bench, target, url, 'a call that the node answers', balance(1))),
        ...(await addedLine(bench, target, url, `a batch of ${BATCH} calls`, MANY)),
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

const headersOf = (key: string) => `Content-Type: application/json\r\nAuthorization: Bearer ${key}\r\n`

async function load(
  bench: Bench,
  port: number,
  path: string,
  key: string,
  body: string,
  concurrency: number,
  forMs: number,
) {
  const outcome = await bench.load.call('http', { port, path, headers: headersOf(key), body, concurrency, ms: forMs })
  if (outcome.failure !== null) throw new Error(`${outcome.failures} failures: ${outcome.failure}`)
  return outcome
}

/** What Weir adds to a Worker that only passes it on; the node itself is told for the scale. */
async function addedLine(bench: Bench, weir: Keyed, url: string, what: string, body: string): Promise<Line[]> {
  const paths = { proxy: '/proxy', weir: PATH }
  const rounds = (count: number, forMs: number) =>
    inTurn(bench, { proxy: bench.bare, weir }, count, ({ port }, way) =>
      load(bench, port, paths[way], weir.key, body, 1, forMs),
    )
  await rounds(1, bench.quick ? 300 : 1_500)
  const outcomes = await rounds(bench.quick ? 2 : 15, 250)
  const direct = await load(bench, Number(new URL(url).port), '/evm', weir.key, body, 1, 500)
  bench.say(`  the node itself answers ${what} in ${ms(direct.latency.p50)} (p50)`)
  const p50 = compared(outcomes, 'proxy', ({ latency }) => latency.p50)
  const added = p50.weir - p50.bare
  return [
    {
      what: `JSON-RPC: ${what}, against a Worker that only passes it on, 1 connection, p50`,
      bare: ms(p50.bare),
      weir: ms(p50.weir),
      ratio: `${added < 0 ? '' : '+'}${ms(added)}`,
      ...spent(outcomes, 'proxy', ({ answers }) => answers),
      goal: `≤ +${ms(MISS_GOAL_MS)}`,
      met: added <= MISS_GOAL_MS,
    },
  ]
}

async function cachedLine(bench: Bench, weir: Keyed): Promise<Line> {
  const ask = { method: 'POST', headers: { 'content-type': 'application/json', authorization: `Bearer ${weir.key}` } }
  await showAnswer(bench.bare.port, await fetch(`http://127.0.0.1:${weir.port}${PATH}`, { ...ask, body: CACHED }))
  const paths = { same: '/same', weir: PATH }
  const rounds = (count: number, forMs: number) =>
    inTurn(bench, { same: bench.bare, weir }, count, ({ port }, way) =>
      load(bench, port, paths[way], weir.key, CACHED, 32, forMs),
    )
  await rounds(1, bench.quick ? 700 : 1_500)
  const outcomes = await rounds(bench.quick ? 4 : 40, 250)
  const rate = compared(outcomes, 'same', ({ perSecond }) => perSecond)
  return {
    what: 'JSON-RPC: `eth_chainId` from memory, 32 connections, against a bare Worker with the same body and headers',
    bare: `${whole(rate.bare)}/s`,
    weir: `${whole(rate.weir)}/s`,
    ratio: times(rate.ratio),
    ...spent(outcomes, 'same', ({ answers }) => answers),
    goal: `≥ ${times(CACHED_GOAL)}`,
    met: rate.ratio >= CACHED_GOAL,
  }
}
