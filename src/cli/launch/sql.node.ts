// A program: runs the SQL of pipelines in a workerd of its own, for the process that started it (gateway-process.node.ts). Its
// priority is lower, and so is that of the workerd that it starts: where there is one core alone, everybody else goes first.

import { constants, setPriority } from 'node:os'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import type { SqlProcessInput } from './gateway-process.node.ts'
import { commonOptions } from './miniflare-options.node.ts'

try {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
} catch {
  process.stderr.write('The process that runs SQL keeps the normal priority: the system grants it no lower one.\n')
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
