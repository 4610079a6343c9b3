// book_diffs: net changes of each coin's book per block, as in `l2BookDiff2`. A consumer has a complete book after a
// reset. At any other block, it can load the archived book at that height.

import { readBooksLine } from '../../archive/replay/books-line.ts'
import { type Coin, MARKET_TYPES, type MarketType, marketTypeOf } from '../../core/coin.ts'
import type { HubBlock } from '../../protocol/feed/log-api.ts'
import type { BooksTarget } from '../../relay/channel.ts'
import { gapRow, keyedRows, resetRow, type TopicDefinition, type TopicFold, type TriggerSource } from './topic.ts'

/** Names are coins and, for filters by market type, the types of coins. */
const BOOKS: TriggerSource = {
  namesIn: (block) => {
    const { books, repaired = [] } = block as HubBlock
    const coins = books && [...books.map(({ coin }) => coin), ...repaired]
    return coins && [...new Set([...coins, ...coins.map((coin) => ofType(marketTypeOf(coin)))])]
  },
}
const ofType = (type: MarketType) => `type ${type}`

export const bookDiffs: TopicDefinition = {
  lines: 'books',
  columns: [
    { name: 'coin', type: 'text', isOptional: true },
    { name: 'seq', type: 'whole', isOptional: true },
    { name: 'epoch', type: 'text', isOptional: true },
    { name: 'is_new', type: 'truth', isOptional: true },
    { name: 'bids', type: 'json', isOptional: true },
    { name: 'asks', type: 'json', isOptional: true },
  ],
  trigger: (target) => {
    const { coins = null, types = MARKET_TYPES } = (target as BooksTarget | null)?.body ?? {}
    return { source: BOOKS, names: coins ?? types.map(ofType) }
  },
  open(target): TopicFold<HubBlock> {
    const { coins: named = null, types = [] } = (target as BooksTarget | null)?.body ?? {}
    const coins = named && new Set(named)
    const isOwn = (coin: Coin) => coins?.has(coin) ?? (target === null || types.includes(marketTypeOf(coin)))
    return {
      parse: (line) => readBooksLine(line, coins),
      rows: (block) => {
        const { height, time, epoch, books, repaired = [] } = block
        const anew = repaired.filter(isOwn).map((coin) => resetRow(height, time, epoch, coin))
        if (books === null) return [...anew, gapRow(height, height, time, 'the changes of these books are unknown')]
        const changes = books
          .filter(({ coin }) => isOwn(coin))
          .map(({ coin, levels: [bids, asks], new: isNew }) => {
            return [coin, { coin, seq: height, epoch, is_new: isNew === true, bids, asks }] as const
          })
        return [...anew, ...keyedRows(block, changes)]
      },
    }
  },
}
