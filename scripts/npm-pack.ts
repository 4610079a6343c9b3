// Packs a built package into dist/packages, as `npm publish` would upload it.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const PACKAGES = join(import.meta.dirname, '../dist/packages')

/** npm gives all files the same time and owner, so the same files make the same bytes. */
export function pack(folder: string): void {
  const args = ['pack', '--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', PACKAGES]
  const npm = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' })
  if (npm.status !== 0) throw new Error(npm.stderr || String(npm.error))
  const [{ filename, size, unpackedSize }] = JSON.parse(npm.stdout)
  console.log(`dist/packages/${filename}: ${kilobytes(size)}, unpacked ${kilobytes(unpackedSize)}`)
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1_000)} kB`
}
