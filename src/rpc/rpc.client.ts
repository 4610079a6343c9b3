// JSON-RPC service of an isolate, using fetch. There is one per Worker process, because breakers and caches have state.

import { after, sleep } from '../core/timers.client.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import { sender } from '../upstream/upstream.client.ts'
import { ChainCache } from './chain-cache.ts'
import { CallPrices, type RpcChain } from './chains.ts'
import { RpcService, type RpcServiceDeps, type ServedChain } from './rpc-service.ts'
import { RpcUpstream } from './rpc-upstream.ts'

export interface RpcPlatform extends Pick<RpcServiceDeps, 'report'> {
  readonly waitUntil: WaitUntil
  /** Values of the headers of nodes, by the name of the secret. */
  readonly secrets: object
}

const now = () => Date.now()
/** Maximum total length of the stored responses of all chains. */
const MEMORY_MAX = 8 * 1024 * 1024

/** Serves all chains with nodes. */
export function rpcService(configs: readonly RpcChain[], platform: RpcPlatform): RpcService {
  const withNodes = configs.filter(({ urls }) => urls.length > 0)
  const memoryMax = MEMORY_MAX / withNodes.length
  const chains = withNodes.map((config) => [config.name, servedChain(config, platform, memoryMax)] as const)
  return new RpcService({ chains: new Map(chains), now, report: platform.report })
}

function servedChain(
  config: RpcChain,
  { secrets, waitUntil: background }: RpcPlatform,
  memoryMax: number,
): ServedChain {
  const send = sender(config, secrets)
  const upstream = new RpcUpstream(config, { send, now, random: () => Math.random(), sleep, background })
  return { prices: new CallPrices(config), cache: new ChainCache(config, { upstream, now, after, memoryMax }) }
}
