// Bounds what one address may make the gateway look up before it is known who calls. Only a key that this isolate does
// not remember costs a look-up, so callers at work are untouched by a flood. Laws: a bounded map; callers without a
// known address share one wide bucket.

import { type Bucket, fullBucket, takeTokens } from '../credit/token-bucket.ts'

/** Unknown keys a second that one address may present. */
export const LOOKUPS_PER_SECOND = 50
/** The same for all callers whose address is not known. */
export const SHARED_LOOKUPS_PER_SECOND = 2_000
const ADDRESSES_MAX = 10_000
const SHARED = ''

export class AddressGate {
  readonly #buckets = new Map<string, Bucket>()

  /** Milliseconds to wait before another unknown key is looked at, 0 if this one may be. */
  waitMs(address: string | null, nowMs: number): number {
    const name = address === null ? SHARED : networkOf(address)
    const perSecond = name === SHARED ? SHARED_LOOKUPS_PER_SECOND : LOOKUPS_PER_SECOND
    const before = this.#buckets.get(name) ?? fullBucket(perSecond, nowMs)
    const { bucket, taken, waitMs } = takeTokens(before, perSecond, 1, nowMs)
    // Least recently seen leave first; the shared bucket is put back at once and so never leaves a busy map full.
    this.#buckets.delete(name)
    if (this.#buckets.size >= ADDRESSES_MAX) this.#dropOldest()
    this.#buckets.set(name, bucket)
    return taken > 0 ? 0 : Math.max(1, waitMs)
  }

  get size(): number {
    return this.#buckets.size
  }

  #dropOldest(): void {
    for (const oldest of this.#buckets.keys()) {
      this.#buckets.delete(oldest)
      return
    }
  }
}

/** An IPv6 caller has its whole /64 to send from; an IPv4 one a single address. */
function networkOf(address: string): string {
  if (!address.includes(':')) return address.slice(0, 64)
  const [head = '', tail] = address.toLowerCase().split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length)
  const groups = [...front, ...Array.from({ length: zeros }, () => '0'), ...back]
  return groups
    .slice(0, 4)
    .map((group) => group.slice(0, 4).replace(/^0+(?=.)/, ''))
    .join(':')
}
