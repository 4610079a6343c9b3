// When a child that died is started again.

export const RESTART_FIRST_MS = 200
const RESTART_CAP_MS = 2_000
/** A child that lived so long was a good one: its death is the first again. */
const STEADY_MS = 5_000

/** Wait before the next start, ms, of a child that lived `livedMs` and was started after a wait of `lastMs` (0: first). */
export function restartDelayMs(lastMs: number, livedMs: number): number {
  if (lastMs === 0 || livedMs >= STEADY_MS) return RESTART_FIRST_MS
  return Math.min(RESTART_CAP_MS, lastMs * 2)
}
