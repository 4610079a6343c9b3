// The source data of the run: blocks of the exchange, and of a JSON-RPC chain. Each block is computed from its
// height alone.

import { text } from 'node:stream/consumers'
import { Ledger } from '../../../src/devnet/evm/ledger.ts'
import { handleEvm } from '../../../src/devnet/evm/rpc.ts'
import type { Block, UserFill } from '../../../src/protocol/feed/block.ts'
import { EXAMPLE_FILL } from '../../../src/relay/channels/fills.ts'
import { startServer } from '../../kit/http-server.ts'

export const FIRST = 1_000
/** Times run ahead, so that minutes end and are archived, and the log lets go of what is older than five of them. */
const BLOCK_MS = 500
const BEGUN_MS = Date.UTC(2026, 10, 1)

const timeOf = (height: number) => BEGUN_MS + (height - FIRST) * BLOCK_MS

/** One fill in each block but every fourth, two in every fifth. */
export function blockOf(height: number): Block {
  const time = timeOf(height)
  const count = height % 4 === 0 ? 0 : height % 5 === 0 ? 2 : 1
  const fills = Array.from({ length: count }, (_, at): UserFill => {
    return [EXAMPLE_FILL[0], { ...EXAMPLE_FILL[1], tid: height * 10 + at, time }]
  })
  const books = [{ coin: 'BTC', levels: [[{ px: '1', sz: `${height}`, n: 1 }], []] as [never[], never[]] }]
  return { height, time, fills, ledger: [], funding: [], books } as Block
}

export const tidsTo = (head: number) =>
  Array.from({ length: head - FIRST }, (_, at) => blockOf(FIRST + 1 + at)).flatMap(({ fills }) =>
    fills.map(([, { tid }]) => tid),
  )

/** Of the other chain, which has a block a second, and a log in every third. */
export const evmHeadAt = (head: number) => Math.floor((timeOf(head) - BEGUN_MS) / 1_000)
export const logsTo = (evmHead: number) => Array.from({ length: Math.floor(evmHead / 3) }, (_, at) => (at + 1) * 3)

interface EvmNode {
  readonly url: string
  /** Its newest block is as late as this one of the exchange. */
  advance(head: number): void
  close(): void
}

export async function startEvmNode(): Promise<EvmNode> {
  let timeMs = BEGUN_MS
  const server = await startServer(async (request, response) => {
    const asked: unknown = JSON.parse(await text(request))
    const origin = { seed: 7, vaults: [{ createdMs: BEGUN_MS }], block: { timeMs } }
    const answer = await handleEvm({ origin, ledger: new Ledger() }, asked)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
  return {
    url: `${server.url}/`,
    advance: (head) => {
      timeMs = timeOf(head)
    },
    close: server.close,
  }
}
