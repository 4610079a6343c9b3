// The builder-deployed DEXes, asked of the upstream and remembered for two minutes, as the interface says of wildcards.

import * as z from 'zod'
import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import type { Upstream } from '../upstream/upstream-api.ts'
import type { Dexes } from './sources.ts'

const FRESH_MS = 120_000

/** The first entry is the native DEX, null on the wire. */
const PerpDexs = z.array(z.looseObject({ name: z.string().min(1) }).nullable())

export class DexList implements Dexes {
  readonly #upstream: Upstream
  readonly #now: () => number
  #known: { readonly at: number; readonly names: readonly string[] } | null = null

  constructor(upstream: Upstream, now: () => number) {
    this.#upstream = upstream
    this.#now = now
  }

  async names(): Promise<Result<readonly string[], Failure>> {
    const at = this.#now()
    if (this.#known && at - this.#known.at < FRESH_MS) return ok(this.#known.names)
    const answer = await this.#upstream.ask('perpDexs', '{"type":"perpDexs"}')
    if (!answer.ok) return answer
    const parsed = PerpDexs.safeParse(JSON.parse(answer.value))
    if (!parsed.success) return err({ kind: 'upstream_failed', source: 'perpDexs' })
    this.#known = { at, names: parsed.data.flatMap((dex) => dex?.name ?? []) }
    return ok(this.#known.names)
  }
}
