// A log file of bounded size: `weir.log`, then `weir.log.1` to `weir.log.4`, the newest first. Without one, the log goes to
// standard error, which systemd and containers keep and rotate themselves.

import { closeSync, fstatSync, ftruncateSync, openSync, renameSync, writeSync } from 'node:fs'
import { visible } from '../../core/visible.ts'
import type { WriteLine } from '../launch/miniflare-options.node.ts'

const FILES = 5

/** Throws the system error if the file cannot be opened. A line that cannot be written is lost. */
export function rotatingLog(path: string, maxBytes: number): WriteLine {
  let file = openSync(path, 'a', 0o600)
  let bytes = fstatSync(file).size
  return (line) => {
    const text = Buffer.from(`${new Date().toISOString()} ${visible(line)}\n`)
    try {
      if (bytes + text.length > maxBytes) {
        file = nextFile(path, file)
        bytes = 0
      }
      bytes += writeSync(file, text)
    } catch {
      // A full disk must not stop the gateway.
    }
  }
}

/**
 * The old file stays open until there is a new one, because its descriptor could soon be that of a database. In a folder where
 * files cannot be renamed or created, the old file starts over.
 */
function nextFile(path: string, old: number): number {
  try {
    rotate(path)
    const next = openSync(path, 'a', 0o600)
    closeSync(old)
    return next
  } catch {
    ftruncateSync(old)
    return old
  }
}

function rotate(path: string): void {
  for (let n = FILES - 1; n >= 1; n--)
    try {
      renameSync(n === 1 ? path : `${path}.${n - 1}`, `${path}.${n}`)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
}
