// Reads the state of an authorization from a node of its chain, over JSON-RPC. Invariants: a payment is a nonce whose use is directly
// followed by the transfer of the whole amount to the receiver, so one transfer is one payment; a node that does not
// answer, or that does not show how a nonce was used, rejects.

import * as z from 'zod'
import { parseJson } from '../../core/json.ts'
import { post } from '../../upstream/post.client.ts'
import type { PaymentOrder } from './payment.ts'
import type { ChainState } from './payments.ts'

const TIMEOUT_MS = 3_000
const RESPONSE_MAX_BYTES = 1024 * 1024
/** Public nodes search 10,000 blocks at most: five hours of Base. An authorization is valid for an hour. */
const BLOCKS = 9_999

/** Hashes of `Transfer(address,address,uint256)`, `AuthorizationUsed(address,bytes32)` and `AuthorizationCanceled(…)`. */
export const TOPICS = {
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  used: '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5',
  canceled: '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81',
} as const

/** Selector of `authorizationState(address,bytes32)`. */
const AUTHORIZATION_STATE = '0xe94a0102'

const Hex = z.string().regex(/^0x[0-9a-f]*$/i)
const Log = z.object({ address: Hex, topics: z.array(Hex), data: Hex, transactionHash: Hex })
const Logs = z.array(Log).max(100)
const Receipt = z.object({ status: Hex, logs: z.array(Log) })
const Reply = z.object({ result: z.unknown(), error: z.unknown().optional() })

/** Looks for the use of the order's nonce. Rejects if the node gives no valid answer. */
export async function lookAtChain(rpcUrl: string, { requirement, authorization }: PaymentOrder): Promise<ChainState> {
  const call = async <T>(method: string, params: readonly unknown[], schema: z.ZodType<T>): Promise<T> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'content-type': 'application/json' }
    const reply = await post({ url: rpcUrl, headers, body, timeoutMs: TIMEOUT_MS, maxBytes: RESPONSE_MAX_BYTES })
    if ('failed' in reply) throw new Error(`the node did not answer ${method}: ${reply.failed}`)
    const { result } = Reply.parse(parseJson(reply.text))
    return schema.parse(result)
  }
  const { from, nonce } = authorization
  const head = BigInt(await call('eth_blockNumber', [], Hex))
  const fromBlock = `0x${(head > BLOCKS ? head - BigInt(BLOCKS) : 0n).toString(16)}`
  const topics = [[TOPICS.used, TOPICS.canceled], padded(from), nonce]
  const logs = await call('eth_getLogs', [{ address: requirement.asset, fromBlock, topics }], Logs)
  const use = logs.find((log) => same(log.topics[2], nonce) && same(log.topics[1], padded(from)))
  if (use === undefined) {
    const data = `${AUTHORIZATION_STATE}${padded(from).slice(2)}${nonce.slice(2)}`
    const isUsed = BigInt(await call('eth_call', [{ to: requirement.asset, data }, 'latest'], Hex)) !== 0n
    if (isUsed) throw new Error('the nonce was used before the blocks that the node searches')
    return { kind: 'unused' }
  }
  if (!same(use.topics[0], TOPICS.used)) return { kind: 'void' }
  const { status, logs: all } = await call('eth_getTransactionReceipt', [use.transactionHash], Receipt)
  const isUse = ({ address, topics: [topic, payer, used] }: z.infer<typeof Log>) =>
    same(address, requirement.asset) && same(topic, TOPICS.used) && same(payer, padded(from)) && same(used, nonce)
  // The token emits its transfer right after the use. Another one of the same transaction belongs to another payment.
  const transfer = all[all.findIndex(isUse) + 1]
  const isPaid =
    all.some(isUse) &&
    transfer !== undefined &&
    same(transfer.address, requirement.asset) &&
    same(transfer.topics[0], TOPICS.transfer) &&
    same(transfer.topics[1], padded(from)) &&
    same(transfer.topics[2], padded(requirement.payTo)) &&
    BigInt(transfer.data) === BigInt(requirement.amount)
  if (BigInt(status) !== 1n || !isPaid) return { kind: 'void' }
  return { kind: 'settled', transaction: use.transactionHash.toLowerCase() }
}

/** An address as a topic. */
const padded = (address: string) => `0x${address.slice(2).padStart(64, '0')}`

const same = (a: string | undefined, b: string) => a?.toLowerCase() === b.toLowerCase()
