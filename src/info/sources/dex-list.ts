// List of builder-deployed DEXes from the upstream, cached for two minutes. Concurrent calls share one fetch. If the
// sources fail, an older list is used for an hour, because DEXes are never removed.

import * as z from 'zod'
import type { After } from '../../core/deadline.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { SingleFlights } from '../../core/single-flight.ts'
import type { Upstream, UpstreamResponse } from '../../upstream/upstream-api.ts'
import type { Dexes } from '../ports.ts'
import { FLIGHT_MAX_MS } from '../ports.ts'

const FRESH_MS = 120_000
const STALE_MAX_MS = 60 * 60_000
/** Minimum time between two fetches for unknown names. An unknown name may be newer than the list. */
const RECHECK_MS = 10_000
/** Delay after a failed fetch. */
const RETRY_MS = 2_000

/** The first entry is the main DEX, null on the wire. */
const PerpDexs = z.array(z.looseObject({ name: z.string().min(1) }).nullable())

type DexNames = Result<readonly string[], Failure>

/** Result for calls that joined a fetch, if the request that started the fetch has disappeared. */
const LOST: DexNames = err({ kind: 'upstream_timeout', source: 'gateway' })

export class DexList implements Dexes {
  readonly #upstream: Upstream
  readonly #now: () => number
  readonly #after: After
  readonly #flights = new SingleFlights<DexNames>(FLIGHT_MAX_MS)
  #known: { readonly at: number; readonly names: readonly string[] } | null = null
  #failed: { readonly at: number; readonly answer: DexNames } | null = null

  constructor(upstream: Upstream, now: () => number, after: After) {
    this.#upstream = upstream
    this.#now = now
    this.#after = after
  }

  async names(): Promise<DexNames> {
    if (this.#known && this.#ageMs < FRESH_MS) return ok(this.#known.names)
    const fetched = await this.#fetch()
    return fetched.ok || !this.#known || this.#ageMs >= STALE_MAX_MS ? fetched : ok(this.#known.names)
  }

  async has(name: string): Promise<boolean | null> {
    if (this.#known?.names.includes(name)) return true
    if (this.#known && this.#ageMs < RECHECK_MS) return false
    const fetched = await this.#fetch()
    return fetched.ok ? fetched.value.includes(name) : null
  }

  get #ageMs(): number {
    return this.#now() - (this.#known?.at ?? 0)
  }

  async #fetch(): Promise<DexNames> {
    const now = this.#now()
    if (this.#failed && now - this.#failed.at < RETRY_MS) return this.#failed.answer
    const flight = this.#flights.join('', () => this.#load(now), now)
    return this.#flights.result(flight, LOST, this.#after)
  }

  async #load(at: number): Promise<DexNames> {
    const answer = namesIn(await this.#upstream.request('perpDexs', '{"type":"perpDexs"}'))
    if (answer.ok) this.#known = { at, names: answer.value }
    this.#failed = answer.ok ? null : { at: this.#now(), answer }
    return answer
  }
}

function namesIn(answer: Result<UpstreamResponse, Failure>): DexNames {
  if (!answer.ok) return answer
  const parsed = PerpDexs.safeParse(JSON.parse(answer.value.text))
  if (!parsed.success) return err({ kind: 'upstream_failed', source: 'perpDexs' })
  return ok(parsed.data.flatMap((dex) => dex?.name ?? []))
}
