// Bundles of an earlier version, mixed with those of today: during a deploy, old and new Workers call each other.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { ROLES } from '../../src/cli/deploy/workers.ts'
import { ROOT, scratch } from '../kit/program.ts'

/** Which Workers are old: the gateway, or those with objects. */
export const MIXTURES = ['gateway', 'objects'] as const
type Mixture = (typeof MIXTURES)[number]

export interface PreviousBundles {
  /** Folder of bundles, relative to the repository. */
  readonly mixed: (old: Mixture) => string
  readonly remove: () => void
}

/** Builds the Workers of a git reference. Its packages are installed if they differ from today's. */
export async function previousBundles(ref: string): Promise<PreviousBundles> {
  const { path, remove } = scratch()
  const source = join(path, 'source')
  mkdirSync(source)
  const archive = execFileSync('git', ['archive', ref], { cwd: ROOT, maxBuffer: 1024 ** 3 })
  execFileSync('tar', ['-x', '-C', source], { input: archive })
  const lock = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8')
  if (lock(source) === lock(ROOT)) symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'))
  else execFileSync('npm', ['ci'], { cwd: source, stdio: 'inherit' })
  execFileSync(process.execPath, ['scripts/build.ts'], { cwd: source, stdio: 'inherit' })
  const mixed = (old: Mixture): string =>
    relative(ROOT, mix(old, { previous: join(source, 'dist'), today: join(ROOT, 'dist') }, join(path, old)))
  return { mixed, remove }
}

/** Links the bundles of both versions into `folder`, which it returns. */
export function mix(old: Mixture, from: { readonly previous: string; readonly today: string }, folder: string): string {
  mkdirSync(folder)
  for (const part of ROLES) {
    const previous = join(from.previous, part)
    // A Worker that the earlier version did not have is today's.
    const isOld = (part === 'gateway') === (old === 'gateway') && existsSync(previous)
    symlinkSync(isOld ? previous : join(from.today, part), join(folder, part))
  }
  return folder
}
