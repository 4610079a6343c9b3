// Miniflare, which starts the Workers of a gateway as a rehearsal.

import { convertV4MiniflareOptions as convert } from 'miniflare'
import type { WorkerOptions } from '../../src/cli/launch/gateway-process.node.ts'
import { rehearsalOf } from './topology.ts'

export * from 'miniflare'

const rehearsal = rehearsalOf(process.env)

export const convertV4MiniflareOptions = (options: { readonly workers: readonly WorkerOptions[] }) => {
  const isGateway = options.workers.some(({ unsafeDirectSockets }) => unsafeDirectSockets !== undefined)
  const workers = isGateway && rehearsal ? rehearsal.arrange(options.workers) : [...options.workers]
  return convert({ ...options, workers })
}
