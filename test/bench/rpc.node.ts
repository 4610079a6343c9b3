// JSON-RPC: a call that the node has to answer and a batch of a hundred, beside a Worker that only passes them on; and an
// answer that never changes, beside a Worker that gives the same bytes. The node is a Node server in this process.

import type { RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { showAnswer, showUpstream } from './bare.node.ts'
import { addedLine, asking, headersOf, rateLine, requests } from './requests.node.ts'
import { type Line, ms } from './table.ts'
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
  const measure = asking(bench, { proxy: [bench.bare, '/proxy', headers], weir: [weir, PATH, headers] }, body)
  await measure(1, 1, bench.quick ? 300 : 1_500)
  const outcomes = await measure(bench.quick ? 2 : 15, 1, 250)
  const port = Number(new URL(url).port)
  const direct = await requests(bench.load, { port, path: '/evm', headers, body, concurrency: 1, ms: 500 })
  bench.say(`  the node itself answers ${what} in ${ms(direct.latency.p50)} (p50)`)
  const text = `JSON-RPC: ${what}, against a Worker that only passes it on, 1 connection, p50`
  return addedLine(text, outcomes, 'proxy', MISS_GOAL_MS)
}

async function cachedLine(bench: Bench, weir: Keyed): Promise<Line> {
  await showAnswer(bench.bare.port, await weir.world.call('POST', PATH, weir.key, CACHED))
  const headers = headersOf(weir.key)
  const measure = asking(bench, { same: [bench.bare, '/same', headers], weir: [weir, PATH, headers] }, CACHED)
  await measure(1, 32, bench.quick ? 700 : 1_500)
  const what =
    'JSON-RPC: `eth_chainId` from memory, 32 connections, against a bare Worker with the same body and headers'
  return rateLine(what, await measure(bench.quick ? 4 : 40, 32, 250), 'same', CACHED_GOAL)
}
