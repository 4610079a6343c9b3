// Blocks at rest: segments of about a second, one line of JSON per block and kind. Order statuses are a kind of their own:
// there may be a hundred times as much of them as of everything else, which is what nearly all who read look for.
// A row per block would cost 38 dollars a month in writes; a segment a second costs under 3.

import type { Block, BookChange } from './block.ts'
import type { HubBlock, LinkGap, RelayEvents } from './log-api.ts'
import { LOG_API_VERSION } from './log-api.ts'
import type { Through } from './position-builders.ts'

/** A segment ends after this time … */
export const SEGMENT_MS = 1000
/** … or this many characters of either kind, whichever is first. */
export const SEGMENT_CHARS = 1024 * 1024

/** A sum of two numbers below this is exact. */
const SUM_MODULUS = 2 ** 52

export type SegmentKind = 'books' | 'events' | 'orders'

/** The texts of one block: encoded once, used for storage and for every reader. */
export interface BlockTexts {
  readonly height: number
  readonly time: number
  readonly epoch: string | null
  /** JSON text of each changed coin, beside its name; null where changes are unknown. */
  readonly books: readonly { readonly coin: string; readonly text: string }[] | null
  readonly px: Readonly<Record<string, string>>
  /** JSON text of RelayEvents with the funding and other events beside, and without order statuses. */
  readonly events: string
  /** Order statuses, in their order. */
  readonly orders: readonly { readonly user: unknown; readonly text: string }[]
  /** By which copies of a height are compared: of the events, and of the books whatever the order of coins. */
  readonly digests: { readonly events: number; readonly books: number | null }
}

/** What hubs need of a block. */
export type BooksTexts = Omit<BlockTexts, 'events' | 'orders' | 'digests'>

/**
 * Encodes a block once. `epoch` is that of the books at this height, null where they are unknown; `through` is what the log
 * knows of the fills, which is nothing that copies of a height are compared by.
 */
export function encodeBlock(block: Block, epoch: string | null, through: readonly Through[] = []): BlockTexts {
  const px: Record<string, string> = {}
  for (const [, fill] of block.fills) px[fill.coin] = fill.px
  const { height, time, fills, ledger, funding, events, twaps, orders = [], diffs } = block
  const relay: RelayEvents = { v: LOG_API_VERSION, t: 'events', height, time, fills, ledger }
  const books = block.books?.map((change) => ({ coin: change.coin, text: JSON.stringify(change) })) ?? null
  const bare = JSON.stringify({
    ...relay,
    funding,
    ...(events && { events }),
    ...(twaps && { twaps }),
  })
  const digests = { events: digest(bare), books: books && digestOf(books) }
  // What was asked for, feeders may have heard of at different heights.
  const beside = { epoch, ...(through.length > 0 && { through }), ...(diffs && { diffs }) }
  return {
    height,
    time,
    epoch,
    books,
    px,
    events: `${JSON.stringify(beside).slice(0, -1)},${bare.slice(1)}`,
    orders: orders.map((row) => ({ user: userOf(row), text: JSON.stringify(row) })),
    digests,
  }
}

const userOf = (row: unknown) => (row as { readonly user?: unknown } | null)?.user

/** JSON text of the RelayEvents of a relay that wants the order statuses of these users. */
export function eventsText({ events, orders }: BlockTexts, wants: (user: unknown) => boolean): string {
  const own = orders.filter(({ user }) => wants(user))
  return withOrders(
    events,
    own.map(({ text }) => text),
  )
}

/** The stored line of order statuses. */
export function ordersLine({ orders }: BlockTexts): string {
  return orders.length === 0 ? '' : `[${orders.map(({ text }) => text).join(',')}]`
}

/** Height of a stored line of events, and with that of order statuses what a relay is sent. */
export function readEventsLine(
  line: string,
  orders: string | undefined,
  wants: (user: unknown) => boolean,
): { height: number; text: string } {
  const { height } = JSON.parse(line) as RelayEvents
  const own = orders ? (JSON.parse(orders) as unknown[]).filter((row) => wants(userOf(row))) : []
  return {
    height,
    text: withOrders(
      line,
      own.map((row) => JSON.stringify(row)),
    ),
  }
}

const withOrders = (events: string, rows: readonly string[]): string =>
  rows.length === 0 ? events : `${events.slice(0, -1)},"orders":[${rows.join(',')}]}`

/** A sum, for feeders may list the coins of a block in orders of their own. */
function digestOf(books: readonly { readonly text: string }[]): number {
  return books.reduce((sum, { text }) => (sum + (digest(text) % SUM_MODULUS)) % SUM_MODULUS, 0)
}

/** JSON text of the HubBlock for the coins that `wants` accepts: a hub's frame, or with all coins the stored line. */
export function hubBlockText(texts: BooksTexts, wants: (coin: string) => boolean): string {
  const px: Record<string, string> = {}
  for (const coin in texts.px) if (wants(coin)) px[coin] = texts.px[coin]!
  const { height, time, epoch } = texts
  const head = JSON.stringify({ v: LOG_API_VERSION, t: 'block', epoch, height, time, px })
  let books = ''
  for (const { coin, text } of texts.books ?? []) if (wants(coin)) books += books ? `,${text}` : text
  return `${head.slice(0, -1)},"books":${texts.books ? `[${books}]` : 'null'}}`
}

/** JSON text of the LinkGap that tells a reader of heights that never came. */
export function gapText(from: number, to: number): string {
  return JSON.stringify({ v: LOG_API_VERSION, t: 'gap', from, to } satisfies LinkGap)
}

/** Inverse of the stored books line, as the texts that hubBlockText needs. */
export function readBooksLine(line: string): BooksTexts {
  const { height, time, epoch, books, px } = JSON.parse(line) as HubBlock
  const texts = (changes: readonly BookChange[]) =>
    changes.map((change) => ({ coin: change.coin, text: JSON.stringify(change) }))
  return { height, time, epoch, books: books && texts(books), px }
}

/** Coins that two copies of one block change otherwise; that a coin is new may be known to one alone. */
export function differingCoins(
  taken: NonNullable<BooksTexts['books']>,
  other: NonNullable<BooksTexts['books']>,
): string[] {
  const levels = (text: string | undefined) => text && JSON.stringify((JSON.parse(text) as BookChange).levels)
  const held = new Map(taken.map(({ coin, text }) => [coin, text]))
  const sent = new Map(other.map(({ coin, text }) => [coin, text]))
  return [...new Set([...held.keys(), ...sent.keys()])].filter((coin) => {
    const [a, b] = [held.get(coin), sent.get(coin)]
    return a !== b && levels(a) !== levels(b)
  })
}

/** Digest by which two copies of a height are compared: 53 bits, for finding accidents, not attacks. */
export function digest(text: string): number {
  let a = 0xdeadbeef
  let b = 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    a = Math.imul(a ^ unit, 2654435761)
    b = Math.imul(b ^ unit, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return 4294967296 * (2097151 & b) + (a >>> 0)
}
