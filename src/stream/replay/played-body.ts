// What a body of the past is told of each block: the very frames of live, by the same encoders.

import { bookChecksum, EMPTY_CHECKSUM } from '../../book/checksum.ts'
import { marketTypeOf } from '../../core/coin.ts'
import type { HubBlock, RelayEvents } from '../../feed/log-api.ts'
import { withoutPayments } from '../../feed/payments.ts'
import type { BookAt } from '../../history/replay/book-at.ts'
import { readBooksLine } from '../../history/replay/books-line.ts'
import type { ReadBlock } from '../../history/replay/player.ts'
import type { BookBody } from '../body-fields.ts'
import { isReplayable, type Wanted, type WantedBooks, type WantedEvents } from '../channel.ts'
import { putInto, type Receiver, tell } from '../events/parcels.ts'

/** Of a block that waits, beside its frames. */
const FRAME_BYTES = 100

/** So a line begins of which the archive has the fills alone. */
const ONLY_FILLS = '{"only":"fills",'

/** A body whose blocks the archive holds whole. */
export type Playable = WantedEvents | WantedBooks

export function isPlayable(wanted: Wanted): wanted is Playable {
  return wanted.source === 'books' || isReplayable(wanted)
}

/** Whether a line says less of its block than the body shows. */
export function isPartly(line: string, wanted: Playable): boolean {
  return wanted.source === 'events' && wanted.channel.needs === 'events' && line.startsWith(ONLY_FILLS)
}

/** Reads lines of events, and tells of each what the body has of it. */
export function eventsPlayed(wanted: WantedEvents, meta: boolean) {
  let texts: string[] = []
  const receiver: Receiver = { send: (text) => texts.push(text) }
  const topic = { wanted, meta, receivers: new Set([receiver]) }
  const index = putInto<Receiver>(new Map(), topic)
  return {
    /** What waits are the frames, few as they may be. */
    read: (line: string): ReadBlock<readonly string[]> => {
      texts = []
      const { height, time, ...block } = JSON.parse(withoutPayments(line)) as RelayEvents
      tell({ topic, index }, { ...block, height, time })
      return { height, time, bytes: texts.reduce((sum, text) => sum + text.length, FRAME_BYTES), block: texts }
    },
    texts: (block: readonly string[]) => block,
  }
}

/** Coins that are looked for in lines; null: all, of which some market types are told. */
export function coinsOf({ coins }: BookBody): ReadonlySet<string> | null {
  return coins && new Set(coins)
}

/** Reads lines of books. Texts are null where `books` lost what they follow. */
export function booksPlayed({ channel, body }: WantedBooks) {
  const coins = coinsOf(body)
  const isOwn = (coin: string) => coins?.has(coin) ?? body.types.includes(marketTypeOf(coin))
  return {
    read: (line: string) => {
      const block = readBooksLine(line, coins)
      // Of a line that was cut the coins alone wait.
      return waiting(block, 200 + 60 * (block.books ?? []).reduce((sum, { levels }) => sum + levels.flat().length, 0))
    },
    texts: (block: HubBlock, books: BookAt): readonly string[] | null => {
      const fragments = books.take(block)
      if (fragments === null) return null
      const entries = fragments
        .filter(({ coin }) => isOwn(coin))
        .map((one) => {
          const book = body.checksum ? books.bookOf(one.coin) : undefined
          return { ...one, ...(body.checksum && { checksum: book ? bookChecksum(book) : EMPTY_CHECKSUM }) }
        })
      if (entries.length === 0) return []
      const { height, time, epoch } = block
      return channel.encode({ height, time, epoch, entries }, body.checksum).texts
    },
    /** What live begins with. */
    snapshots: (books: BookAt): readonly string[] =>
      books
        .coins()
        .filter(isOwn)
        .flatMap((coin) => {
          const snapshot = channel.snapshot && books.snapshot(coin)
          return snapshot ? channel.snapshot!(snapshot) : []
        }),
  }
}

function waiting<B extends { readonly height: number; readonly time: number }>(block: B, bytes: number): ReadBlock<B> {
  return { height: block.height, time: block.time, bytes, block }
}
