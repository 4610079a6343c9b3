// Token buckets. Tokens are counted in whole thousandths, so that wait times are exact. Invariants
// (test/core/token-bucket.test.ts): any window of t seconds yields at most rate × t + burst tokens, plus borrowed
// tokens; if the clock steps back a little, no tokens are added or removed; if it steps back by more than a minute,
// counting restarts from the new time.

export interface Rate {
  readonly perSecond: number
  /** The capacity of a bucket. */
  readonly burst: number
}

/** `milliTokens` is an integer if the rate is an integer. It is negative while tokens are borrowed. */
export interface Bucket {
  readonly milliTokens: number
  readonly atMs: number
}

/**
 * `taken`: the number of tokens taken, which may be less than requested. `waitMs`: time until the next token; 0 if one
 * is available.
 */
export interface TakeResult {
  readonly bucket: Bucket
  readonly taken: number
  readonly waitMs: number
}

const MILLI = 1000
/** If the clock steps back by more than this, it was set back. */
const SET_BACK_MS = 60_000

/** A rate whose burst is the number of tokens per second, but at least one. */
export function oneSecondBurst(perSecond: number): Rate {
  return { perSecond, burst: Math.max(1, perSecond) }
}

/** A full bucket. */
export function fullBucket({ burst }: Rate, nowMs: number): Bucket {
  return { milliTokens: burst * MILLI, atMs: nowMs }
}

/** The number of whole tokens in the bucket. */
export function wholeTokens({ milliTokens }: Bucket): number {
  return Math.floor(milliTokens / MILLI)
}

/** Takes up to `max` tokens, if that many whole tokens are available. */
export function takeTokens(bucket: Bucket, rate: Rate, max: number, nowMs: number): TakeResult {
  const now = refilled(bucket, rate, nowMs)
  const taken = Math.max(0, Math.min(max, wholeTokens(now)))
  const milliTokens = now.milliTokens - taken * MILLI
  return { bucket: { milliTokens, atMs: now.atMs }, taken, waitMs: waitMs(milliTokens, MILLI, rate) }
}

/** Takes `count` tokens, borrowing them if necessary. `waitMs`: time until the debt is repaid. */
export function borrowTokens(bucket: Bucket, rate: Rate, count: number, nowMs: number): Omit<TakeResult, 'taken'> {
  const now = refilled(bucket, rate, nowMs)
  const milliTokens = now.milliTokens - count * MILLI
  return { bucket: { milliTokens, atMs: now.atMs }, waitMs: waitMs(milliTokens, 0, rate) }
}

/** Time until the bucket has `target` thousandths. Each millisecond adds `perSecond` thousandths. */
function waitMs(milliTokens: number, target: number, { perSecond }: Rate): number {
  return Math.max(0, Math.ceil((target - milliTokens) / perSecond))
}

function refilled(bucket: Bucket, { perSecond, burst }: Rate, nowMs: number): Bucket {
  const elapsedMs = nowMs - bucket.atMs
  if (elapsedMs <= 0) return elapsedMs < -SET_BACK_MS ? { ...bucket, atMs: nowMs } : bucket
  return { milliTokens: Math.min(burst * MILLI, bucket.milliTokens + elapsedMs * perSecond), atMs: nowMs }
}
