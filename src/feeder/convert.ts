// Converts events from the node's lines to events of a feed block. An event with an unusable shape is left out and
// counted, because one odd event must not stop the feed.

import * as z from 'zod'
import { type Block, LedgerEvent, UserFill } from '../protocol/feed/block.ts'
import { boundedEvents } from './extra-lines.ts'
import { readFunding, readPayments } from './funding.ts'
import { EXTRA_STREAMS, nodeTimeMs, STREAM_FOLDER } from './streams.ts'

/**
 * Events of one height by stream. Statuses are those of wanted wallets only. Null: this node does not write the stream.
 */
export interface BlockEvents {
  readonly fills: readonly unknown[]
  readonly misc: readonly unknown[] | null
  readonly twaps: readonly unknown[] | null
  readonly statuses: readonly unknown[] | null
  /** Null or absent also if the line of this block is unusable. */
  readonly oracle?: readonly unknown[] | null
  readonly writer?: readonly unknown[] | null
}

type EventParts = Omit<Block, 'height' | 'time' | 'books'>

/**
 * Returns those parts of a block that contain events. `timeMs`: time of the block. `refuse` is called for every event
 * left out.
 */
export function convertEvents(events: BlockEvents, timeMs: number, refuse: (reason: string) => void): EventParts {
  const parts: EventParts = { fills: [], ledger: [], funding: [] }
  for (const event of events.fills) {
    const fill = UserFill.safeParse(event)
    if (fill.success) parts.fills.push(fill.data)
    else refuse(`fill: ${issueOf(fill.error)}`)
  }
  const paid: (readonly string[] | null)[] = []
  const others = (events.misc ?? []).filter((event) => !placeMisc(event, timeMs, parts, paid, refuse))
  const isKnown = events.misc !== null && !paid.includes(null)
  if (paid.length > 0 || !isKnown) parts.payments = isKnown ? paid.flatMap((payments) => payments ?? []) : null
  if (others.length > 0) parts.events = others
  if (events.twaps && events.twaps.length > 0) parts.twaps = [...events.twaps]
  if (events.statuses && events.statuses.length > 0) parts.orders = [...events.statuses]
  for (const name of EXTRA_STREAMS) {
    const rows = events[name]
    if (rows) parts[name] = boundedEvents(rows, (reason) => refuse(`${STREAM_FOLDER[name]}: ${reason}`))
  }
  return parts
}

const MiscEvent = z.looseObject({ time: z.string(), hash: z.string(), inner: z.record(z.string(), z.unknown()) })
const LedgerPayload = LedgerEvent.pick({ users: true, delta: true }).loose()

/**
 * Adds a misc event to its part of the block. Returns false if there is no such part. `paid`: payments of each funding
 * event; null when unknown.
 */
function placeMisc(
  value: unknown,
  blockMs: number,
  parts: EventParts,
  paid: (readonly string[] | null)[],
  refuse: (reason: string) => void,
): boolean {
  const event = MiscEvent.safeParse(value)
  if (!event.success) return false
  const { time, hash, inner } = event.data
  const timeMs = nodeTimeMs(time)
  if (inner.Funding !== undefined) {
    const funding = readFunding(inner.Funding)
    const late = timeMs < blockMs && { time: timeMs }
    if (funding.ok) parts.funding.push(...funding.value.map((paid) => ({ ...paid, ...late })))
    else refuse(`funding: ${funding.error}`)
    const payments = readPayments(inner.Funding, timeMs)
    if (funding.ok && !payments.ok) refuse(`payments of funding: ${payments.error}`)
    paid.push(payments.ok ? payments.value : null)
    return true
  }
  if (inner.LedgerUpdate === undefined) return false
  const ledger = LedgerPayload.safeParse(inner.LedgerUpdate)
  if (ledger.success && timeMs >= 0)
    parts.ledger.push({ users: ledger.data.users, time: timeMs, hash, delta: ledger.data.delta })
  else refuse(`ledger update: ${ledger.success ? `time ${time}` : issueOf(ledger.error)}`)
  return true
}

function issueOf(error: z.ZodError): string {
  const issue = error.issues[0]
  return issue ? `${issue.path.join('.')} ${issue.message}` : 'unreadable'
}
