// Copies the archive out of the state folder of `weir serve`, also while it runs. Objects never change; a running gateway may
// delete some after it has merged them into others.

import { constants, copyFileSync, existsSync, globSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isImported } from './export-manifest.ts'

const STORE = 'gateway/v3/r2'
const BLOBS = `${STORE}/weir-archive/blobs`
const ATTEMPTS = 3

interface StoredObject {
  readonly key: string
  readonly blob: string
  readonly bytes: number
}

/** Copies what the folder lacks, and returns the number of objects; null: the archive loses objects faster than that. */
export function copyArchive(state: string, folder: string): number | null {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const objects = objectsIn(state)
    if (objects.every((object) => copyObject(state, folder, object))) return objects.length
  }
  return null
}

function objectsIn(state: string): StoredObject[] {
  return globSync(`${STORE}/miniflare-R2BucketObject/*.sqlite`, { cwd: state }).flatMap((path) => {
    const database = new DatabaseSync(join(state, path), { readOnly: true })
    try {
      const tables = database.prepare("SELECT 1 FROM sqlite_master WHERE name = '_mf_objects'").all()
      const rows = tables.length === 0 ? [] : database.prepare('SELECT key, blob_id, size FROM _mf_objects').all()
      return rows
        .map(({ key, blob_id: blob, size }) => ({ key: String(key), blob: String(blob), bytes: Number(size) }))
        .filter(({ key }) => isImported(key))
    } finally {
      database.close()
    }
  })
}

/** False: the object was deleted meanwhile. */
function copyObject(state: string, folder: string, { key, blob, bytes }: StoredObject): boolean {
  const to = join(folder, key)
  if (statSync(to, { throwIfNoEntry: false })?.size === bytes) return true
  const from = join(state, BLOBS, blob)
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE)
    return true
  } catch (error) {
    if (existsSync(from)) throw error
    return false
  }
}
