// Whose turn it is to be given whole books, or answers to posts: so many at once, of the others first who has waited
// longest of the account whose turn was longest ago. Laws: accounts take turns, however many sockets each has; one alone
// never has more than half of the seats; a seat that is free for one who waits is taken.

import { getOrCreate } from '../../core/get-or-create.ts'
import type { AccountId } from '../../core/ids.ts'
import type { BookBody } from '../body-fields.ts'

/** `left`: it was withdrawn. `late`: it waited too long. */
type Turn = 'now' | 'left' | 'late'

export interface Ticket {
  readonly account: AccountId
  readonly turn: Promise<Turn>
  readonly resolve: (turn: Turn) => void
}

export class FairQueue {
  readonly #slots: number
  /** Seats taken by each account. */
  readonly #slotsByAccount = new Map<string, number>()
  #usedSlots = 0
  /** Who waits, by account; the account that had its turn last stands last. */
  readonly #waiting = new Map<string, Set<Ticket>>()

  /** `seats`: at least two. */
  constructor(seats: number) {
    this.#slots = seats
  }

  /** Who comes stands last in the line of its account, and is called at once where a seat is free. */
  enqueue(account: AccountId): Ticket {
    const { promise: turn, resolve: call } = Promise.withResolvers<Turn>()
    const ticket: Ticket = { account, turn, resolve: call }
    getOrCreate(this.#waiting, account, () => new Set()).add(ticket)
    this.#assignSlots()
    return ticket
  }

  /** How many of an account wait. */
  waitingCount(account: AccountId): number {
    return this.#waiting.get(account)?.size ?? 0
  }

  /** Takes one that waits out of its line; one that was called before stays so. */
  cancel(ticket: Ticket, why: 'left' | 'late'): void {
    const line = this.#waiting.get(ticket.account)
    if (!line?.delete(ticket)) return
    if (line.size === 0) this.#waiting.delete(ticket.account)
    ticket.resolve(why)
  }

  /** One that was called gives its seat back. */
  release({ account }: Ticket): void {
    this.#usedSlots--
    const left = (this.#slotsByAccount.get(account) ?? 0) - 1
    if (left > 0) this.#slotsByAccount.set(account, left)
    else this.#slotsByAccount.delete(account)
    this.#assignSlots()
  }

  #assignSlots(): void {
    for (const [account, line] of this.#waiting) {
      const seated = this.#slotsByAccount.get(account) ?? 0
      if (this.#usedSlots >= this.#slots) return
      const [first] = line
      if (!first || seated >= this.#slots / 2) continue
      line.delete(first)
      // Put behind the others, where the loop comes to it again.
      this.#waiting.delete(account)
      if (line.size > 0) this.#waiting.set(account, line)
      this.#usedSlots++
      this.#slotsByAccount.set(account, seated + 1)
      first.resolve('now')
    }
  }
}

/** Bodies of so few coins have seats of their own: they are served in moments. */
const QUICK_COINS = 10
const QUICK_SLOTS = 64
/** Of those that want whole markets: each book is read once for all of them. */
const FULL_SLOTS = 16
export const MAX_WAIT_MS = 120_000
const NOTIFY_EVERY_MS = 20_000
/** Who takes longer, because its client reads slowly, is served on without a seat. */
const MAX_SLOT_MS = 30_000

export function isQuick({ coins }: BookBody): boolean {
  return coins !== null && coins.length <= QUICK_COINS
}

/** One that waits: the way out of the queue, and what it is told on the way. */
export interface AdmissionWaiter {
  readonly account: AccountId
  readonly body: BookBody
  notify(waitedMs: number): void
}

interface QueueEntry {
  readonly queue: FairQueue
  readonly ticket: Ticket
  readonly sinceMs: number
  notifiedMs: number
  /** Its turn has come. */
  isGranted: boolean
  /** When it was first seen on its seat. */
  slotSinceMs?: number
}

/**
 * Bodies that wait for their turn to be given books, apart from the other requests of their sockets. Invariant: who waits
 * hears of it before its socket would count as idle, and not for ever.
 */
export class AdmissionQueue {
  readonly #quick = new FairQueue(QUICK_SLOTS)
  readonly #full = new FairQueue(FULL_SLOTS)
  readonly #entries = new Map<AdmissionWaiter, QueueEntry>()

  /** Runs `serve` when the guest's turn has come, or answers why it did not. */
  async wait(guest: AdmissionWaiter, nowMs: number, serve: () => Promise<void>): Promise<Turn> {
    const turns = isQuick(guest.body) ? this.#quick : this.#full
    const ticket = turns.enqueue(guest.account)
    const place: QueueEntry = { queue: turns, ticket, sinceMs: nowMs, notifiedMs: nowMs, isGranted: false }
    this.#entries.set(guest, place)
    const turn = await ticket.turn
    place.isGranted = true
    if (turn !== 'now') this.#entries.delete(guest)
    if (turn !== 'now') return turn
    try {
      await serve()
    } finally {
      this.#release(guest, place)
    }
    return turn
  }

  /** Harmless for one that does not wait. */
  cancel(guest: AdmissionWaiter): void {
    const place = this.#entries.get(guest)
    place?.queue.cancel(place.ticket, 'left')
  }

  /** To be called every ten seconds. */
  tick(nowMs: number): void {
    for (const [guest, place] of this.#entries) {
      if (place.isGranted) {
        place.slotSinceMs ??= nowMs
        if (nowMs - place.slotSinceMs >= MAX_SLOT_MS) this.#release(guest, place)
      } else if (nowMs - place.sinceMs >= MAX_WAIT_MS) place.queue.cancel(place.ticket, 'late')
      else if (nowMs - place.notifiedMs >= NOTIFY_EVERY_MS) {
        place.notifiedMs = nowMs
        guest.notify(nowMs - place.sinceMs)
      }
    }
  }

  #release(guest: AdmissionWaiter, { queue, ticket }: QueueEntry): void {
    if (this.#entries.delete(guest)) queue.release(ticket)
  }
}
