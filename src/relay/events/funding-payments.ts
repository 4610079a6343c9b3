// Funding payments of users. A block says what each coin paid per unit of size alone; what a user paid is asked for, and goes
// out as if it had stood in the block. Law: a payment is told once to everybody, whoever subscribes while it is asked for.

import type { Coin } from '../../core/coin.ts'
import type { Address } from '../../protocol/feed/block.ts'
import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import type { UserRow, WantedEvents } from '../channel.ts'
import type { EventFanout } from './event-fanout.ts'
import type { FirstFramePorts } from './first-frames.ts'
import type { Receiver } from './parcels.ts'

/** Sources learn of a payment later than the log does: each user is asked for again, until there is something. */
const WAITS_MS = [1_000, 4_000, 15_000, 40_000, 120_000] as const
/** A payment is dated no further from its block. */
const AROUND_MS = 20_000

/** A payment as info answers it. */
interface Payment {
  readonly time: number
  readonly delta: { readonly coin: Coin; readonly [field: string]: unknown }
}

/** A block that paid funding, and payments of it that were told. */
interface Paying {
  readonly block: RelayEvents
  readonly told: Set<string>
}

export class FundingPayments<R extends Receiver> {
  readonly #ports: FirstFramePorts
  readonly #fanout: EventFanout<R>
  readonly #paying = new Set<Paying>()

  constructor(ports: FirstFramePorts, fanout: EventFanout<R>) {
    this.#ports = ports
    this.#fanout = fanout
  }

  /** Resolves when nothing more is asked for. Never rejects. */
  async follow(block: RelayEvents): Promise<void> {
    const paying: Paying = { block, told: new Set() }
    this.#paying.add(paying)
    const done = new Set<string>()
    for (const waitMs of WAITS_MS) {
      await this.#ports.wait(waitMs)
      for (const user of this.#fanout.lateNames('paid')) {
        if (done.has(user)) continue
        const startTime = block.time - AROUND_MS
        const endTime = block.time + AROUND_MS
        const question = { type: 'userFunding', user, startTime, endTime }
        const answer = await this.#ports.read(question).catch(() => null)
        if (answer && this.#tell(paying, paymentsIn(answer.body, user))) done.add(user)
      }
    }
    this.#paying.delete(paying)
  }

  /** A first frame is about to show these payments: who was there before gets those that he was not told of. */
  had({ channel, body }: WantedEvents, rows: readonly (readonly [id: string, row: unknown])[]): void {
    const [user = ''] = channel.late === 'paid' ? channel.names(body) : []
    const payments = user === '' ? [] : rows.map(([id, row]) => ({ user, id, row }))
    for (const paying of this.#paying) this.#tell(paying, payments)
  }

  /** True where some of these are of this block. */
  #tell({ block, told }: Paying, payments: readonly UserRow[]): boolean {
    const own = payments.filter(({ row }) => Math.abs((row as Payment).time - block.time) <= AROUND_MS)
    const paid = own.filter(({ user, id }) => !told.has(`${user} ${id}`))
    for (const { user, id } of paid) told.add(`${user} ${id}`)
    if (paid.length > 0) this.#fanout.deliverLate(block, { paid })
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
