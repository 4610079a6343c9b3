// The product's own classes, loaded into Node: `cloudflare:workers` is a small file here, and what is to be broken on
// purpose is broken as its file is read.

import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Breakage } from './breakages.ts'
import type { Product } from './world.node.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const urlOf = (path: string): string => pathToFileURL(join(ROOT, path)).href

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

/** To be called once, before anything of src is loaded that is to be broken. */
export async function loadProduct(shards: number, breakage: Breakage | null): Promise<Product> {
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
