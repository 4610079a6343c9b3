// Files of a folder on this machine, or of a bucket that was copied into one.

import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { err, ok, type Result } from '../../core/result.ts'
import type { SourceFile } from './source-files.ts'
import { unpacked } from './unpacked.node.ts'

/** Ten years of hours, or two of minutes. */
const FILES_MOST = 2_000_000

/** All files in it; or why not. */
export async function folderFiles(folder: string): Promise<Result<SourceFile[], string>> {
  const root = resolve(folder)
  const files: SourceFile[] = []
  try {
    if (!(await stat(root)).isDirectory()) return err(`${folder} is a file: name the folder that it lies in.`)
    for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() && !entry.isSymbolicLink()) continue
      if (files.length === FILES_MOST) return err(`${folder} holds more than ${FILES_MOST} files: name a folder in it.`)
      const path = join(entry.parentPath, entry.name)
      files.push({ path, bytes: 0, open: () => unpacked(path, createReadStream(path)) })
    }
  } catch (error) {
    return err(unreadable(folder, (error as NodeJS.ErrnoException).code))
  }
  return ok(files)
}

function unreadable(folder: string, code = 'unknown'): string {
  if (code === 'ENOENT')
    return `${folder} does not exist: name a folder, s3://BUCKET/PREFIX, or the https:// address of a gateway.`
  return `${folder} cannot be read (${code}): give this user the right to read it.`
}
