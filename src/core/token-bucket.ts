// Token buckets: so many tokens a second, and so many at once. Laws (test/core/token-bucket.test.ts): in any window of t
// seconds at most rate × t and the burst leave a bucket, beside what was borrowed; a clock that steps back gives nothing
// and takes nothing, one that is set back by over a minute counts from there; the time until the next token is exact,
// which is why tokens are counted in whole thousandths.

export interface Rate {
  readonly perSecond: number
  /** What a full bucket holds. */
  readonly burst: number
}

/** `milliTokens` is whole where the rate is; below nought while tokens are borrowed. */
export interface Bucket {
  readonly milliTokens: number
  readonly atMs: number
}

/** What a taker gets: `taken` may be less than asked for; `waitMs` is the time until the next token, 0 if one is there. */
export interface TakeResult {
  readonly bucket: Bucket
  readonly taken: number
  readonly waitMs: number
}

const MILLI = 1000
/** Clocks of one machine are not further apart. */
const SET_BACK_MS = 60_000

/** So many a second, a second's worth at once, at least one token. */
export function oneSecondBurst(perSecond: number): Rate {
  return { perSecond, burst: Math.max(1, perSecond) }
}

/** A bucket nobody has taken from. */
export function fullBucket({ burst }: Rate, nowMs: number): Bucket {
  return { milliTokens: burst * MILLI, atMs: nowMs }
}

/** Whole tokens in the bucket. */
export function wholeTokens({ milliTokens }: Bucket): number {
  return Math.floor(milliTokens / MILLI)
}

/** Takes at most `most` whole tokens. */
export function takeTokens(bucket: Bucket, rate: Rate, max: number, nowMs: number): TakeResult {
  const now = refilled(bucket, rate, nowMs)
  const taken = Math.max(0, Math.min(max, wholeTokens(now)))
  const milliTokens = now.milliTokens - taken * MILLI
  return { bucket: { milliTokens, atMs: now.atMs }, taken, waitMs: waitMs(milliTokens, MILLI, rate) }
}

/** Takes all of them, on credit if need be; `waitMs`: until the credit is paid back. */
export function borrowTokens(bucket: Bucket, rate: Rate, count: number, nowMs: number): Omit<TakeResult, 'taken'> {
  const now = refilled(bucket, rate, nowMs)
  const milliTokens = now.milliTokens - count * MILLI
  return { bucket: { milliTokens, atMs: now.atMs }, waitMs: waitMs(milliTokens, 0, rate) }
}

/** A millisecond brings `perSecond` thousandths. */
function waitMs(milliTokens: number, wanted: number, { perSecond }: Rate): number {
  return Math.max(0, Math.ceil((wanted - milliTokens) / perSecond))
}

function refilled(bucket: Bucket, { perSecond, burst }: Rate, nowMs: number): Bucket {
  const elapsedMs = nowMs - bucket.atMs
  if (elapsedMs <= 0) return elapsedMs < -SET_BACK_MS ? { ...bucket, atMs: nowMs } : bucket
  return { milliTokens: Math.min(burst * MILLI, bucket.milliTokens + elapsedMs * perSecond), atMs: nowMs }
}
