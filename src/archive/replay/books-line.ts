// Parses only the needed part of a books line. A line has the changes of every coin, about 16 KB, and a replay of a few
// coins does not need the others.

import type { Coin } from '../../core/coin.ts'
import type { BookChange } from '../../protocol/feed/block.ts'
import type { HubBlock } from '../../protocol/feed/log-api.ts'

/** For more coins than this, parsing the whole line is faster. */
export const MAX_CUT_COINS = 16
const BOOKS = ',"books":'
const LEVELS = ',"levels":'
const NEW = ',"new":true}'
const FIRST = /^\[\{"coin":"(?:[^"\\]|\\.)*","levels":\[\[/

/** The block with the changes of these coins (null: all coins), without `px`. */
export function readBooksLine(line: string, coins: ReadonlySet<string> | null): HubBlock {
  // The match is unambiguous, because quotes within a JSON string are escaped.
  const at = line.indexOf(BOOKS)
  const books = line.slice(at + BOOKS.length, -1)
  const isCut = coins !== null && coins.size <= MAX_CUT_COINS && at > 0 && (books === '[]' || FIRST.test(books))
  if (!isCut) return filterBlock(JSON.parse(line) as HubBlock, coins)
  const head = JSON.parse(`${line.slice(0, at)}}`) as Omit<HubBlock, 'books'>
  const found = [...coins].flatMap((coin) => changeOf(books, coin) ?? []).sort((a, b) => a.at - b.at)
  return withoutPrices(
    head,
    found.map(({ change }) => change),
    coins,
  )
}

function filterBlock(block: HubBlock, coins: ReadonlySet<string> | null): HubBlock {
  return withoutPrices(
    block,
    coins && block.books ? block.books.filter(({ coin }) => coins.has(coin)) : block.books,
    coins,
  )
}

function withoutPrices(
  { repaired = [], ...head }: Omit<HubBlock, 'books'>,
  books: HubBlock['books'],
  coins: ReadonlySet<string> | null,
): HubBlock {
  const own = repaired.filter((coin) => coins === null || coins.has(coin))
  return { ...head, px: {}, books, ...(own.length > 0 && { repaired: own }) }
}

/**
 * Levels are the only arrays of an entry, and they contain only decimals. The levels of an entry therefore end at the
 * first `]]`.
 */
function changeOf(books: string, coin: Coin): { at: number; change: BookChange } | null {
  const start = `{"coin":${JSON.stringify(coin)}${LEVELS}`
  const at = books.indexOf(start)
  if (at < 0) return null
  const end = books.indexOf(']]', at + start.length) + 2
  const levels = JSON.parse(books.slice(at + start.length, end)) as BookChange['levels']
  return { at, change: { coin, levels, ...(books.startsWith(NEW, end) && { new: true as const }) } }
}
