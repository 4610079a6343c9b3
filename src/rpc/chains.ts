// JSON-RPC chains: the RPC_CHAINS variable, parsed, and the method rules in it. `urls` are in order of preference: the
// first node is used first, the next is its failover.

import * as z from 'zod'
import { type MicroCredits, parseCredits } from '../core/amount.ts'
import { BoundedMap } from '../core/bounded-map.ts'
import { parseJson } from '../core/json.ts'
import { err, type Result } from '../core/result.ts'
import { parseWith } from '../core/validation-errors.ts'
import type { Price } from '../metering/charging.ts'
import { ONE_CREDIT } from '../metering/tariff.ts'
import { SecretHeaders } from '../upstream/secret-headers.ts'

/** Maximum number of calls per batch. */
export const BATCH_MAX = 100
/** Maximum number of methods with cached prices. */
const METHODS_MAX = 500

/** Reads, and transactions signed by their owner. */
const ALLOWED = ['eth_*', 'net_*', 'web3_*']
/** Methods that use the node's own accounts, or leave state on one node that the next call may not reach. */
const DENIED = [
  ...['eth_accounts', 'eth_coinbase', 'eth_sign*', 'eth_sendTransaction', 'eth_resend', 'eth_mining', 'eth_hashrate'],
  ...['eth_getWork', 'eth_submit*', 'eth_newFilter', 'eth_newBlockFilter', 'eth_newPendingTransactionFilter'],
  ...['eth_getFilter*', 'eth_uninstallFilter', 'eth_subscribe', 'eth_unsubscribe'],
]

const METHOD_MESSAGE = 'must be a method such as "eth_call", or a prefix followed by "*"'
/**
 * Patterns are converted to lower case, because some nodes ignore case and a denied method must stay denied on them.
 */
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
/** fetch rejects a user name in a URL, so such a node would always seem down. */
const NodeUrl = HttpUrl.refine(
  (url) => !/^https?:\/\/[^/]*@/i.test(url),
  "must not contain a user name: put the node's key in the path",
)

const RpcChain = z
  .strictObject({
    /** Name in `/v1/<name>`. */
    name: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be lower-case letters, digits, "_" or "-"'),
    urls: z.array(NodeUrl).max(8).default([]),
    /** Sent with every request to `urls`. */
    headers: SecretHeaders.optional(),
    /** Time limit of one attempt, including the connection, headers and body. */
    timeoutMs: z.int().min(50).max(30_000).default(10_000),
    /** Calls per request to a node; 1 for nodes that do not support batches. */
    batchMax: z.int().min(1).max(BATCH_MAX).default(BATCH_MAX),
    allow: Patterns.prefault(ALLOWED),
    deny: Patterns.prefault(DENIED),
    /** Credits by method. The longest matching pattern applies; the default is one credit. */
    prices: z.record(Pattern, Credits).default({}),
    /**
     * Blocks at least this far below the newest one are final. If absent, finality is unknown, and only data addressed
     * by hash is final.
     */
    finalityBlocks: z.int().min(0).max(1_000_000).optional(),
    /** How long a response about the newest block is shared while no newer one is known. */
    shareMs: z.int().min(0).max(5_000).default(250),
    /** Data service that serves `/v1/<name>/address/…`. Its key is the user name of the URL. */
    dataUrl: HttpUrl.optional(),
  })
  .refine(({ urls, dataUrl }) => urls.length > 0 || dataUrl !== undefined, {
    path: ['urls'],
    message: 'must contain at least one node',
  })
  .refine(
    ({ urls, headers }) => headers === undefined || new Set(urls.map((url) => new URL(url).hostname)).size === 1,
    {
      path: ['headers'],
      message: 'are sent to every node, so all urls must have the same host',
    },
  )
export type RpcChain = z.infer<typeof RpcChain>

const Chains = z.array(RpcChain).max(32)

/** Parses the RPC_CHAINS variable. The error is one sentence for the operator. */
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
  return names.size < parsed.value.length ? err('RPC_CHAINS has two chains with the same name') : parsed
}

/** Schema of the RPC_CHAINS variable. */
export const RpcChains = z.string("must be a string: JSON in triple quotes, '''[…]'''").transform((text, context) => {
  const chains = parseChains(text)
  if (chains.ok) return chains.value
  context.addIssue({ code: 'custom', message: chains.error })
  return z.NEVER
})

/** Prices of a chain's calls. */
export class CallPrices {
  readonly #chain: Pick<RpcChain, 'allow' | 'deny' | 'prices'>
  /** Cached prices, because pattern matching takes longer than a call served from memory. */
  readonly #known = new BoundedMap<string, Price | null>(METHODS_MAX)

  constructor(chain: Pick<RpcChain, 'allow' | 'deny' | 'prices'>) {
    this.#chain = chain
  }

  /** Price of a method; null if it is not allowed. */
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
  // An exact method name takes precedence over a prefix.
  const [best] = own.toSorted(([a], [b]) => Number(a.endsWith('*')) - Number(b.endsWith('*')) || b.length - a.length)
  return best?.[1] ?? ONE_CREDIT
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name
}
