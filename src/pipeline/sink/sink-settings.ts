// The variables of a Sink.

import * as z from 'zod'
import { LiveSettings } from '../../core/variables.ts'
import { RpcChains } from '../../rpc/chains.ts'

export const SinkSettings = LiveSettings.extend({
  /** Who resolves names, by DNS over HTTPS with JSON. */
  PIPELINE_RESOLVER: z.url('must be an address such as https://cloudflare-dns.com/dns-query'),
  /** As the gateway has it. */
  RPC_CHAINS: RpcChains,
})
export type SinkSettings = z.infer<typeof SinkSettings>
