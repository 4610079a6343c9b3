// Brings what package.json beside this names, once and apart from the packages of Weir, so that `npm start` stays lean.

import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where no tool looks for code of ours, and no install of Weir's packages removes anything. */
export const PLACE = join(import.meta.dirname, '../../node_modules/.cache/clients')
export const MODULES = join(PLACE, 'node_modules')

/** Null, or why the SDKs of npm are not there. Throws where the list beside this is wrong. */
export function installClients(): string | null {
  const files = ['package.json', 'package-lock.json']
  const want = files.map((file) => readFileSync(join(import.meta.dirname, file), 'utf8')).join('')
  const stamp = join(PLACE, 'installed')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === want) return null
  rmSync(PLACE, { recursive: true, force: true })
  mkdirSync(PLACE, { recursive: true })
  for (const file of files) copyFileSync(join(import.meta.dirname, file), join(PLACE, file))
  const args = ['--prefix', PLACE, '--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=1']
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
