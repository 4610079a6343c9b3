// Reads the wrangler files of this version, and writes those of one gateway. Invariant: the former are never changed.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'smol-toml'
import type { WorkerFiles } from './effective-file.ts'
import { WorkerFile } from './worker-file.ts'
import { ROLES, WORKERS, type WorkerRole } from './workers.ts'

/** Its files are written again by each deploy. */
const WORK_FOLDER = '.weir-deploy'

export function readTemplates(root: string): WorkerFiles {
  const read = (role: WorkerRole) => WorkerFile.parse(parse(readFileSync(join(root, WORKERS[role]), 'utf8')))
  return Object.fromEntries(ROLES.map((role) => [role, read(role)])) as unknown as WorkerFiles
}

/** Creates the folder, which git ignores, and returns its path. */
export function makeWorkFolder(folder: string): string {
  const path = join(folder, WORK_FOLDER)
  mkdirSync(path, { recursive: true, mode: 0o700 })
  writeFileSync(join(path, '.gitignore'), '*\n')
  return path
}

export function writeWorkerFiles(path: string, files: WorkerFiles): void {
  for (const role of ROLES) writeWorkerFile(path, role, files[role])
}

/** Returns the path of the file. */
export function writeWorkerFile(path: string, name: string, file: WorkerFile): string {
  const target = join(path, `${name}.toml`)
  writeFileSync(target, stringify(file), { mode: 0o600 })
  return target
}
