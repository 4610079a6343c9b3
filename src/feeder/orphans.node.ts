// Removes partial files of killed processes, which would otherwise fill the disk.

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Removes files whose name matches `name` and whose process no longer exists. The pattern's first group is the process
 * ID.
 */
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
    // Signaling another user's process fails with EPERM, so such a process exists.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
