// Chains that are asked by JSON-RPC: the RPC_CHAINS variable, parsed, and what it says of a method. Order of `urls` is
// preference: the first node is asked first, the next is its failover.

import * as z from 'zod'
import { type MicroCredits, parseCredits } from '../core/amount.ts'
import { BoundedMap } from '../core/bounded-map.ts'
import { parseJson } from '../core/json.ts'
import { err, type Result } from '../core/result.ts'
import { parseWith } from '../core/validation-errors.ts'
import type { Price } from '../metering/charging.ts'
import { ONE_CREDIT } from '../metering/tariff.ts'

/** Calls of a batch. */
export const BATCH_MAX = 100
/** Whose prices are remembered. */
const METHODS_MAX = 500

/** What reads a chain, and sends what its owner has signed. */
const ALLOWED = ['eth_*', 'net_*', 'web3_*']
/** What uses the node's own accounts, or leaves something on one node that the next call may not meet. */
const DENIED = [
  ...['eth_accounts', 'eth_coinbase', 'eth_sign*', 'eth_sendTransaction', 'eth_resend', 'eth_mining', 'eth_hashrate'],
  ...['eth_getWork', 'eth_submit*', 'eth_newFilter', 'eth_newBlockFilter', 'eth_newPendingTransactionFilter'],
  ...['eth_getFilter*', 'eth_uninstallFilter', 'eth_subscribe', 'eth_unsubscribe'],
]

const METHOD_MESSAGE = 'must be a method such as "eth_call", or the beginning of some and "*"'
/** In small letters: some nodes take large and small ones for the same, and what is denied must stay denied there. */
const Pattern = z
  .string()
  .regex(/^(?:\*|[A-Za-z]\w{0,63}\*?)$/, METHOD_MESSAGE)
  .toLowerCase()
const Patterns = z.array(Pattern).max(200)
const Credits = z.union([z.number(), z.string()]).transform((credits, context) => {
  const micro = parseCredits(credits)
  if (micro.ok) return micro.value
  context.addIssue({ code: 'custom', message: micro.error })
  return z.NEVER
})
const HttpUrl = z.url({ protocol: /^https?$/ })
/** No fetch takes a user name in an address, and a node with one would only ever look dead. */
const NodeUrl = HttpUrl.refine(
  (url) => !/^https?:\/\/[^/]*@/i.test(url),
  'must have no user name: keys of nodes stand in the path',
)

const RpcChain = z
  .strictObject({
    /** As it stands in `/v1/<name>`. */
    name: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be small letters, digits, "_" or "-"'),
    urls: z.array(NodeUrl).max(8).default([]),
    /** Bound of one attempt: connect, headers and body together. */
    timeoutMs: z.int().min(50).max(30_000).default(10_000),
    /** Calls that a node is sent in one request; 1: for nodes that take no batches. */
    batchMax: z.int().min(1).max(BATCH_MAX).default(BATCH_MAX),
    allow: Patterns.prefault(ALLOWED),
    deny: Patterns.prefault(DENIED),
    /** Credits by method; the longest pattern that fits counts, one credit where none does. */
    prices: z.record(Pattern, Credits).default({}),
    /** So many blocks below the newest nothing changes any more. Left out: nobody knows, and only hashes are lasting. */
    finalityBlocks: z.int().min(0).max(1_000_000).optional(),
    /** How long an answer about the newest block is shared, while no newer one is known. */
    shareMs: z.int().min(0).max(5_000).default(250),
    /** A data service that has `/v1/<name>/address/…` itself; its key stands before an `@`, as the user name. */
    dataUrl: HttpUrl.optional(),
  })
  .refine(({ urls, dataUrl }) => urls.length > 0 || dataUrl !== undefined, {
    path: ['urls'],
    message: 'must name at least one node',
  })
export type RpcChain = z.infer<typeof RpcChain>

const Chains = z.array(RpcChain).max(32)

/** Parses the RPC_CHAINS variable; an error is one sentence for the operator. */
export function parseChains(text: string): Result<readonly RpcChain[], string> {
  const value = parseJson(text)
  if (value === undefined) {
    return err(
      'RPC_CHAINS is not JSON: expected a list such as [{"name":"hyperevm","urls":["https://node.example.com/evm"]}]',
    )
  }
  const parsed = parseWith(Chains, value)
  if (!parsed.ok) return err(`RPC_CHAINS ${parsed.error[0].path || 'value'}: ${parsed.error[0].message}`)
  const names = new Set(parsed.value.map(({ name }) => name))
  return names.size < parsed.value.length ? err('RPC_CHAINS has two chains of one name') : parsed
}

/** The variable. */
export const RpcChains = z.string("must be text: JSON between three quotes, '''[…]'''").transform((text, context) => {
  const chains = parseChains(text)
  if (chains.ok) return chains.value
  context.addIssue({ code: 'custom', message: chains.error })
  return z.NEVER
})

/** What calls of a chain cost. */
export class CallPrices {
  readonly #chain: Pick<RpcChain, 'allow' | 'deny' | 'prices'>
  /** Patterns take longer than a call that is answered from memory. */
  readonly #known = new BoundedMap<string, Price | null>(METHODS_MAX)

  constructor(chain: Pick<RpcChain, 'allow' | 'deny' | 'prices'>) {
    this.#chain = chain
  }

  /** Null: not allowed. */
  of(method: string): Price | null {
    const known = this.#known.get(method)
    if (known !== undefined) return known
    const price = isAllowed(this.#chain, method)
      ? ({ product: 'rpc', type: method, amount: priceOf(this.#chain, method) } as const)
      : null
    this.#known.set(method, price)
    return price
  }
}

export function isAllowed({ allow, deny }: Pick<RpcChain, 'allow' | 'deny'>, method: string): boolean {
  const name = method.toLowerCase()
  return allow.some((pattern) => matches(pattern, name)) && !deny.some((pattern) => matches(pattern, name))
}

export function priceOf({ prices }: Pick<RpcChain, 'prices'>, method: string): MicroCredits {
  const name = method.toLowerCase()
  const own = Object.entries(prices).filter(([pattern]) => matches(pattern, name))
  // A method that is named whole is meant before the beginning of some.
  const [best] = own.toSorted(([a], [b]) => Number(a.endsWith('*')) - Number(b.endsWith('*')) || b.length - a.length)
  return best?.[1] ?? ONE_CREDIT
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name
}
