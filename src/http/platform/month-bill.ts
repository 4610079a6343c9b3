// The operator's bill of a month at Cloudflare's list prices, from counted operations. Tests count the same operations
// and fail if these figures are too low (test/metering/call-cost.worker.test.ts, stream-cost.worker.test.ts).

import { inGroups } from '../../core/digit-groups.ts'
import { ROTATION_MS } from '../../order-books/rotation.ts'

/**
 * US dollars per million units. Source: Cloudflare price pages of Workers, Durable Objects, KV, D1 and R2, November 2026.
 */
export const PER_MILLION = {
  request: 0.3,
  cpuMs: 0.02,
  objectRequest: 0.15,
  objectRowWritten: 1,
  kvRead: 0.5,
  kvWrite: 5,
  d1RowWritten: 1,
  r2Write: 4.5,
  r2GbMonth: 15_000,
} as const

export const PER_GB_SECOND = 12.5e-6
export const OBJECT_GB = 0.128
/** Incoming WebSocket frames per billed request. */
export const FRAMES_PER_REQUEST = 20
const PLAN = 5
const MONTH_S = 30 * 24 * 3600

/** Rows that the log writes per second: two for added segments, two for removed segments, and one for the chain. */
const LOG_ROWS_PER_SECOND = 5
/** The same of segments of order statuses and of order-level rows, which exist while clients follow them. */
const ORDER_ROWS_PER_SECOND = 4
/** A checkpoint replaces the row of its coin, and a replacement counts as two rows. */
const CHECKPOINT_ROWS = 2

/** Metering of an account whose streams always run, per minute: of the account with one stream, and of each further one. */
export const STREAMS_PER_MINUTE = {
  first: { requests: 3.11, objectRows: 0.5, d1Rows: 0.2 },
  further: { requests: 0.01, objectRows: 0.12, d1Rows: 0.01 },
} as const

/** Operations of 1,000 calls of a key that calls once per second. */
export const PER_1000_CALLS = { requests: 100, objectRows: 220, d1Rows: 4, kvReads: 34, cpuMs: 1_000 } as const

/** Pings of a client that reads some KB per second. Each proves up to 32 KiB or 20 s of reading. */
const PINGS_PER_MINUTE = 6
/** A meter is awake this long per request, an assumption. An idle object that may hibernate is not billed. */
const METER_AWAKE_S = 0.02

/** Class A operations and stored objects of the archive's files, measured (docs/internals/benchmarks.md). */
const ARCHIVE_FILES_USD = 1.74
/**
 * The archive of books. `gb`: of 90 days, the default, measured (docs/internals/benchmarks.md). A minute is two objects and
 * a row, and 15 minutes a checkpoint. `awakeS` is an assumption.
 */
const ARCHIVE_BOOKS = { gb: 330, writesPerMinute: 2 + 1 / 15, d1RowsPerMinute: 4, awakeSPerMinute: 5 } as const
/** The follower of the log, and each pipeline of one row a minute (test/pipelines/pipeline-cost.worker.test.ts). */
const PIPELINES_USD = { follower: 0.95, each: 0.55 }

export interface DeploymentSize {
  readonly blocksPerSecond: number
  readonly hubs: number
  /** Number of relays that have subscribers, in all regions. */
  readonly relays: number
  /** Coins whose order books change at least every 30 s. */
  readonly coins: number
  /** Coins with subscribers of order-level books, each of which has an object. */
  readonly orderBooks: number
}

/** Usage of all customers in a month. */
interface CustomerUse {
  /** Accounts whose streams always run, each on one relay, and streams of each. */
  readonly streaming: number
  readonly streams: number
  readonly calls: number
}

interface BillLine {
  readonly item: string
  readonly used: number
  /** Part that the plan includes. */
  readonly included: number
  readonly dollars: number
}

const NO_USE: CustomerUse = { streaming: 0, streams: 0, calls: 0 }

/** Lines of a month. Assumes a connected feeder, and that the log, the hubs and relays with subscribers never sleep. */
function monthBill(
  { blocksPerSecond, hubs, relays, coins, orderBooks }: DeploymentSize,
  { streaming, streams, calls }: CustomerUse = NO_USE,
): BillLine[] {
  const minutes = MONTH_S / 60
  const ofStreams = (name: keyof typeof STREAMS_PER_MINUTE.first) =>
    streaming * minutes * (STREAMS_PER_MINUTE.first[name] + (streams - 1) * STREAMS_PER_MINUTE.further[name])
  const ofCalls = (name: keyof typeof PER_1000_CALLS) => (calls / 1_000) * PER_1000_CALLS[name]
  // Each block causes one frame to the log, one to each hub and order-level book, and, for each relay, one from the log
  // and one from each hub.
  const blockFrames = MONTH_S * blocksPerSecond * (1 + hubs + orderBooks + relays * (1 + hubs))
  const frames = blockFrames + streaming * minutes * PINGS_PER_MINUTE
  const meterRequests = ofStreams('requests') + ofCalls('requests')
  const logRows = LOG_ROWS_PER_SECOND + (orderBooks > 0 ? ORDER_ROWS_PER_SECOND : 0)
  const standingRows = MONTH_S * (logRows + (coins * CHECKPOINT_ROWS * 1_000) / ROTATION_MS)
  return [
    fixed('Workers Paid plan', PLAN),
    line('requests to the gateway', calls, 10e6, PER_MILLION.request),
    line('CPU milliseconds of the gateway', ofCalls('cpuMs'), 30e6, PER_MILLION.cpuMs),
    line(
      'GB-seconds of objects that are awake',
      OBJECT_GB * (MONTH_S * (1 + hubs + orderBooks + relays) + meterRequests * METER_AWAKE_S),
      400_000,
      PER_GB_SECOND * 1e6,
    ),
    line('requests to objects', frames / FRAMES_PER_REQUEST + meterRequests, 1e6, PER_MILLION.objectRequest),
    line(
      'rows written by objects',
      standingRows + ofStreams('objectRows') + ofCalls('objectRows'),
      50e6,
      PER_MILLION.objectRowWritten,
    ),
    line('rows written in D1', ofStreams('d1Rows') + ofCalls('d1Rows'), 50e6, PER_MILLION.d1RowWritten),
    line('KV reads', ofCalls('kvReads'), 10e6, PER_MILLION.kvRead),
  ]
}

const fixed = (item: string, dollars: number): BillLine => ({ item, used: 1, included: 0, dollars })

function line(item: string, used: number, included: number, perMillion: number): BillLine {
  return { item, used, included, dollars: (Math.max(0, used - included) * perMillion) / 1e6 }
}

function archiveBill(): BillLine[] {
  const minutes = MONTH_S / 60
  const { gb, writesPerMinute, d1RowsPerMinute, awakeSPerMinute } = ARCHIVE_BOOKS
  const perMinute = (PER_MILLION.d1RowWritten * d1RowsPerMinute) / 1e6 + PER_GB_SECOND * OBJECT_GB * awakeSPerMinute
  return [
    fixed('files of the archive', ARCHIVE_FILES_USD),
    line('writes of archived books to R2', minutes * writesPerMinute, 1e6, PER_MILLION.r2Write),
    line('GB of archived books in R2', gb, 10, PER_MILLION.r2GbMonth),
    fixed('the archiving object, and its rows in D1', minutes * perMinute),
  ]
}

const totalOf = (bill: readonly BillLine[]) => bill.reduce((sum, { dollars }) => sum + dollars, 0)

/** Monthly base cost in dollars without any customers. */
export const dollarsPerMonth = (size: DeploymentSize) => totalOf(monthBill(size))

const perMillionOf = (count: {
  readonly requests: number
  readonly objectRows: number
  readonly d1Rows: number
}): number =>
  PER_MILLION.objectRequest * count.requests +
  PER_MILLION.objectRowWritten * count.objectRows +
  PER_MILLION.d1RowWritten * count.d1Rows

/** Dollars per call at list prices, nothing included. */
export const CALL_USD =
  (PER_MILLION.request * 1_000 +
    PER_MILLION.cpuMs * PER_1000_CALLS.cpuMs +
    PER_MILLION.kvRead * PER_1000_CALLS.kvReads +
    perMillionOf(PER_1000_CALLS)) /
  1e9

/** Dollars per minute of an account's only stream. Further streams of the account cost less. */
export const STREAM_MINUTE_USD = perMillionOf(STREAMS_PER_MINUTE.first) / 1e6

/** Kinds of operators in the table of docs/operators/reference/costs.md. */
const KINDS = [20, 300, 1_000].flatMap((customers) => [1, 3].map((regions) => ({ customers, regions })))
/** The real exchange and a default gateway. */
export const ASSUMED = { blocksPerSecond: 14.5, coins: 300, hubs: 4, orderBooks: 0 } as const
const RELAYS_PER_REGION = 2
const STREAMS_OF_CUSTOMER = 3
const CALLS_OF_CUSTOMER = 100_000
const CUSTOMERS_PER_PIPELINE = 50
const CUSTOMERS_PER_ORDER_BOOK = 100

/** One column per kind of operator, one row per line of its bill. */
export function monthTable(): string {
  const bills = KINDS.map(({ customers, regions }) => {
    const orderBooks = Math.ceil(customers / CUSTOMERS_PER_ORDER_BOOK)
    const size = { ...ASSUMED, relays: regions * RELAYS_PER_REGION, orderBooks }
    const use = { streaming: customers, streams: STREAMS_OF_CUSTOMER, calls: customers * CALLS_OF_CUSTOMER }
    const pipelines = Math.floor(customers / CUSTOMERS_PER_PIPELINE)
    const { follower, each } = PIPELINES_USD
    return [
      ...monthBill(size, use),
      ...archiveBill(),
      fixed('pipelines', pipelines === 0 ? 0 : follower + pipelines * each),
    ]
  })
  const heads = KINDS.map(({ customers, regions }) => {
    return `${inGroups(customers)} customers, ${regions === 1 ? '1 region' : `${regions} regions`}`
  })
  const rowOf = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const cellOf = ({ used, included, dollars }: BillLine) =>
    used === 1 ? usd(dollars) : `${quantity(used)}${included === 0 ? '' : ` of ${quantity(included)}`}: ${usd(dollars)}`
  return [
    rowOf(['Item', ...heads]),
    rowOf(['---', ...KINDS.map(() => '---')]),
    ...[...Map.groupBy(bills.flat(), ({ item }) => item)].map(([item, lines]) => rowOf([item, ...lines.map(cellOf)])),
    rowOf(['total', ...bills.map((bill) => `**${usd(totalOf(bill))}**`)]),
  ].join('\n')
}

const usd = (dollars: number) => `$${dollars.toFixed(2)}`

function quantity(count: number): string {
  if (count >= 1e6) return `${Number((count / 1e6).toPrecision(3))} M`
  return count >= 1e3 ? `${Number((count / 1e3).toPrecision(3))} K` : String(Math.round(count))
}
