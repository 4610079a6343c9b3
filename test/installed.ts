// Brings what a package.json of its own names, once and apart from the packages of Weir, so that `npm start` stays lean.

import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where no tool looks for code of ours, and no install of Weir's packages removes anything. */
export const placeOf = (name: string): string => join(import.meta.dirname, '../node_modules/.cache', name)

/** Null, or why what the list in `folder` names is not in `place`. Throws where that list is wrong. */
export function missingIn(place: string, folder: string): string | null {
  const files = ['package.json', 'package-lock.json']
  const want = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('')
  const stamp = join(place, 'installed')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === want) return null
  rmSync(place, { recursive: true, force: true })
  mkdirSync(place, { recursive: true })
  for (const file of files) copyFileSync(join(folder, file), join(place, file))
  const args = ['--prefix', place, '--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=1']
  const npm = spawnSync('npm', ['install', ...args, '--loglevel=error'], { encoding: 'utf8', timeout: 240_000 })
  if (npm.status !== 0) {
    const [, code = String(npm.error ?? npm.stderr)] = /npm error code (\S+)/.exec(npm.stderr) ?? []
    // The registry was reached, and what is asked of it is wrong.
    if (['EINTEGRITY', 'ERESOLVE', 'ETARGET'].includes(code)) throw new Error(npm.stderr)
    return `npm could not bring it from its registry (${code})`
  }
  writeFileSync(stamp, want)
  return null
}
