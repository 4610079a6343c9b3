// An RPC service over fake nodes on a test clock, with its charges.

import type { Failure } from '../../src/core/failure.ts'
import { err, ok } from '../../src/core/result.ts'
import type { CallResult, Charging, Price } from '../../src/metering/charging.ts'
import { ChainCache } from '../../src/rpc/chain-cache.ts'
import { CallPrices, parseChains } from '../../src/rpc/chains.ts'
import { RpcService } from '../../src/rpc/rpc-service.ts'
import { RpcUpstream } from '../../src/rpc/rpc-upstream.ts'
import type { SourceReply } from '../../src/upstream/outcome.ts'
import { identityOf } from '../kit/identity.ts'

const IDENTITY = identityOf('enterprise', ['rpc'], 'acme', 'h')

export interface Posted {
  readonly url: string
  readonly body: string
  /** Size limit of a response. */
  readonly maxBytes: number
}

/** Reply of a node to a call: a result, or members such as `"error":{…}`. */
export type Node = (method: string, params: unknown) => string

/** Typical node reply: `members` of a call, and a batch in reverse order, which is allowed. */
export function replyWith(members: Node): (posted: Pick<Posted, 'body'>) => SourceReply {
  return ({ body }) => {
    const asked = JSON.parse(body) as
      | { id: number; method: string; params?: unknown }
      | { id: number; method: string; params?: unknown }[]
    const one = ({ id, method, params }: { id: number; method: string; params?: unknown }) =>
      `{ "jsonrpc":"2.0", ${members(method, params)},"id" : ${id} }`
    const text = Array.isArray(asked) ? `[${asked.toReversed().map(one).join(' , ')}]` : `${one(asked)}\n`
    return { status: 200, retryAfter: null, text }
  }
}

export function rpcWorld(
  reply: (posted: Posted) => SourceReply | Promise<SourceReply>,
  chain: object = {},
  refusals: readonly Failure[] = [],
) {
  const config = parseChains(JSON.stringify([{ name: 'evm', urls: ['http://a/', 'http://b/'], ...chain }]))
  if (!config.ok) throw new Error(config.error)
  const posted: Posted[] = []
  const charged: Price[] = []
  const logged: CallResult[] = []
  const open = new Set<object>()
  let nowMs = 1_000_000
  const clock = { now: () => nowMs, after: () => () => undefined }
  const refused = [...refusals]
  const charging: Charging = {
    hold: (_, price) => {
      const failure = refused.shift()
      if (failure !== undefined) return err(failure)
      const hold = {
        settle: () => {
          if (!open.delete(hold)) throw new Error('hold ended twice')
          charged.push(price)
          return 7_000_000
        },
        release: () => {
          if (!open.delete(hold)) throw new Error('hold ended twice')
          return 8_000_000
        },
      }
      open.add(hold)
      return ok(hold)
    },
    log: (_, result) => void logged.push(result),
  }
  const send = async (url: string, body: string, _: number, maxBytes: number) => {
    posted.push({ url, body, maxBytes })
    return reply({ url, body, maxBytes })
  }
  const background: Promise<unknown>[] = []
  const [only] = config.value
  const upstream = new RpcUpstream(only!, {
    send,
    now: clock.now,
    random: () => 0,
    sleep: async () => undefined,
    background: (work) => void background.push(work),
  })
  const cache = new ChainCache(only!, { upstream, ...clock, memoryMax: 2 ** 20 })
  const desk = new RpcService({
    chains: new Map([['evm', { prices: new CallPrices(only!), cache }]]),
    now: clock.now,
    report: (error) => {
      throw error
    },
  })
  const request = {
    identity: IDENTITY,
    requestId: 'req_1',
    charging,
    waitUntil: () => undefined,
    recordRefusal: () => {},
  }
  return {
    ask: (text: string) => desk.handle(request, 'evm', text),
    view: () => desk.view(),
    posted,
    charged,
    /** Answered calls. */
    logged,
    /** Holds that were never ended. */
    open,
    settled: () => Promise.all(background),
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

export const call = (id: string, method: string, params?: string) =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}"${params === undefined ? '' : `,"params":${params}`}}`
