// Clock lag of a source, from its `exchangeStatus`. Checked in the background and only under traffic. A source that
// does not serve this type never lags.

import type { Outcome } from './outcome.ts'

export const LAG_TYPE = 'exchangeStatus'
export const LAG_BODY = `{"type":"${LAG_TYPE}"}`

const CHECK_EVERY_MS = 3_000
/** Budgeted sources are checked less often: every isolate checks them, and each check costs weight. */
const CHECK_BUDGETED_EVERY_MS = 30_000
/** A source that rejects the type is checked again after this time. */
const CHECK_UNSUPPORTED_EVERY_MS = 300_000
/** Older readings are ignored. */
const READING_MAX_MS = 60_000

export class SourceLag {
  readonly #everyMs: number
  readonly #isRouted: boolean
  #nextMs = 0
  #reading: { readonly lagMs: number; readonly atMs: number } | null = null

  /** `isRouted`: false for a source that does not serve this type. */
  constructor({ isRouted, isBudgeted }: { readonly isRouted: boolean; readonly isBudgeted: boolean }) {
    this.#everyMs = isBudgeted ? CHECK_BUDGETED_EVERY_MS : CHECK_EVERY_MS
    this.#isRouted = isRouted
  }

  /** True for one caller when the next check is due. */
  tryCheck(nowMs: number): boolean {
    // A longer wait means that the check was scheduled before the clock was set back.
    const waitMs = this.#nextMs - nowMs
    if (!this.#isRouted || (waitMs > 0 && waitMs <= CHECK_UNSUPPORTED_EVERY_MS)) return false
    this.#nextMs = nowMs + this.#everyMs
    return true
  }

  /** Records a response to the type, from a check or from traffic. */
  record(outcome: Outcome, nowMs: number): void {
    if (outcome.kind === 'refused' || (outcome.kind === 'broken' && !outcome.whole && !outcome.again)) {
      this.#nextMs = nowMs + CHECK_UNSUPPORTED_EVERY_MS
      this.#reading = null
    }
    if (outcome.kind !== 'answer') return
    const timeMs = timeOf(outcome.text)
    this.#reading = timeMs === null ? null : { lagMs: Math.max(0, Math.floor(nowMs - timeMs)), atMs: nowMs }
    this.#nextMs = Math.max(this.#nextMs, nowMs + this.#everyMs)
  }

  /** Null if unknown. */
  lagMs(nowMs: number): number | null {
    return this.#reading === null || Math.abs(nowMs - this.#reading.atMs) > READING_MAX_MS ? null : this.#reading.lagMs
  }
}

function timeOf(text: string): number | null {
  const time = (JSON.parse(text) as { time?: unknown } | null)?.time
  return typeof time === 'number' && Number.isFinite(time) ? time : null
}
