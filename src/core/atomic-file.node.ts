// Files that a reader never sees half written.

import { renameSync, rmSync, writeFileSync } from 'node:fs'

/** Replaces a file atomically: readers see either the old or the new content. By default, only its owner can read it. */
export function writeAtomically(path: string, text: string, mode = 0o600): void {
  const fresh = `${path}.${process.pid}.new`
  try {
    writeFileSync(fresh, text, { mode, flush: true })
    renameSync(fresh, path)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw error
  }
}
