// Splits a block frame that is too long for one message, and joins the parts. Arrays are split between entries (a book
// between levels, a coin's rows between rows), so each part is a valid frame.

import type { BookChange, L4Rows } from './block.ts'
import type { BlockFrame } from './protocol.ts'
import { FRAME_MAX_BYTES } from './protocol.ts'

/** Lists that every reader needs come first. Optional lists follow, because they may be the largest. */
const LISTS = [
  ...(['fills', 'ledger', 'funding', 'events', 'twaps', 'books', 'payments'] as const),
  ...(['oracle', 'writer', 'orders', 'l4', 'replica'] as const),
] as const
/** Bytes reserved for the envelope of a part. */
const ENVELOPE_BYTES = 1024
/**
 * Maximum number of levels per part of a book. A level takes about 40 bytes, so a part is far smaller than the frame
 * limit.
 */
const LEVELS_PER_RUN = 4096
/** Maximum number of rows per part of a coin. A row with attached orders may take 1,500 bytes. */
const ROWS_PER_RUN = 200

/**
 * Encodes a frame as one or more JSON strings. An individual entry above the limit becomes an oversized part, which the
 * receiver rejects.
 */
export function encodeFrame(frame: BlockFrame, maxBytes: number = FRAME_MAX_BYTES): string[] {
  const whole = JSON.stringify(frame)
  if (byteLength(whole) <= maxBytes) return [whole]
  const parts = splitFrame(frame, maxBytes - ENVELOPE_BYTES)
  return parts.map((piece, part) => JSON.stringify({ ...piece, part, parts: parts.length }))
}

function splitFrame(frame: BlockFrame, budget: number): BlockFrame[] {
  const source = frame as Record<string, unknown>
  const empty: Record<string, unknown> = { ...source }
  for (const list of LISTS) if (Array.isArray(source[list])) empty[list] = []
  const parts: Record<string, unknown>[] = []
  let current: Record<string, unknown> | undefined
  let used = 0
  for (const list of LISTS) {
    const entries = source[list]
    if (!Array.isArray(entries)) continue
    for (const entry of list === 'books'
      ? entries.flatMap(splitBook)
      : list === 'l4'
        ? entries.flatMap(splitRows)
        : entries) {
      const size = byteLength(JSON.stringify(entry)) + 1
      if (!current || used + size > budget) {
        current = structuredClone(empty)
        parts.push(current)
        used = 0
      }
      ;(current[list] as unknown[]).push(entry)
      used += size
    }
  }
  return parts as BlockFrame[]
}

function splitBook(book: BookChange): BookChange[] {
  const [bids, asks] = book.levels
  if (bids.length + asks.length <= LEVELS_PER_RUN) return [book]
  const runs: BookChange[] = []
  for (let i = 0; i < Math.max(bids.length, asks.length); i += LEVELS_PER_RUN) {
    runs.push({ ...book, levels: [bids.slice(i, i + LEVELS_PER_RUN), asks.slice(i, i + LEVELS_PER_RUN)] })
  }
  return runs
}

function splitRows({ coin, statuses, diffs }: L4Rows): L4Rows[] {
  const runs: L4Rows[] = []
  for (let i = 0; i === 0 || i < Math.max(statuses.length, diffs.length); i += ROWS_PER_RUN) {
    runs.push({ coin, statuses: statuses.slice(i, i + ROWS_PER_RUN), diffs: diffs.slice(i, i + ROWS_PER_RUN) })
  }
  return runs
}

/**
 * Limit on the total size of collected parts. Without order-level rows and payments, the exchange's largest block is
 * far below a megabyte.
 */
export const JOINED_MAX_UNITS = 16 * 1024 * 1024

/**
 * Collects the parts of one block. `push` returns null while parts are missing and the complete block once the last
 * part arrives. If a part does not fit, it returns the reason and drops all collected parts.
 */
export class PartJoiner {
  #parts: BlockFrame[] = []
  #units = 0

  /** `units` is the length of the frame's JSON string. It counts toward the limit on collected parts. */
  push(frame: BlockFrame, units = 0): BlockFrame | null | { readonly refused: string } {
    const { part, parts, ...whole } = frame
    if (part === undefined && parts === undefined) {
      this.#clear()
      return frame
    }
    const first = this.#parts[0]
    const fits =
      part === this.#parts.length &&
      parts !== undefined &&
      part < parts &&
      (!first || (first.height === frame.height && first.parts === parts))
    if (!fits) {
      const expected = this.#parts.length
      this.#clear()
      return { refused: `expected part ${expected} of the same frame, got part ${part} of ${parts}` }
    }
    this.#units += units
    if (this.#units > JOINED_MAX_UNITS) {
      this.#clear()
      return { refused: `the parts of one block exceed ${JOINED_MAX_UNITS / 2 ** 20} MiB together` }
    }
    this.#parts.push(frame)
    if (part + 1 < parts) return null
    const joined = joinParts(this.#parts, whole)
    this.#clear()
    return joined
  }

  #clear(): void {
    this.#parts = []
    this.#units = 0
  }
}

function joinParts(parts: readonly BlockFrame[], envelope: BlockFrame): BlockFrame {
  const joined: Record<string, unknown> = { ...envelope }
  for (const list of LISTS) {
    const pieces = parts.map((piece) => piece[list] as unknown)
    if (pieces.some(Array.isArray)) joined[list] = pieces.flatMap((piece) => (Array.isArray(piece) ? piece : []))
  }
  if (Array.isArray(joined.books)) joined.books = mergeBooks(joined.books as BookChange[])
  if (Array.isArray(joined.l4)) joined.l4 = mergeRows(joined.l4 as L4Rows[])
  return joined as BlockFrame
}

function mergeBooks(books: readonly BookChange[]): BookChange[] {
  const byCoin = new Map<string, BookChange>()
  for (const book of books) {
    const seen = byCoin.get(book.coin)
    if (!seen) byCoin.set(book.coin, { ...book, levels: [[...book.levels[0]], [...book.levels[1]]] })
    else for (const side of [0, 1] as const) for (const level of book.levels[side]) seen.levels[side].push(level)
  }
  return [...byCoin.values()]
}

function mergeRows(runs: readonly L4Rows[]): L4Rows[] {
  const byCoin = new Map<string, L4Rows>()
  for (const { coin, statuses, diffs } of runs) {
    const seen = byCoin.get(coin)
    if (!seen) byCoin.set(coin, { coin, statuses: [...statuses], diffs: [...diffs] })
    else {
      for (const row of statuses) seen.statuses.push(row)
      for (const row of diffs) seen.diffs.push(row)
    }
  }
  return [...byCoin.values()]
}

const encoder = new TextEncoder()
function byteLength(text: string): number {
  // Almost all frames are ASCII, so their string length equals their byte count. Only frames near the limit need the
  // exact count.
  return text.length * 3 <= FRAME_MAX_BYTES ? text.length : encoder.encode(text).length
}
