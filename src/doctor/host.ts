// What the machine tells: room on its disks, and which Node and which Weir run.

import { bytesText, type Check, fail, ok, warn } from './check.ts'

export interface DiskFacts {
  /** Folders that lie on it, for a person. */
  readonly folders: string
  readonly freeBytes: number
  /** How fast the files of the streams grow there; null where that was not measured. */
  readonly bytesPerHour: number | null
}

const LITTLE_BYTES = 10e9
const NONE_BYTES = 1e9
const FEW_DAYS = 1

export function judgeDisk({ folders, freeBytes, bytesPerHour }: DiskFacts): Check {
  const days = bytesPerHour ? freeBytes / bytesPerHour / 24 : null
  const lasts =
    days === null ? '' : `; files grow by ${bytesText(bytesPerHour!)} an hour: ${daysText(days)} if nothing is removed`
  const saw = `${bytesText(freeBytes)} free for ${folders}${lasts}`
  const fix = 'Make room: remove old hourly files of the node.'
  if (freeBytes < NONE_BYTES) return fail('disk', saw, fix)
  return freeBytes < LITTLE_BYTES || (days !== null && days < FEW_DAYS) ? warn('disk', saw, fix) : ok('disk', saw)
}

const daysText = (days: number) =>
  days < 2 ? `${Math.floor(days * 24)} hours` : `${Math.min(9999, Math.floor(days))} days`

export function judgeVersions({ node, weir }: { readonly node: string; readonly weir: string }, wanted: string): Check {
  const saw = `Weir ${weir} on Node ${node}`
  const major = (version: string) => Number(version.split('.')[0])
  if (major(node) >= major(wanted)) return ok('versions', saw)
  return fail('versions', saw, `Run it as "npm run doctor": that takes Node ${wanted}, which comes as a package.`)
}
