// Removes partial files of killed processes, which would otherwise fill the disk.

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Removes files that match `name` and whose process, identified by the ID in the first group, no longer exists. */
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
    // Signaling another user's process fails with EPERM.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
