// Copies of this tree, as a user of git and npm has them.

import { cpSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { linkTree } from '../../scripts/linked-packages.ts'
import { ROOT } from './program.ts'

/** Copies the files that git does not ignore into a new folder, and links the packages. */
export function copyTree(folder: string): void {
  const ignored = readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n').filter(Boolean)
  const isOurs = (path: string) => !['.git', ...ignored].some((name) => basename(path) === name.replace('/', ''))
  cpSync(ROOT, folder, { recursive: true, filter: isOurs })
  linkTree(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
}
