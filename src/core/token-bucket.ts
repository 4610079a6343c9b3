// Token buckets: so many requests a second, a second's worth at once. Laws (test/core/token-bucket.test.ts): in any
// window of t seconds at most rate × (t + 1) tokens leave a bucket; a clock that steps back gives nothing and takes
// nothing; the time until the next token is exact, which is why tokens are counted in whole thousandths.

/** A full bucket holds one second's worth, at least one token. `milliTokens` is whole where the rate is. */
export interface Bucket {
  readonly milliTokens: number
  readonly atMs: number
}

/** What a taker gets: `taken` may be less than asked for; `waitMs` is the time until the next token, 0 if one is there. */
export interface Taken {
  readonly bucket: Bucket
  readonly taken: number
  readonly waitMs: number
}

const MILLI = 1000

/** A bucket nobody has taken from. */
export function fullBucket(perSecond: number, nowMs: number): Bucket {
  return { milliTokens: capacity(perSecond), atMs: nowMs }
}

/** Whole tokens in the bucket. */
export function wholeTokens({ milliTokens }: Bucket): number {
  return Math.floor(milliTokens / MILLI)
}

/** Takes at most `most` whole tokens. */
export function takeTokens(bucket: Bucket, perSecond: number, most: number, nowMs: number): Taken {
  const now = refilled(bucket, perSecond, nowMs)
  const taken = Math.max(0, Math.min(most, wholeTokens(now)))
  const milliTokens = now.milliTokens - taken * MILLI
  const waitMs = milliTokens >= MILLI ? 0 : Math.ceil((MILLI - milliTokens) / perSecond)
  return { bucket: { milliTokens, atMs: now.atMs }, taken, waitMs }
}

/** A millisecond brings `perSecond` thousandths. */
function refilled(bucket: Bucket, perSecond: number, nowMs: number): Bucket {
  if (nowMs <= bucket.atMs) return bucket
  const milliTokens = bucket.milliTokens + (nowMs - bucket.atMs) * perSecond
  return { milliTokens: Math.min(capacity(perSecond), milliTokens), atMs: nowMs }
}

function capacity(perSecond: number): number {
  return Math.max(1, perSecond) * MILLI
}
