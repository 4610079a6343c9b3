// An earlier version, built from its sources, and its bundles mixed with those of today: during a deploy, old and new
// Workers call each other.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { providePackages } from '../../scripts/linked-packages.ts'
import { ROLES } from '../../src/cli/deploy/workers.ts'
import { ROOT, scratch } from '../kit/program.ts'

/** Which Workers are old: the gateway, or those with objects. */
export const MIXTURES = ['gateway', 'objects'] as const
type Mixture = (typeof MIXTURES)[number]

/** Not in node_modules, where Node runs no TypeScript. */
const BUILT = join(ROOT, 'dist/previous')

export interface PreviousBundles {
  /** Folder of bundles, relative to the repository. */
  readonly mixed: (old: Mixture) => string
  readonly remove: () => void
}

/** The newest release before the commit that is checked out; null if nothing was released, or the history is missing. */
export function lastRelease(): string | null {
  try {
    const args = ['describe', '--tags', '--abbrev=0', '--match=v[0-9]*', 'HEAD^']
    return String(execFileSync('git', args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] })).trim()
  } catch {
    return null
  }
}

/** The folder of a git reference with its packages and built Workers. It is kept until another one is built. */
export function previousSource(ref: string): string {
  const commit = String(execFileSync('git', ['rev-parse', `${ref}^{commit}`], { cwd: ROOT })).trim()
  const source = join(BUILT, commit)
  if (existsSync(join(source, 'dist/.stamp'))) return source
  rmSync(BUILT, { recursive: true, force: true })
  mkdirSync(source, { recursive: true })
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 1024 ** 3 })
  execFileSync('tar', ['-x', '-C', source], { input: archive })
  providePackages(ROOT, source)
  execFileSync(process.execPath, ['scripts/build.ts'], { cwd: source, stdio: 'inherit' })
  return source
}

/** Mixes the Workers of a git reference with those of today, which are built. */
export function previousBundles(ref: string): PreviousBundles {
  const { path, remove } = scratch()
  const from = { previous: join(previousSource(ref), 'dist'), today: join(ROOT, 'dist') }
  return { mixed: (old) => relative(ROOT, mix(old, from, join(path, old))), remove }
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
