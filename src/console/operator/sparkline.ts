// A line of the last values of a metric. Invariants: the line stays within its box; a value that is missing leaves a gap;
// a counter that started again does not fall.

/** Increases of a sum from each value to the next one. A sum that fell started again, and its increase is not known. */
export function increases(values: readonly (number | null)[]): (number | null)[] {
  return values.slice(1).map((value, i) => {
    const before = values[i] ?? null
    return value === null || before === null || value < before ? null : value - before
  })
}

/**
 * Path in a box of `width` × `height`, with the lowest value at the bottom, or zero if `isFromZero`. Empty without two
 * values in a row.
 */
export function sparkPath(
  values: readonly (number | null)[],
  width: number,
  height: number,
  isFromZero = false,
): string {
  const known = values.filter((value) => value !== null)
  const low = Math.min(...known, ...(isFromZero ? [0] : []))
  const range = Math.max(...known) - low
  const x = (i: number) => Math.round((i / Math.max(values.length - 1, 1)) * width * 10) / 10
  const y = (value: number) =>
    Math.round((range === 0 ? (isFromZero ? height : height / 2) : height - ((value - low) / range) * height) * 10) / 10
  const parts: string[] = []
  for (const [i, value] of values.entries()) {
    if (value === null) continue
    const isNew = i === 0 || values[i - 1] === null
    if (isNew && (values[i + 1] ?? null) === null) continue
    parts.push(`${isNew ? 'M' : 'L'}${x(i)} ${y(value)}`)
  }
  return parts.join('')
}
