// Funding payments of users. A block says what each coin paid per unit of size alone; what a user paid is asked for, and goes
// out as if it had stood in the block. Law: a payment is told once to everybody, whoever subscribes while it is asked for.

import type { Coin } from '../../core/coin.ts'
import type { Address } from '../../protocol/feed/block.ts'
import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import type { EventsTarget, UserRow } from '../channel.ts'
import type { EventFanout } from './event-fanout.ts'
import type { Receiver } from './event-frames.ts'
import type { FirstFramePorts } from './first-frames.ts'

/** Sources learn of a payment later than the log does: each user is asked for again, until there is something. */
const RETRY_DELAYS_MS = [1_000, 4_000, 15_000, 40_000, 120_000] as const
/** A payment is dated no further from its block. */
const TIME_TOLERANCE_MS = 20_000

/** A payment as info answers it. */
interface Payment {
  readonly time: number
  readonly delta: { readonly coin: Coin; readonly [field: string]: unknown }
}

/** A block that paid funding, and payments of it that were told. */
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

  /** Resolves when nothing more is asked for. Never rejects. */
  async onBlock(block: RelayEvents): Promise<void> {
    const paying: FundingBlock = { block, sent: new Set() }
    this.#pending.add(paying)
    const done = new Set<string>()
    for (const waitMs of RETRY_DELAYS_MS) {
      await this.#ports.wait(waitMs)
      for (const user of this.#fanout.fetchedNames('paid')) {
        if (done.has(user)) continue
        const startTime = block.time - TIME_TOLERANCE_MS
        const endTime = block.time + TIME_TOLERANCE_MS
        const question = { type: 'userFunding', user, startTime, endTime }
        const answer = await this.#ports.read(question).catch(() => null)
        if (answer && this.#send(paying, paymentsIn(answer.body, user))) done.add(user)
      }
    }
    this.#pending.delete(paying)
  }

  /** A first frame is about to show these payments: who was there before gets those that he was not told of. */
  onHistory({ channel, body }: EventsTarget, rows: readonly (readonly [id: string, row: unknown])[]): void {
    const [user = ''] = channel.fetched === 'paid' ? channel.names(body) : []
    const payments = user === '' ? [] : rows.map(([id, row]) => ({ user, id, row }))
    for (const paying of this.#pending) this.#send(paying, payments)
  }

  /** True where some of these are of this block. */
  #send({ block, sent }: FundingBlock, payments: readonly UserRow[]): boolean {
    const own = payments.filter(({ row }) => Math.abs((row as Payment).time - block.time) <= TIME_TOLERANCE_MS)
    const paid = own.filter(({ user, id }) => !sent.has(`${user} ${id}`))
    for (const { user, id } of paid) sent.add(`${user} ${id}`)
    if (paid.length > 0) this.#fanout.deliverFetched(block, { paid })
    return own.length > 0
  }
}

/** Rows of an answer as frames show them, the oldest first; none where it is no answer. */
function paymentsIn(body: string, user: Address): UserRow[] {
  try {
    return fundingRows(JSON.parse(body)).map((payment) => ({ user, ...payment }))
  } catch {
    return []
  }
}

/** Payments of an info answer as frames show them. Throws on what is no answer. */
export function fundingRows(answer: unknown): Omit<UserRow, 'user'>[] {
  return (answer as Payment[]).map(({ time, delta: { type: _, ...amounts } }) => ({
    id: `${time} ${amounts.coin}`,
    row: { time, ...amounts },
  }))
}
