// Channels that send full-depth books as the levels changed by each block.

import * as z from 'zod'
import type { MicroCredits } from '../../core/amount.ts'
import { inGroups } from '../../core/digit-groups.ts'
import { CoinName, Height, Levels, Millis } from '../../protocol/feed/block.ts'
import { type BookBody, MAX_ITEMS, MarketTypes, marketTypesOf, rejectCoinWithTypes } from '../body-fields.ts'
import { type BookChannel, type CoinUpdate, cachedText, ONE_CREDIT } from '../channel.ts'

const Coins = z
  .array(CoinName)
  .min(1, 'must name at least one coin. Omit "coin" for every coin')
  .max(MAX_ITEMS, `must have at most ${inGroups(MAX_ITEMS)} coins. Omit "coin" for every coin`)
  .refine((coins) => new Set(coins).size === coins.length, 'names a coin twice. List each coin once')

const CHECKSUM = {
  checksum: z.boolean().optional().describe('Whether each change carries a checksum of the resulting book'),
}

/**
 * Schema of a book body: a coin, a list of coins, or a wildcard over market types (default: perps), with a `checksum`
 * option if the channel supports it.
 */
function bookRequest(type: string, hasChecksums = false) {
  return z
    .strictObject({
      type: z.literal(type),
      coin: z
        .union([CoinName, Coins], { error: 'must be a coin or a list of coins. Omit it for every coin' })
        .optional()
        .describe('Coin or list of coins. Default: every coin of `marketTypes`'),
      marketTypes: MarketTypes,
      ...((hasChecksums ? CHECKSUM : {}) as typeof CHECKSUM),
    })
    .superRefine(rejectCoinWithTypes)
    .transform(({ coin, marketTypes, checksum }): BookBody => {
      if (coin !== undefined) return { coins: [coin].flat(), types: [], checksum }
      return { coins: null, types: marketTypesOf(marketTypes), checksum }
    })
}

const PER_COIN: MicroCredits = 130_000
const WILDCARD: MicroCredits = 10 * ONE_CREDIT

/** Price of a minute, as the specification sets it: a price per listed coin, or a flat price for a wildcard. */
function bookMinutePrice({ coins }: BookBody): MicroCredits {
  return coins === null ? WILDCARD : PER_COIN * coins.length
}

function defineBookChannel<Frame>(channel: Omit<BookChannel<Frame>, 'source' | 'price'>): BookChannel<Frame> {
  return { ...channel, source: 'books', price: bookMinutePrice }
}

const BLOCK = { time: Millis, block_height: Height }
const Snapshot = z.object({ coin: CoinName, ...BLOCK, levels: Levels })
const Updates = z.object({
  ...BLOCK,
  book_diffs: z.array(z.object({ coin: CoinName, levels: Levels })).describe('Changed coins'),
})

const snapshot: NonNullable<BookChannel<unknown>['snapshot']> = ({ coin, time, height, levels }) =>
  `{"channel":"l2BookDiff","data":{"Snapshot":{"coin":${JSON.stringify(coin)},"time":${time},"block_height":${height},"levels":${levels}}}}`

/**
 * Snapshots first, then changed levels per block, without sequence numbers. If a coin loses continuity, its sockets
 * must reconnect, because a snapshot may only come first.
 */
export const l2BookDiff = defineBookChannel({
  type: 'l2BookDiff',
  summary: 'Full-depth books: a snapshot of each coin, then the changed levels of each block',
  example: {
    request: { coin: 'BTC' },
    frame: {
      channel: 'l2BookDiff',
      data: {
        Updates: {
          time: 1790000000000,
          block_height: 700000001,
          book_diffs: [
            { coin: 'BTC', levels: [[{ px: '81307.0', sz: '0.5', n: 2 }], [{ px: '81310.0', sz: '0', n: 0 }]] },
          ],
        },
      },
    },
  },
  request: bookRequest('l2BookDiff'),
  frame: z.object({ channel: z.literal('l2BookDiff'), data: z.union([z.object({ Snapshot }), z.object({ Updates })]) }),
  snapshot,
  /** A coin's first book is sent as a snapshot. Changes of the other coins share one Updates frame. */
  encode: ({ height, time, updates }) => {
    const texts: string[] = []
    let pieces = ''
    let broken = false
    for (const update of updates) {
      if (update.mark === '!') broken = true
      else if (update.mark === '+') texts.push(snapshot({ coin: update.coin, time, height, levels: update.levels }))
      else pieces += pieces ? `,${diffText(update)}` : diffText(update)
    }
    if (pieces) {
      texts.push(
        `{"channel":"l2BookDiff","data":{"Updates":{"time":${time},"block_height":${height},"book_diffs":[${pieces}]}}}`,
      )
    }
    return { texts, isBroken: broken }
  },
})

function diffText(update: CoinUpdate): string {
  return cachedText(update, 'l2BookDiff', ({ coin, levels }) => `{"coin":${JSON.stringify(coin)},"levels":${levels}}`)
}

const SequencedUpdates = z.object({
  time: Millis,
  block_height: Height.describe('Block height of this state'),
  epoch: z.string().describe('Id of a continuous chain of books. Sequence numbers restart when it changes'),
  cursor: z.string().describe('Block height as a string'),
  book_diffs: z
    .array(
      z.object({
        coin: CoinName,
        seq: z.int().describe('Height of the last change of this book'),
        prev_seq: z
          .int()
          .describe('`seq` of the book that this change applies to. −1: continuity lost, fetch the book again'),
        levels: Levels,
        checksum: z
          .int()
          .min(0)
          .max(0xffffffff)
          .optional()
          .describe('CRC-32 of the best 10 levels per side after this change'),
      }),
    )
    .describe('Changed coins'),
})

/**
 * One frame per block with sequence numbers and no snapshot. A client fetches books with `l2BookDiffSnapshot`. It
 * detects lost continuity by `prev_seq`, and a wrong book by checksums, if requested.
 */
export const l2BookDiff2 = defineBookChannel({
  type: 'l2BookDiff2',
  summary: 'Changed levels of full-depth books with sequence numbers. Fetch the books with `l2BookDiffSnapshot`',
  example: {
    request: { coin: 'BTC', checksum: true },
    frame: {
      channel: 'l2BookDiff2',
      data: {
        Updates: {
          time: 1790000000000,
          block_height: 700000001,
          epoch: '6f1c7a52-5d0f-4b7e-9a53-0d1f0c5e7a11',
          cursor: '700000001',
          book_diffs: [
            {
              coin: 'BTC',
              seq: 700000001,
              prev_seq: 699999998,
              levels: [[{ px: '81307.0', sz: '0.5', n: 2 }], []],
              checksum: 1851861069,
            },
          ],
        },
      },
    },
  },
  request: bookRequest('l2BookDiff2', true),
  frame: z.object({ channel: z.literal('l2BookDiff2'), data: z.object({ Updates: SequencedUpdates }) }),
  snapshot: null,
  encode: ({ height, time, epoch, updates }, isChecked) => {
    const pieces = updates
      .map((update) => `${sequencedDiffStart(update, height)}${isChecked ? checksumText(update) : ''}}`)
      .join(',')
    const text = `{"channel":"l2BookDiff2","data":{"Updates":{"time":${time},"block_height":${height},"epoch":${JSON.stringify(epoch ?? '')},"cursor":"${height}","book_diffs":[${pieces}]}}}`
    return { texts: [text], isBroken: false }
  },
})

/** Without the closing brace. */
function sequencedDiffStart(update: CoinUpdate, height: number): string {
  return cachedText(
    update,
    'l2BookDiff2',
    ({ coin, prevSeq, levels }) =>
      `{"coin":${JSON.stringify(coin)},"seq":${height},"prev_seq":${prevSeq},"levels":${levels}`,
  )
}

/** The checksum is undefined until the hub knows that it is needed. A block without one is already part of the snapshot. */
function checksumText({ checksum: value }: CoinUpdate): string {
  return value === undefined ? '' : `,"checksum":${value}`
}
