// Files that a killed process left half-written: each kill would leave another, until the disk is full.

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Removes the files whose name fits and whose process, by the id in the first group, is no more. */
export async function removeOrphans(folder: string, name: RegExp): Promise<void> {
  for (const entry of await readdir(folder)) {
    const pid = Number(name.exec(entry)?.[1])
    if (pid > 0 && !isAlive(pid)) await rm(join(folder, entry), { force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Another user's process answers EPERM.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
