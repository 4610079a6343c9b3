// Times as the console shows them: UTC, always said.

/** `2026-11-25 22:40:07`, UTC. */
export const timeText = (unixMs: number): string => new Date(unixMs).toISOString().slice(0, 19).replace('T', ' ')
/** `2026-11-25`, UTC. */
export const dayText = (unixMs: number): string => new Date(unixMs).toISOString().slice(0, 10)

/** `2026-11-25 22 h`: in which hour, UTC, where no more is kept. */
export const hourText = (unixMs: number): string => `${timeText(unixMs).slice(0, 13)} h`

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** `3 d`, `2 h`, `5 min`, `8 s`: one unit, rounded down; below a second `0 s`. */
export function spanText(ms: number): string {
  const [unit, length] = UNITS.find(([, each]) => ms >= each) ?? UNITS.at(-1)!
  return `${Math.max(0, Math.floor(ms / length))} ${unit}`
}
