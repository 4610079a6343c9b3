// Durations in milliseconds.

export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/**
 * Wait between two steps of long work. Without it, the timer of the next step is due at once, and workerd runs
 * several due timers before it polls its sockets.
 */
export const YIELD_MS = 1
