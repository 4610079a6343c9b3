// The variables of a Sink.

import * as z from 'zod'
import { LiveSettings } from '../../core/variables.ts'
import { RpcChains } from '../../rpc/chains.ts'
import { HyperdriveVariable } from '../hyperdrive.ts'

export const SinkSettings = LiveSettings.extend({
  /** Who resolves names, by DNS over HTTPS with JSON. */
  PIPELINE_RESOLVER: z.url('must be an address such as https://cloudflare-dns.com/dns-query'),
  /** Accounts that may write through Hyperdrives, by the name of the binding. */
  PIPELINE_HYPERDRIVE: HyperdriveVariable,
  /** As the gateway has it. */
  RPC_CHAINS: RpcChains,
})
export type SinkSettings = z.infer<typeof SinkSettings>
