// How much of a stream's files stays where they have grown too large. Law: what stays is the newest of them and within
// the bound, and cutting happens seldom, because half of the bound is cut off at once.

/** Bytes that stay of the end of each file, oldest first as in `sizes`; all of them while they are within `mostBytes`. */
export function keptBytes(sizes: readonly number[], mostBytes: number): number[] {
  const total = sizes.reduce((sum, size) => sum + size, 0)
  let room = total > mostBytes ? Math.floor(mostBytes / 2) : total
  return sizes
    .toReversed()
    .map((size) => {
      const kept = Math.min(size, room)
      room -= kept
      return kept
    })
    .reverse()
}
