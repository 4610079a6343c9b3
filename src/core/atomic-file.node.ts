// Files that a reader never sees half written, and that only their owner can read.

import { renameSync, rmSync, writeFileSync } from 'node:fs'

/** Replaces a file atomically with mode 0600: readers see either the old or the new content. */
export function writeAtomically(path: string, text: string): void {
  const fresh = `${path}.${process.pid}.new`
  try {
    writeFileSync(fresh, text, { mode: 0o600, flush: true })
    renameSync(fresh, path)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw error
  }
}
