// A call that a wallet pays, against a Worker that only asks the facilitator twice: what Weir adds to a payment. The
// facilitator answers at once, and payments are signed before the clock starts.

import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { x402Client, x402HTTPClient } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { build } from '../../src/cli/launch/build.node.ts'
import { startWorld } from '../kit/gateway.ts'
import { startServer } from '../kit/http-server.ts'
import { ROOT } from '../kit/program.ts'
import { spreadOf } from '../kit/statistics.ts'
import { type Line, ms } from './table.ts'
import type { Bench } from './targets.node.ts'

const GOAL_MS = 2
const BOOKING_MS = 30
const BODY = '{"type":"meta"}'
const HEADERS = { 'content-type': 'application/json' }
const BARE = `export default {
  async fetch(request, { FACILITATOR }) {
    const body = await request.text()
    for (const step of ['/verify', '/settle']) await (await fetch(FACILITATOR + step, { method: 'POST', body })).text()
    return new Response('{}')
  },
}`

export async function x402Lines({ quick }: Pick<Bench, 'quick'>): Promise<Line[]> {
  await build(ROOT)
  const node = await startServer((_, response) =>
    response.end('{"universe":[{"name":"BTC","szDecimals":5,"maxLeverage":50}],"marginTables":[],"collateralToken":0}'),
  )
  const facilitator = await startServer(async (request, response) => {
    await text(request)
    const transaction = `0x${'ab'.repeat(32)}`
    const answer = request.url === '/settle' ? { success: true, transaction } : { isValid: true }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer))
  })
  const vars = { X402: JSON.stringify(networkOf(facilitator.url)) }
  const world = await startWorld({ node: node.url, vars, objectVars: vars })
  const bare = await startBare(facilitator.url)
  try {
    const payments = await signedPayments(world.url, quick ? 40 : 400)
    const paid: number[] = []
    const asked: number[] = []
    for (const payment of payments) {
      paid.push(await timed(`${world.url}/info`, payment))
      asked.push(await timed(bare.url, payment))
      // The payment is booked after its answer, in the same thread.
      await sleep(BOOKING_MS)
    }
    const weir = medianOf(paid)
    const base = medianOf(asked)
    const added = weir - base
    return [
      {
        what: 'a call paid by x402, against a Worker that asks the facilitator twice, p50',
        bare: ms(base),
        weir: ms(weir),
        ratio: `+${ms(added)}`,
        goal: `≤ +${ms(GOAL_MS)}`,
        met: added <= GOAL_MS,
      },
    ]
  } finally {
    await bare.stop()
    await world.stop()
    facilitator.close()
    node.close()
  }
}

const medianOf = (samples: readonly number[]) => spreadOf(Float64Array.from(samples), samples.length).p50

function networkOf(facilitator: string) {
  const asset = { address: `0x${'70'.repeat(20)}`, symbol: 'USDC', decimals: 6, name: 'USD Coin', version: '2' }
  const prices = { creditsPerUsd: '1000', leastUsd: '0.005', multiple: '1', topUp: { leastUsd: '1', mostUsd: '100' } }
  return { payTo: `0x${'99'.repeat(20)}`, network: 'eip155:8453', asset, facilitator, ...prices, plan: 'entry' }
}

async function signedPayments(url: string, count: number): Promise<string[]> {
  const client = new x402Client()
    .register('eip155:*', new ExactEvmScheme(privateKeyToAccount(generatePrivateKey())))
    .setSpendControls({ allowedAssets: true })
  const http = new x402HTTPClient(client)
  const priced = await fetch(`${url}/info`, { method: 'POST', headers: HEADERS, body: BODY })
  const required = http.getPaymentRequiredResponse((name) => priced.headers.get(name))
  const headers: string[] = []
  for (let number = 0; number < count; number++) {
    const payload = await client.createPaymentPayload(required)
    headers.push(http.encodePaymentSignatureHeader(payload)['PAYMENT-SIGNATURE'] ?? '')
  }
  return headers
}

/** Milliseconds of an answer. */
async function timed(url: string, payment: string): Promise<number> {
  const begunMs = performance.now()
  const headers = { ...HEADERS, 'payment-signature': payment }
  const answer = await fetch(url, { method: 'POST', headers, body: BODY })
  const said = await answer.text()
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status} ${said}`)
  return performance.now() - begunMs
}

async function startBare(facilitator: string) {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      workers: [
        {
          name: 'bare',
          modules: true,
          script: BARE,
          bindings: { FACILITATOR: facilitator },
          unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
        },
      ],
    }),
  )
  await miniflare.ready
  const url = (await miniflare.unsafeGetDirectURL('bare')).origin
  return { url, stop: () => miniflare.dispose() }
}
