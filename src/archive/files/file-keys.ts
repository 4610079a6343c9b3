// Object names of files. Invariants: the names within a level sort by height; the object of a given name always has the
// same content.

import { dayOf, padded } from '../archive/archive-keys.ts'
import { type FileSpan, LEVELS, type Level } from './levels.ts'
import type { TableName } from './table.ts'

const NUMBER_DIGITS = 4

export function objectKey(chain: string, level: Level, file: Omit<FileSpan, 'lastMs'>, number: number): string {
  return `${stem(chain, LEVELS[level], file)}.${String(number).padStart(NUMBER_DIGITS, '0')}.pages`
}

/** Object name of a part of the positions after a file of a day. After a repair, its content may change. */
export function positionsKey(chain: string, day: Omit<FileSpan, 'lastMs'>, number: number): string {
  return `${stem(chain, 'positions', day)}.${String(number).padStart(NUMBER_DIGITS, '0')}.pages`
}

/** Object name of the Parquet file that belongs to the same part. */
export function tableKey(
  chain: string,
  level: Level,
  file: Omit<FileSpan, 'lastMs'>,
  number: number,
  name: TableName,
): string {
  return `${stem(chain, LEVELS[level], file)}.${String(number).padStart(NUMBER_DIGITS, '0')}.${name}.parquet`
}

const stem = (chain: string, folder: string, { first, last, firstMs }: Omit<FileSpan, 'lastMs'>): string =>
  `files/${chain}/${folder}/${dayOf(firstMs)}/${padded(first)}-${padded(last)}`
