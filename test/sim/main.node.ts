// `npm run sim [-- --seeds 100 --from 1 --blocks 300 --break replay-bound]`: the whole product in virtual time, one
// seed after another. Exits with 1 at the first seed that violates an invariant, and prints how to reproduce it.

import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
import { commandLine, program, valueParser } from '../../src/core/command-line.node.ts'
import { wholeNumber } from '../../src/core/whole-number.ts'
import { BREAKAGES, type Breakage, type BreakageName } from './breakages.ts'
import type { Outcome, Product } from './world.node.ts'

const NAMES = Object.keys(BREAKAGES) as [BreakageName, ...BreakageName[]]
const TELL_EVERY_MS = 10_000
const urlOf = (path: string): string => pathToFileURL(join(import.meta.dirname, '../..', path)).href

type Source = (deps: object) => object
interface Answer {
  readonly body: string
  readonly height?: number
}
interface Query {
  resolve(
    request: object,
    sources: object,
  ): Promise<{ readonly ok: true; readonly value: Answer } | { readonly ok: false }>
}

const SIM = program('npm run sim --', 'the whole product in virtual time under faults, seed by seed', [
  '--seeds 1000 --from 1',
  '--seeds 1 --from 17 --blocks 500',
])
  .option('--seeds <n>', 'number of seeds', valueParser(wholeNumber(1, 10_000_000)), 100)
  .option('--from <n>', 'the first seed', valueParser(wholeNumber(0, 999_999_999)), 1)
  .option('--blocks <n>', 'blocks per seed under faults', valueParser(wholeNumber(10, 100_000)), 300)
  .option(
    '--break <what>',
    `break something on purpose: ${NAMES.join(', ')}`,
    valueParser(z.enum(NAMES, `must be one of ${NAMES.join(', ')}`)),
  )
  .option('--trace', 'print every fault')
const { seeds, from, blocks, break: broken, trace } = commandLine(SIM).opts()

const product = await loadProduct(2, broken ? BREAKAGES[broken] : null)
// Only now: it loads files that may have been broken.
const { simulate } = await import('./world.node.ts')
// Node says at the first use that SQLite is experimental.
process.removeAllListeners('warning')
const realNow = Date.now
const beganMs = realNow()
const faults: Record<string, number> = {}
const checked: Record<string, number> = {}
let done = 0
let blocksDone = 0
let virtualMs = 0
let toldMs = beganMs
let failed: Outcome | null = null
for (let seed = from; seed < from + seeds && failed === null; seed++) {
  const outcome = await simulate(seed, blocks, product)
  done++
  blocksDone += outcome.blocks
  virtualMs += outcome.virtualMs
  for (const [name, count] of Object.entries(outcome.faults)) faults[name] = (faults[name] ?? 0) + count
  for (const [name, count] of Object.entries(outcome.checked)) checked[name] = (checked[name] ?? 0) + count
  if (trace) process.stderr.write(`${outcome.events.join('\n')}\n`)
  if (outcome.violation !== null) failed = outcome
  if (realNow() - toldMs < TELL_EVERY_MS) continue
  toldMs = realNow()
  process.stderr.write(`seed ${seed}, ${blocksDone} blocks, ${perSecond(done)} seeds/s\n`)
}

process.stdout.write(
  `${done} seeds, ${blocksDone} blocks, ${Math.round(virtualMs / 3_600_000)} hours of virtual time, `,
)
process.stdout.write(`${perSecond(done)} seeds/s, ${perSecond(blocksDone)} blocks/s\n`)
tell('faults', faults)
tell('looked at', checked)
if (failed) {
  process.stdout.write(`\n${failed.events.join('\n')}\n\nVIOLATION in seed ${failed.seed}: ${failed.violation}\n`)
  const again = `--seeds 1 --from ${failed.seed} --blocks ${blocks}${broken ? ` --break ${broken}` : ''}`
  process.stdout.write(`see it again: npm run sim -- ${again}\n`)
} else process.stdout.write('all holds\n')
process.exit(failed ? 1 : 0)

function perSecond(count: number): string {
  return ((count * 1000) / Math.max(1, realNow() - beganMs)).toFixed(1)
}

function tell(what: string, counts: Readonly<Record<string, number>>): void {
  const rows = Object.entries(counts).sort(([, a], [, b]) => b - a)
  process.stdout.write(`${what}: ${rows.map(([name, count]) => `${count} ${name}`).join(', ') || 'nothing'}\n`)
}

/**
 * The product's own classes, loaded into Node: `cloudflare:workers` is a small file here, and what is to be broken on
 * purpose is broken as its file is read. To be called once, before anything of src is loaded that is to be broken.
 */
async function loadProduct(shards: number, breakage: Breakage | null): Promise<Product> {
  let isBroken = breakage === null
  registerHooks({
    resolve: (specifier, context, next) => {
      // Pipelines are no part of it: neither are their sockets, nor their binary.
      const isStood = specifier.startsWith('cloudflare:') || specifier.endsWith('.wasm')
      if (!isStood) return next(specifier, context)
      return { url: urlOf('test/sim/workers-module.ts'), shortCircuit: true }
    },
    load: (url, context, next) => {
      const loaded = next(url, context)
      if (breakage === null || url !== urlOf(breakage.file)) return loaded
      const text = String(loaded.source instanceof Uint8Array ? Buffer.from(loaded.source) : loaded.source)
      if (!text.includes(breakage.text)) throw new Error(`${breakage.file} has no "${breakage.text}" to break`)
      isBroken = true
      return { ...loaded, source: text.replace(breakage.text, breakage.broken) }
    },
  })
  // By computed names: the types of the Workers are not those of Node.
  const load = async <T>(path: string): Promise<T> => (await import(urlOf(path))) as T
  const classes = await load<Omit<Product, 'snapshot' | 'trades'>>('src/live.ts')
  const { hubBooks } = await load<{ hubBooks: Source }>('src/info/sources/books.client.ts')
  const { logHistory } = await load<{ logHistory: Source }>('src/info/sources/history.client.ts')
  const { recentTrades } = await load<{ recentTrades: Query }>('src/info/queries/recentTrades.ts')
  const { l2BookDiffSnapshot } = await load<{ l2BookDiffSnapshot: Query }>('src/info/queries/l2BookDiffSnapshot.ts')
  if (!isBroken) throw new Error(`${breakage?.file} was not loaded`)
  return {
    ...classes,
    snapshot: async (hub, coin) => {
      const answer = await l2BookDiffSnapshot.resolve({ coin }, { books: hubBooks({ shards, hub }) })
      return answer.ok
        ? { status: 200, text: answer.value.body, retryAfterMs: null }
        : { status: 503, text: '', retryAfterMs: 1000 }
    },
    trades: async ({ log, now, sleep, ask }, request) => {
      const upstream = { ask: async () => ({ ok: true, value: { text: ask() } }) }
      const answer = await recentTrades.resolve(request, { history: logHistory({ log, now, sleep }), upstream })
      return answer.ok ? answer.value : null
    },
  }
}
