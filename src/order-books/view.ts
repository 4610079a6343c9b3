// Views of a book for clients that do not follow it level by level. A view is always sent as a full state, so a client
// that missed one needs only the next. Its name describes it: `500 levels 20 5 2` means 20 levels per side, at most
// every 500 ms, rounded to 5 significant figures in steps of 2.

import type { LevelBook } from './level-book.ts'
import { ASKS, BIDS } from './level-book.ts'
import { midOf } from './mids.ts'
import { roundedLevels } from './rounded-book.ts'
import { type Aggregation, spreadOf } from './rounded-levels.ts'

/** The best level of each side as `[bid,ask]`, sent with each block that changes it; null for an empty side. */
export const BBO = '0 bbo'
/** The mid price as a plain string, sent with each block that changes it; an empty string if there is none. */
export const MID = '0 mid'

/** Members of a JSON object: `"levels":[bids,asks]`, and `"spread"`, which is that of the book before rounding. */
export function levelsView(everyMs: number, limit: number, rounded: Omit<Aggregation, 'limit'> | null): string {
  return `${everyMs} levels ${limit} ${rounded?.nSigFigs ?? 0} ${rounded?.mantissa ?? 1}`
}

/** Shortest interval between two sends, by block time. */
export function intervalMsOf(view: string): number {
  return Number.parseInt(view, 10)
}

/** The part of a view's name that does not depend on its interval. */
export function shapeOf(view: string): string {
  return view.slice(view.indexOf(' ') + 1)
}

/** Renders the view with this shape as a string. */
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
