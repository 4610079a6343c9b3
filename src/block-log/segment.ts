// Stored blocks. A segment has about a second of blocks, with one JSON line per block per kind. Order statuses are a
// separate kind, because they can be a hundred times as large as everything else and few readers need them. Rows of
// order-level books are another kind: their JSON string per coin is passed to clients unchanged. Payments are another
// kind: once an hour, they are ten megabytes, and only the archive needs them. One storage row per block would cost 38
// dollars a month in writes. One segment per second costs less than 3 dollars. Signed actions are a kind that exists only
// while a pipeline reads them.
// biome-ignore-all lint/style/noNonNullAssertion: lines that were written here are read in inner loops.

import type { Coin } from '../core/coin.ts'
import type { Block, BookChange, L4Rows } from '../protocol/feed/block.ts'
import type { BuilderFill, HubBlock, L4BlockHead, LinkGap, RelayEvents, RelayFrame } from '../protocol/feed/log-api.ts'
import { LOG_API_VERSION } from '../protocol/feed/log-api.ts'
import { paymentsText } from '../protocol/feed/payments.ts'
import { hasMarketPrice } from '../protocol/feed/trades.ts'

/** A segment ends after this time. */
export const SEGMENT_MS = 1000
/** A segment also ends when it has this many characters. */
export const SEGMENT_CHARS = 1024 * 1024
/**
 * A segment also ends when it has this many characters of order-level rows. One second may have many of these, and
 * shorter segments would shorten the window.
 */
export const L4_CHARS = 8 * SEGMENT_CHARS

/** The sum of two numbers below this is exact. */
const SUM_MODULUS = 2 ** 52

export type SegmentKind = 'books' | 'events' | 'orders' | 'l4' | 'payments' | 'replica'

/** The strings of one block, encoded once for storage and for every reader. */
export interface BlockTexts {
  readonly height: number
  readonly time: number
  readonly epoch: string | null
  /** JSON string of each changed coin; null if the changes are unknown. */
  readonly books: readonly { readonly coin: Coin; readonly text: string }[] | null
  readonly px: Readonly<Record<string, string>>
  /** JSON string of RelayEvents, which has funding and other events but no order statuses. */
  readonly events: string
  /** Order statuses, in block order. */
  readonly orders: readonly { readonly user: unknown; readonly text: string }[]
  /** By coin, the members of a JSON object that contains its rows (l4Text); '' if there are none. */
  readonly l4: ReadonlyMap<string, string>
  /** JSON string of the wallets' payments, which are not sent to readers; '' if there are none. */
  readonly payments: string
  /** JSON string of the entries of signed actions, which are not sent to readers; '' if they are unknown. */
  readonly replica: string
  /**
   * Digests for comparing copies of a block: one of time and fills, and one of the books. The order of the coins does
   * not affect the digest of the books.
   */
  readonly digests: { readonly fills: number; readonly books: number | null }
}

/** The parts of a block that readers of events and order rows get. */
export type EventsTexts = Omit<BlockTexts, 'books' | 'px' | 'payments' | 'replica' | 'digests'>

type NameSet = Pick<ReadonlySet<unknown>, 'has'>

/** The parts of a block that hubs get. */
export type BooksTexts = Omit<BlockTexts, 'events' | 'orders' | 'l4' | 'payments' | 'replica' | 'digests'>

/**
 * Encodes a block once. `epoch`: epoch of the books at this height; null if it is unknown. `through`: builders that the
 * log attributes to fills. They are not used to compare copies of a block.
 */
export function encodeBlock(block: Block, epoch: string | null, through: readonly BuilderFill[] = []): BlockTexts {
  const px: Record<string, string> = {}
  for (const [, fill] of block.fills) if (hasMarketPrice(fill)) px[fill.coin] = fill.px
  const { height, time, fills, ledger, funding, events, twaps, oracle, writer, orders = [], l4 = [] } = block
  const books = block.books?.map((change) => ({ coin: change.coin, text: JSON.stringify(change) })) ?? null
  // Other parts are not part of the digest, because copies of a block may differ in them.
  const compared = JSON.stringify({
    v: LOG_API_VERSION,
    t: 'events',
    height,
    time,
    fills,
  } satisfies Partial<RelayEvents>)
  const digests = { fills: digest(compared), books: books && digestOf(books) }
  const head = { epoch, ...(through.length > 0 && { through }), ...(oracle && { oracle }), ...(writer && { writer }) }
  const tail = { ledger, funding, ...(events && { events }), ...(twaps && { twaps }) }
  return {
    height,
    time,
    epoch,
    books,
    px,
    events: `${JSON.stringify(head).slice(0, -1)},${compared.slice(1, -1)},${JSON.stringify(tail).slice(1)}`,
    orders: orders.map((row) => ({ user: userOf(row), text: JSON.stringify(row) })),
    l4: new Map(l4.map((rows) => [rows.coin, l4Text(rows)])),
    payments: block.payments === undefined ? '' : paymentsText(block.payments),
    replica: block.replica === undefined ? '' : JSON.stringify(block.replica),
    digests,
  }
}

/** Encodes rows as clients get them, so that relays do not have to encode them again. */
function l4Text({ statuses, diffs }: L4Rows): string {
  if (statuses.length + diffs.length === 0) return ''
  return `"order_statuses":${JSON.stringify(statuses)},"book_diffs":${JSON.stringify(diffs)}`
}

const userOf = (row: unknown) => (row as { readonly user?: unknown } | null)?.user

/** JSON string of RelayEvents for a relay, with the statuses of these users and the rows of these coins. */
export function eventsText({ events, orders, l4 }: EventsTexts, users: NameSet, coins: NameSet): string {
  const own = orders.filter(({ user }) => users.has(user))
  const texts = own.map(({ text }) => text)
  return withOrders(events, texts) + rowLines(l4, coins)
}

/** The part of a frame that follows its JSON: a line for each of these coins whose rows are known. */
function rowLines(l4: BlockTexts['l4'], coins: NameSet): string {
  let lines = ''
  for (const [coin, text] of l4) if (coins.has(coin)) lines += `\n${coin}\t${text}`
  return lines
}

/** The frame for the reader of an order-level book. */
export function l4BlockText({ epoch, height, time, l4 }: EventsTexts, coins: NameSet): string {
  return (
    JSON.stringify({ v: LOG_API_VERSION, t: 'l4', epoch, height, time } satisfies L4BlockHead) + rowLines(l4, coins)
  )
}

/** The stored line of rows. */
export function l4Line({ l4 }: BlockTexts): string {
  return [...l4].map((entry) => entry.join('\t')).join('\t')
}

function readL4Line(line = ''): Map<string, string> {
  const cells = line === '' ? [] : line.split('\t')
  return new Map(Array.from({ length: cells.length / 2 }, (_, at) => [cells[2 * at]!, cells[2 * at + 1]!]))
}

/** Splits a frame into its JSON and the rows by coin that `rowLines` appended. The strings are slices of the frame. */
export function readRows(frame: string): { head: string; rows: ReadonlyMap<string, string> } {
  const end = frame.indexOf('\n')
  if (end < 0) return { head: frame, rows: NO_ROWS }
  const rows = new Map<string, string>()
  for (let at = end + 1, next = 0; next >= 0; at = next + 1) {
    next = frame.indexOf('\n', at)
    const tab = frame.indexOf('\t', at)
    rows.set(frame.slice(at, tab), frame.slice(tab + 1, next < 0 ? undefined : next))
  }
  return { head: frame.slice(0, end), rows }
}

/** Parses a relay's frame. */
export function readRelayFrame(text: string): { frame: RelayFrame; rows: ReadonlyMap<string, string> } {
  const { head, rows } = readRows(text)
  return { frame: JSON.parse(head) as RelayFrame, rows }
}

const NO_ROWS: ReadonlyMap<string, string> = new Map()

/** The stored line of order statuses. */
export function ordersLine({ orders }: BlockTexts): string {
  return orders.length === 0 ? '' : `[${orders.map(({ text }) => text).join(',')}]`
}

/** Parses stored lines of events, statuses and rows into the form that readers of events and rows need. */
export function readEventsLine(events: string, orders?: string, l4?: string): EventsTexts {
  const { height, time, epoch = null } = JSON.parse(events) as RelayEvents
  const rows = orders ? (JSON.parse(orders) as unknown[]) : []
  const texts = rows.map((row) => ({ user: userOf(row), text: JSON.stringify(row) }))
  return { height, time, epoch, events, orders: texts, l4: readL4Line(l4) }
}

const withOrders = (events: string, rows: readonly string[]): string =>
  rows.length === 0 ? events : `${events.slice(0, -1)},"orders":[${rows.join(',')}]}`

/** The digest is a sum, because feeders may list the coins of a block in any order. */
function digestOf(books: readonly { readonly text: string }[]): number {
  return books.reduce((sum, { text }) => (sum + (digest(text) % SUM_MODULUS)) % SUM_MODULUS, 0)
}

/**
 * JSON string of HubBlock with the coins that `wants` accepts. This is a hub's frame or, if all coins are accepted, the
 * stored line.
 */
export function hubBlockText(
  texts: BooksTexts,
  wants: (coin: Coin) => boolean,
  repaired: readonly string[] = [],
): string {
  const px: Record<string, string> = {}
  for (const coin in texts.px) if (wants(coin)) px[coin] = texts.px[coin]!
  const { height, time, epoch } = texts
  const since = repaired.length > 0 && { repaired }
  const head = JSON.stringify({ v: LOG_API_VERSION, t: 'block', epoch, height, time, ...since, px })
  let books = ''
  for (const { coin, text } of texts.books ?? []) if (wants(coin)) books += books ? `,${text}` : text
  return `${head.slice(0, -1)},"books":${texts.books ? `[${books}]` : 'null'}}`
}

/** JSON string of LinkGap for heights that will never arrive. */
export function gapText(from: number, to: number): string {
  return JSON.stringify({ v: LOG_API_VERSION, t: 'gap', from, to } satisfies LinkGap)
}

/** Inverse of the stored books line. */
export function readBooksLine(line: string): BooksTexts {
  const { height, time, epoch, books, px } = JSON.parse(line) as HubBlock
  const texts = (changes: readonly BookChange[]) =>
    changes.map((change) => ({ coin: change.coin, text: JSON.stringify(change) }))
  return { height, time, epoch, books: books && texts(books), px }
}

/**
 * Coins whose changes differ between two copies of a block. `new` is ignored, because possibly only one feeder knows
 * that a coin is new.
 */
export function differingCoins(
  accepted: NonNullable<BooksTexts['books']>,
  other: NonNullable<BooksTexts['books']>,
): string[] {
  const levels = (text: string | undefined) => text && JSON.stringify((JSON.parse(text) as BookChange).levels)
  const kept = new Map(accepted.map(({ coin, text }) => [coin, text]))
  const sent = new Map(other.map(({ coin, text }) => [coin, text]))
  return [...new Set([...kept.keys(), ...sent.keys()])].filter((coin) => {
    const a = kept.get(coin)
    const b = sent.get(coin)
    return a !== b && levels(a) !== levels(b)
  })
}

/** Digest for comparing two copies of a block. It has 53 bits, which detect accidents but not attacks. */
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
