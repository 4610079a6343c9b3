// Objects sync their own databases, but workerd does not sync the files of the archive. With the attributes S and D, Linux
// writes them before it confirms a write, so that a power cut cannot lose an object that the index names.

import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** New files inherit the attributes. Logs one line where the file system does not have them. */
export function syncArchiveWrites(folder: string, log: (line: string) => void): void {
  const blobs = join(folder, 'weir-archive/blobs')
  mkdirSync(blobs, { recursive: true })
  const { status } = spawnSync('chattr', ['+S', '+D', folder, join(folder, 'weir-archive'), blobs], { stdio: 'ignore' })
  if (status !== 0)
    log(`Files in ${blobs} are written without sync: after a power cut, the archive may miss its last seconds.`)
}
