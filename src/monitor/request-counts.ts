// Counts requests of the gateway by surface and status, and their durations. Invariant: counting a request allocates
// nothing, because it is on the path of every cached response.

import type { SeriesValue } from '../core/counters.ts'

export const SURFACES = [
  'info',
  'rpc',
  'ws',
  'graphql',
  'mcp',
  'platform',
  'admin',
  'feed',
  'status',
  'page',
  'other',
] as const
type Surface = (typeof SURFACES)[number]

/** Upper bounds of the buckets of durations in ms; the last bucket has none. */
export const DURATION_BOUNDS_MS = [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000] as const
const STATUS_END = 600
const BUCKETS = DURATION_BOUNDS_MS.length + 1

/** First path segments of the surfaces. All other paths are pages. */
const SEGMENTS: Readonly<Record<string, Surface>> = {
  info: 'info',
  v1: 'rpc',
  ws: 'ws',
  graphql: 'graphql',
  mcp: 'mcp',
  platform: 'platform',
  admin: 'admin',
  feed: 'feed',
  status: 'status',
  session: 'other',
  signup: 'other',
  checkout: 'other',
  metrics: 'other',
}

/** The surface of a URL. A key in `/k/<key>/info` is skipped. Below `/v1/<chain>`, there is the data API. */
export function surfaceOf(url: string): Surface {
  const [first = '', ...rest] = pathOf(url).split('/', 5)
  const [segment = '', , part = ''] = first === 'k' ? rest.slice(1) : [first, ...rest]
  if (segment === 'v1' && part !== '') return 'platform'
  return Object.hasOwn(SEGMENTS, segment) ? (SEGMENTS[segment] ?? 'page') : 'page'
}

function pathOf(url: string): string {
  const start = url.indexOf('/', 'https://'.length)
  const query = url.search(/[?#]/)
  return start < 0 ? '' : url.slice(start + 1, query < 0 ? undefined : query)
}

export class RequestCounts {
  readonly #statuses = new Uint32Array(SURFACES.length * STATUS_END)
  readonly #durations = new Uint32Array(SURFACES.length * BUCKETS)
  readonly #sumsMs = new Float64Array(SURFACES.length)
  #hasAny = false

  /** `surface`: index in SURFACES. */
  count(surface: number, status: number, durationMs: number): void {
    this.#hasAny = true
    const known = status >= 100 && status < STATUS_END ? status : 0
    ;(this.#statuses[surface * STATUS_END + known] as number)++
    let bucket = 0
    while (bucket < DURATION_BOUNDS_MS.length && durationMs > (DURATION_BOUNDS_MS[bucket] as number)) bucket++
    ;(this.#durations[surface * BUCKETS + bucket] as number)++
    this.#sumsMs[surface] = (this.#sumsMs[surface] as number) + durationMs
  }

  /** Counts since the last call, which are then forgotten. */
  take(): SeriesValue[] {
    if (!this.#hasAny) return []
    const taken = SURFACES.flatMap((surface, index): SeriesValue[] => [
      ...nonZero(this.#statuses.subarray(index * STATUS_END, (index + 1) * STATUS_END), `requests|${surface}`),
      ...nonZero(this.#durations.subarray(index * BUCKETS, (index + 1) * BUCKETS), `duration|${surface}`),
      [`duration_ms|${surface}`, this.#sumsMs[index] ?? 0],
    ])
    this.#statuses.fill(0)
    this.#durations.fill(0)
    this.#sumsMs.fill(0)
    this.#hasAny = false
    return taken.filter(([, value]) => value > 0)
  }
}

function nonZero(values: ArrayLike<number>, series: string): SeriesValue[] {
  return Array.from(values, (value, index): SeriesValue => [`${series}|${index}`, value]).filter(
    ([, value]) => value > 0,
  )
}
