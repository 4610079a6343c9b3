// What is to be said of a key at a moment: whether it works, why not, and until when.

/** As the admin API tells it; Unix ms. */
export interface KeyTimes {
  readonly expires: number | null
  readonly revoked: number | null
  /** Hash of the key that replaced it by rotation, which also set `expires`, or `revoked` where there was no grace. */
  readonly replaced_by: string | null
}

/** `active`, `active until …`, `replaced, works until …`, `replaced, ended …`, `expired …`, `revoked …`. */
export function keyState({ expires, revoked, replaced_by: successor }: KeyTimes, nowMs: number): string {
  const isReplaced = successor !== null
  if (revoked !== null) return `${isReplaced ? 'replaced, ' : ''}revoked ${timeText(revoked)}`
  if (expires === null) return isReplaced ? 'replaced' : 'active'
  if (expires <= nowMs) return `${isReplaced ? 'replaced, ended' : 'expired'} ${timeText(expires)}`
  return `${isReplaced ? 'replaced, works' : 'active'} until ${timeText(expires)}`
}

/** What a `Date` can hold; a key may be told to expire later. */
const LAST_MS = 8.64e15

/** To the minute, in UTC, as `--expires` takes it. */
export function timeText(ms: number): string {
  return new Date(Math.max(-LAST_MS, Math.min(ms, LAST_MS))).toISOString().replace(/:\d\d\.\d+Z$/, 'Z')
}
