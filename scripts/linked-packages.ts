// The packages of a second checkout of this repository.

import { execFileSync } from 'node:child_process'
import { copyFileSync, linkSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Gives `checkout` the packages of its lock file: links to the files of this checkout if both need the same ones, else a new
 * install. Links of single files, because a bundler would write the path of a linked folder into its output.
 */
export function providePackages(root: string, checkout: string): void {
  if (lockedPackages(root) === lockedPackages(checkout))
    linkTree(join(root, 'node_modules'), join(checkout, 'node_modules'))
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: checkout, stdio: 'inherit' })
}

/** The lock file without the version of this project. */
function lockedPackages(root: string): string {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: object }
  return JSON.stringify({ ...packages, '': null })
}

/** Links all files of a folder into a new one. Caches of tools, which they write in place, are left out. */
export function linkTree(from: string, to: string): void {
  mkdirSync(to)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name)
    const target = join(to, entry.name)
    if (/^\.(?:cache|vite|mf)/.test(entry.name)) continue
    if (entry.isDirectory()) linkTree(source, target)
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target)
    else link(source, target)
  }
}

function link(source: string, target: string): void {
  try {
    linkSync(source, target)
  } catch {
    // Another disk.
    copyFileSync(source, target)
  }
}
