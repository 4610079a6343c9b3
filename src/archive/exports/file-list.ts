// Lists the history as downloadable files. Invariants: a file belongs to the time of its first block, so that adjacent
// ranges share no file; all pages together are the complete list; the price of a range is the sum of its pages' prices.

import type { MicroCredits } from '../../core/amount.ts'

/** Range of first-block times, in Unix ms, inclusive. */
export interface TimeRange {
  readonly fromMs: number
  readonly toMs: number
}

/** Position of a file in the list of its product. */
export interface FilePosition {
  readonly timeMs: number
  readonly height: number
  /** Distinguishes files at the same height. */
  readonly part: number
}

export interface StoredFile {
  readonly position: FilePosition
  readonly key: string
  readonly bytes: number
  readonly sha256: string
  readonly first: number
  readonly last: number
  readonly firstMs: number
  readonly lastMs: number
}

export interface FileTotals {
  readonly objects: number
  readonly bytes: number
}

export interface FileSource {
  /** Public product name: lower-case letters and `_`. A position is unique within a product. */
  readonly product: string
  /** At most `limit` files in order of position. */
  files(range: TimeRange, after: FilePosition | null, limit: number): Promise<readonly StoredFile[]>
  totals(range: TimeRange): Promise<FileTotals>
}

export type ListedFile = StoredFile & { readonly product: string }

interface FileCursor {
  readonly product: string
  readonly position: FilePosition
}

interface FilePage {
  readonly files: readonly ListedFile[]
  /** Null on the last page. */
  readonly next: string | null
}

/** Price of a link. The price per object covers a few reads. The price per byte is below that of competitors. */
const MICRO_PER_OBJECT = 1_000
const MICRO_PER_BYTE = 1
export const FILE_PRICE = '1 per MB (1,000,000 bytes, charged per byte) plus 0.001 per object'

export function filesPrice({ objects, bytes }: FileTotals): MicroCredits {
  return objects * MICRO_PER_OBJECT + bytes * MICRO_PER_BYTE
}

export function totalsOf(files: readonly FileTotals[]): FileTotals {
  const add = (name: keyof FileTotals) => files.reduce((sum, one) => sum + one[name], 0)
  return { objects: add('objects'), bytes: add('bytes') }
}

/** At most `limit` files after a cursor, one source after another. */
export async function filePage(
  sources: readonly FileSource[],
  range: TimeRange,
  after: FileCursor | null,
  limit: number,
): Promise<FilePage> {
  const found: ListedFile[] = []
  const begin = after === null ? 0 : sources.findIndex(({ product }) => product === after.product)
  for (const [at, source] of sources.slice(begin).entries()) {
    const files = await source.files(range, at === 0 && after ? after.position : null, limit + 1 - found.length)
    found.push(...files.map((file) => ({ ...file, product: source.product })))
    if (found.length > limit) break
  }
  const files = found.slice(0, limit)
  const last = files.at(-1)
  return { files, next: found.length > limit && last ? cursorText(last) : null }
}

function cursorText({ product, position: { timeMs, height, part } }: ListedFile): string {
  return `${product}.${timeMs}.${height}.${part}`
}

const CURSOR = /^([a-z_]{1,32})\.(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,5})$/

/** Parses a cursor. Null if it does not belong to these sources and this range. */
export function readCursor(text: string, sources: readonly FileSource[], range: TimeRange): FileCursor | null {
  const [, product = '', ...numbers] = CURSOR.exec(text) ?? []
  const [timeMs = -1, height = -1, part = -1] = numbers.map(Number)
  const position = { timeMs, height, part }
  if (!sources.some((source) => source.product === product)) return null
  return position.timeMs >= range.fromMs && position.timeMs <= range.toMs ? { product, position } : null
}

/** The list in the format of `sha256sum --check`. */
export function checksumsText(files: readonly StoredFile[]): string {
  return files.map(({ sha256, key }) => `${sha256}  ${key}\n`).join('')
}
