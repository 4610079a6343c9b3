// Funding payments of users. A block only has each coin's payment per unit of size, so each user's payments are fetched
// and sent as if they were in the block. Invariant: every subscriber gets a payment once, even if it
// subscribes during the fetch.

import type { Coin } from '../../core/coin.ts'
import type { Address } from '../../protocol/feed/block.ts'
import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import type { EventsTarget, UserRow } from '../channel.ts'
import type { EventFanout } from './event-fanout.ts'
import type { Receiver } from './event-frames.ts'
import type { FirstFramePorts } from './first-frames.ts'

/** Sources report a payment later than the log does, so each user is polled until there is a payment. */
const RETRY_DELAYS_MS = [1_000, 4_000, 15_000, 40_000, 120_000] as const
/** Maximum difference between the times of a payment and its block. */
const TIME_TOLERANCE_MS = 20_000

/** A payment in an info response. */
interface Payment {
  readonly time: number
  readonly delta: { readonly coin: Coin; readonly [field: string]: unknown }
}

/** A block that paid funding, and its payments sent so far. */
interface FundingBlock {
  readonly block: RelayEvents
  readonly sent: Set<string>
}

export class FundingPayments<R extends Receiver> {
  readonly #ports: FirstFramePorts
  readonly #fanout: EventFanout<R>
  readonly #pending = new Set<FundingBlock>()

  constructor(ports: FirstFramePorts, fanout: EventFanout<R>) {
    this.#ports = ports
    this.#fanout = fanout
  }

  /** Resolves when all polls are done. Never rejects. */
  async onBlock(block: RelayEvents): Promise<void> {
    const pending: FundingBlock = { block, sent: new Set() }
    this.#pending.add(pending)
    const done = new Set<string>()
    for (const waitMs of RETRY_DELAYS_MS) {
      await this.#ports.wait(waitMs)
      for (const user of this.#fanout.fetchedNames('funding')) {
        if (done.has(user)) continue
        const startTime = block.time - TIME_TOLERANCE_MS
        const endTime = block.time + TIME_TOLERANCE_MS
        const request = { type: 'userFunding', user, startTime, endTime }
        const response = await this.#ports.read(request).catch(() => null)
        if (response && this.#send(pending, paymentsIn(response.body, user))) done.add(user)
      }
    }
    this.#pending.delete(pending)
  }

  /** A first frame will show these payments. Earlier subscribers get the payments that they do not have yet. */
  onHistory({ channel, body }: EventsTarget, rows: readonly (readonly [id: string, row: unknown])[]): void {
    const [user = ''] = channel.fetched === 'funding' ? channel.names(body) : []
    const payments = user === '' ? [] : rows.map(([id, row]) => ({ user, id, row }))
    for (const pending of this.#pending) this.#send(pending, payments)
  }

  /** True if any payment belongs to this block. */
  #send({ block, sent }: FundingBlock, payments: readonly UserRow[]): boolean {
    const matching = payments.filter(({ row }) => Math.abs((row as Payment).time - block.time) <= TIME_TOLERANCE_MS)
    const funding = matching.filter(({ user, id }) => !sent.has(`${user} ${id}`))
    for (const { user, id } of funding) sent.add(`${user} ${id}`)
    if (funding.length > 0) this.#fanout.deliverFetched(block, { funding })
    return matching.length > 0
  }
}

/** Rows of a response, oldest first; none if it is malformed. */
function paymentsIn(body: string, user: Address): UserRow[] {
  try {
    return fundingRows(JSON.parse(body)).map((payment) => ({ user, ...payment }))
  } catch {
    return []
  }
}

/** Converts payments of an info response to rows. Throws on a malformed response. */
export function fundingRows(response: unknown): Omit<UserRow, 'user'>[] {
  return (response as Payment[]).map(({ time, delta: { type: _, ...amounts } }) => ({
    id: `${time} ${amounts.coin}`,
    row: { time, ...amounts },
  }))
}
