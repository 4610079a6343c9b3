// What of a book is shown to who does not follow it level by level. A view shows a whole state each time: who missed some
// has missed nothing. Its name says all of it: `500 levels 20 5 2` is, at most every 500 ms, 20 levels a side, rounded to 5
// significant figures in steps of 2.

import type { LevelBook } from './level-book.ts'
import { ASKS, BIDS } from './level-book.ts'
import { midOf } from './mids.ts'
import { roundedLevels } from './rounded-book.ts'
import { type Aggregation, spreadOf } from './rounded-levels.ts'

/** With each block that changes it, the best level of each side, null where there is none: `[bid,ask]`. */
export const BBO = '0 bbo'
/** With each block that changes it, the middle price as bare text; empty where there is none. */
export const MID = '0 mid'

/** Members of an object: `"levels":[bids,asks]`, and `"spread"` of the book before it was rounded. */
export function levelsView(everyMs: number, limit: number, rounded: Omit<Aggregation, 'limit'> | null): string {
  return `${everyMs} levels ${limit} ${rounded?.nSigFigs ?? 0} ${rounded?.mantissa ?? 1}`
}

/** How often it is shown at most, by the time of blocks. */
export function intervalMsOf(view: string): number {
  return Number.parseInt(view, 10)
}

/** What is the same for views that differ in how often they are shown. */
export function shapeOf(view: string): string {
  return view.slice(view.indexOf(' ') + 1)
}

/** The text of a view, by its shape. */
export function renderView(shape: string, book: LevelBook, lastPx: string | null): string {
  const [kind, ...numbers] = shape.split(' ')
  if (kind === 'bbo') {
    const [[bid = null], [ask = null]] = book.levels(1)
    return JSON.stringify([bid, ask])
  }
  if (kind === 'mid') return midOf(book.bestPx(BIDS), book.bestPx(ASKS), lastPx) ?? ''
  const [limit, nSigFigs, mantissa] = numbers.map(Number) as [number, number, number]
  if (nSigFigs === 0) return `"levels":${JSON.stringify(book.levels(limit))}`
  const levels = roundedLevels(book, { nSigFigs, mantissa, limit })
  const spread = spreadOf(book.levels(1))
  return `"levels":${JSON.stringify(levels)}${spread === undefined ? '' : `,"spread":"${spread}"`}`
}
