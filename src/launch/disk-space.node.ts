// Whether a state folder still has room. Every process of a launch writes, and each says in its own words that it could
// not; the launcher says why.

import { statfsSync } from 'node:fs'

const LOW_BYTES = 50e6

/** True where so little is left that writes will soon fail. */
export function isDiskFull(folder: string): boolean {
  const { blocks, bavail, bsize } = statfsSync(folder)
  // Some file systems do not tell.
  return blocks > 0 && bavail * bsize < LOW_BYTES
}
