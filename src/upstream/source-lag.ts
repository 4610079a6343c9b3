// How late a source's own clock is, by its `exchangeStatus`. Looked at in the background and only while there is
// traffic; a source that does not know the type is never late.

import type { Outcome } from './outcome.ts'

export const LAG_TYPE = 'exchangeStatus'
export const LAG_BODY = `{"type":"${LAG_TYPE}"}`

const CHECK_EVERY_MS = 3_000
/** A source with a budget is looked at less often: every isolate does it, and each look has its weight. */
const CHECK_BUDGETED_EVERY_MS = 30_000
/** A source that refuses the type is asked again after this time. */
const CHECK_UNSUPPORTED_EVERY_MS = 300_000
/** An older reading says nothing any more. */
const READING_MAX_MS = 60_000

export class SourceLag {
  readonly #everyMs: number
  readonly #isRouted: boolean
  #nextMs = 0
  #reading: { readonly lagMs: number; readonly atMs: number } | null = null

  /** `asked`: false for a source that is not routed this type. */
  constructor({ asked, dear }: { readonly asked: boolean; readonly dear: boolean }) {
    this.#everyMs = dear ? CHECK_BUDGETED_EVERY_MS : CHECK_EVERY_MS
    this.#isRouted = asked
  }

  /** True for one caller only when the next look is due. */
  tryCheck(nowMs: number): boolean {
    // A look that is further away was planned before the clock was set back.
    const waitMs = this.#nextMs - nowMs
    if (!this.#isRouted || (waitMs > 0 && waitMs <= CHECK_UNSUPPORTED_EVERY_MS)) return false
    this.#nextMs = nowMs + this.#everyMs
    return true
  }

  /** Takes in what the source answered to the type, in a look or in traffic. */
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

  /** Null where it is not known. */
  lagMs(nowMs: number): number | null {
    return this.#reading === null || Math.abs(nowMs - this.#reading.atMs) > READING_MAX_MS ? null : this.#reading.lagMs
  }
}

function timeOf(text: string): number | null {
  const time = (JSON.parse(text) as { time?: unknown } | null)?.time
  return typeof time === 'number' && Number.isFinite(time) ? time : null
}
