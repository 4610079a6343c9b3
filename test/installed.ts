// Installs the packages of a separate package.json once, outside Weir's own packages, so that `npm start` stays small.

import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

/** Outside the reach of code tools and of Weir's own installs. */
export const placeOf = (name: string): string => join(import.meta.dirname, '../node_modules/.cache', name)

/** Null, or why the packages listed in `folder` are not in `place`. Throws if the list is invalid. */
export function missingIn(place: string, folder: string): string | null {
  const files = ['package.json', 'package-lock.json']
  const want = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('')
  const isInstalled = () => {
    const stamp = join(place, 'installed')
    return existsSync(stamp) && readFileSync(stamp, 'utf8') === want
  }
  if (isInstalled()) return null
  // Test files in other processes may install the same at the same time.
  mkdirSync(dirname(place), { recursive: true })
  const own = mkdtempSync(`${place}-`)
  for (const file of files) copyFileSync(join(folder, file), join(own, file))
  const args = ['--prefix', own, '--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=1']
  const npm = spawnSync('npm', ['install', ...args, '--loglevel=error'], { encoding: 'utf8', timeout: 240_000 })
  const fault = installFault(npm)
  if (fault === null && !isInstalled()) {
    writeFileSync(join(own, 'installed'), want)
    rmSync(place, { recursive: true, force: true })
    renameSync(own, place)
  } else rmSync(own, { recursive: true, force: true })
  return fault
}

/** Null, or why npm could not install. Throws if the registry was reached, but the request is wrong. */
export function installFault({ status, stderr, error }: SpawnSyncReturns<string>): string | null {
  if (status === 0) return null
  const [, code = String(error ?? stderr)] = /npm error code (\S+)/.exec(stderr) ?? []
  if (['EINTEGRITY', 'ERESOLVE', 'ETARGET'].includes(code)) throw new Error(stderr)
  return `npm could not bring it from its registry (${code})`
}
