// A seed for one hub, cut into messages: whole books may be tens of megabytes, and the platform refuses
// frames over 1 MiB on sockets that can hibernate.

import type { HubSeed } from './log-api.ts'
import type { SnapshotFrame } from './protocol.ts'

/** Characters of levels per message; a single larger book is cut between levels. */
const PART_CHARS = 512 * 1024
/** About 40 characters a level. */
const LEVELS_PER_RUN = 8192

type Books = SnapshotFrame['books']

/** JSON texts of HubSeed messages; at least one, so that a hub without coins learns of the seed too. */
export function seedParts(head: Omit<HubSeed, 'books' | 'part' | 'parts'>, books: Books): string[] {
  const parts: Books[] = [[]]
  let used = 0
  for (const book of books.flatMap(runsOf)) {
    const size = 40 * (book.levels[0].length + book.levels[1].length) + 100
    if (used > 0 && used + size > PART_CHARS) {
      parts.push([])
      used = 0
    }
    parts.at(-1)!.push(book)
    used += size
  }
  return parts.map((piece, part) => JSON.stringify({ ...head, books: piece, part, parts: parts.length }))
}

function runsOf(book: Books[number]): Books {
  const [bids, asks] = book.levels
  const runs: Books = []
  for (let i = 0; i === 0 || i < Math.max(bids.length, asks.length); i += LEVELS_PER_RUN)
    runs.push({ coin: book.coin, levels: [bids.slice(i, i + LEVELS_PER_RUN), asks.slice(i, i + LEVELS_PER_RUN)] })
  return runs
}

/** Joins the books of all parts again: runs of one coin become one book. */
export function joinSeed(parts: readonly HubSeed[]): HubSeed['books'] {
  const byCoin = new Map<string, Books[number]>()
  for (const { coin, levels } of parts.flatMap(({ books }) => books)) {
    const seen = byCoin.get(coin)
    if (!seen) byCoin.set(coin, { coin, levels: [[...levels[0]], [...levels[1]]] })
    else for (const side of [0, 1] as const) for (const level of levels[side]) seen.levels[side].push(level)
  }
  return [...byCoin.values()]
}
