/** Feeder counters without any incident. */
export const ZERO_COUNTERS = {
  unacked: 0,
  reconnects: 0,
  misfits: 0,
  drifted: 0,
  gaps: 0,
  refusedEvents: 0,
  stallMs: 0,
  stalls: 0,
  lateLines: 0,
}
