// The clients of a section: what each subscribes to, and what it receives per block. The bare object can then send
// the same to as many clients.

import { type BlockTexts, COIN, COINS, COINS_PER_BLOCK, SHALLOW, TRADER } from './blocks.ts'

export interface Seat {
  readonly bodies: readonly object[]
  /** Which of the lines of a crowd it is sent. */
  readonly line: number
}

interface Crowd {
  /** Of the client in this place. */
  seat(at: number): Seat
  /** The frames of a block for each line. */
  readonly lines: readonly ((texts: BlockTexts, height: number) => readonly string[])[]
  /** Frames that a client is sent at once, of what there is. */
  readonly firsts: number
  /** Of clients of /graphql: what each of them asks for. */
  readonly query?: string
}

export const DISTINCT = 100
/** Of so many clients one takes all coins and four a list: of a thousand fifty and two hundred. */
const KINDS_OF = 20
const LISTS_OF = 4
const LIST_LENGTH = 1_000

const oneLine = (body: object | readonly object[], firsts = 0, line: Crowd['lines'][number] = ofCoin): Crowd => {
  const seat = { bodies: [body].flat(), line: 0 }
  return { seat: () => seat, lines: [line], firsts }
}
const ofCoin = (texts: BlockTexts, height: number) => texts.diffs(height, 'COIN')
const ofAll = (texts: BlockTexts, height: number) => texts.diffs(height)
const diffs = (coin?: string | readonly string[]) => ({ type: 'l2BookDiff2', coin })
const wallet = (number: number) => `0x${number.toString(16).padStart(40, '0')}`

/** A list of wallets that nobody else has, but for one that trades in each block. */
const wallets = (at: number) => ({
  type: 'userFills',
  addresses: [TRADER, ...Array.from({ length: LIST_LENGTH - 1 }, (_, i) => wallet(1 + at * LIST_LENGTH + i))],
})

const LEVELS = 'levels { px sz n }'
const BOOK_QUERY =
  `subscription { l2BookDiff(coin: "${SHALLOW}") { data { ` +
  `Snapshot { coin time block_height ${LEVELS} } Updates { time block_height book_diffs { coin ${LEVELS} } } } } }`

/** Of each level less than there is, so that its results are put together. */
const PART_QUERY =
  `subscription { l2BookDiff2(coin: ${JSON.stringify(COINS)}) { data { Updates { ` +
  'time block_height book_diffs { coin seq prev_seq levels { px sz } } } } } }'

export const CROWDS = {
  'one coin': oneLine(diffs(COIN)),
  'sixty coins': oneLine(diffs(COINS.slice(0, COINS_PER_BLOCK)), 0, ofAll),
  'all coins': oneLine(diffs(COINS), 0, ofAll),
  /** Each of these bodies is another, and each has COIN. */
  distinct: {
    ...oneLine(diffs(COIN)),
    seat: (at) => ({ bodies: [diffs([COIN, COINS[1 + (at % DISTINCT)]!])], line: 0 }),
  },
  /** One coin each, all coins, and lists of wallets. */
  mixed: {
    seat: (at) => {
      // Places and accounts go round alike: each account has some of each.
      const kind = (at + Math.floor(at / KINDS_OF)) % KINDS_OF
      if (kind === 0) return { bodies: [diffs()], line: 1 }
      return kind <= LISTS_OF ? { bodies: [wallets(at)], line: 2 } : { bodies: [diffs(COIN)], line: 0 }
    },
    lines: [ofCoin, ofAll, (texts, height) => texts.fills(height)],
    firsts: 0,
  },
  l2BookDiff: oneLine({ type: 'l2BookDiff', coin: SHALLOW }, 1, ofAll),
  l2Book: oneLine({ type: 'l2Book', coin: SHALLOW, interval: 0 }, 1, ofAll),
  bbo: oneLine({ type: 'bbo', coin: SHALLOW }, 1, ofAll),
  trades: oneLine({ type: 'trades', coin: SHALLOW }, 1, ofAll),
  graphql: { ...oneLine({ type: 'l2BookDiff', coin: SHALLOW }, 1, ofAll), query: BOOK_QUERY },
  'part over graphql': { ...oneLine(diffs(COINS), 0, ofAll), query: PART_QUERY },
  'bbo of all': oneLine(
    COINS.map((coin) => ({ type: 'bbo', coin })),
    COINS.length,
    (texts, height) => texts.bests(height),
  ),
} as const satisfies Record<string, Crowd>

export type CrowdName = keyof typeof CROWDS

/** A crowd by its name. */
export function crowdOf(name: CrowdName): Crowd {
  return CROWDS[name]
}
