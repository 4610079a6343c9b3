// A program that runs the SQL of pipelines in a separate workerd for its parent (gateway-process.node.ts). It and its workerd run
// at lower priority, so that everything else goes first on a single core.

import { constants, setPriority } from 'node:os'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import type { SqlProcessInput } from './gateway-process.node.ts'
import { commonOptions } from './miniflare-options.node.ts'

try {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
} catch {
  process.stderr.write('The SQL process runs at normal priority, because the system denied a lower one.\n')
}

let miniflare: Miniflare | null = null
const end = () => void Promise.resolve(miniflare?.dispose()).finally(() => process.exit())
process.on('disconnect', end)
process.on('SIGTERM', end)

process.once('message', async ({ worker, state }: SqlProcessInput) => {
  miniflare = new Miniflare(convertV4MiniflareOptions({ workers: [worker], ...commonOptions(state) }))
  const url = await miniflare.ready
  process.send?.(url.href)
})
