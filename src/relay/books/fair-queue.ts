// Limits the concurrency of full books and of post responses, with fair turns. A free slot goes to the account that was
// served longest ago, and within it to the longest waiting request. Invariants: accounts take turns, however many
// sockets each has; one account never has more than half of the slots; a free slot is assigned as soon as a request may
// have it.

import { getOrCreate } from '../../core/get-or-create.ts'
import type { AccountId } from '../../core/ids.ts'
import type { BookBody } from '../body-fields.ts'

/** `canceled`: removed from the queue. `late`: it waited too long. */
type Turn = 'granted' | 'canceled' | 'late'

export interface Ticket {
  readonly account: AccountId
  readonly turn: Promise<Turn>
  readonly resolve: (turn: Turn) => void
}

export class FairQueue {
  readonly #slots: number
  /** Slots used by each account. */
  readonly #slotsByAccount = new Map<string, number>()
  #usedSlots = 0
  /** Waiting tickets by account. The account served last comes last. */
  readonly #waiting = new Map<string, Set<Ticket>>()

  /** `slots`: at least two. */
  constructor(slots: number) {
    this.#slots = slots
  }

  /** Appends a ticket to its account's queue. It resolves at once if a slot is free. */
  enqueue(account: AccountId): Ticket {
    const { promise: turn, resolve } = Promise.withResolvers<Turn>()
    const ticket: Ticket = { account, turn, resolve }
    getOrCreate(this.#waiting, account, () => new Set()).add(ticket)
    this.#assignSlots()
    return ticket
  }

  /** Number of waiting tickets of an account. */
  waitingCount(account: AccountId): number {
    return this.#waiting.get(account)?.size ?? 0
  }

  /** Removes a waiting ticket. A ticket that was already granted keeps its slot. */
  cancel(ticket: Ticket, outcome: 'canceled' | 'late'): void {
    const tickets = this.#waiting.get(ticket.account)
    if (!tickets?.delete(ticket)) return
    if (tickets.size === 0) this.#waiting.delete(ticket.account)
    ticket.resolve(outcome)
  }

  /** Returns a granted slot. */
  release({ account }: Ticket): void {
    this.#usedSlots--
    const remaining = (this.#slotsByAccount.get(account) ?? 0) - 1
    if (remaining > 0) this.#slotsByAccount.set(account, remaining)
    else this.#slotsByAccount.delete(account)
    this.#assignSlots()
  }

  #assignSlots(): void {
    for (const [account, tickets] of this.#waiting) {
      const used = this.#slotsByAccount.get(account) ?? 0
      if (this.#usedSlots >= this.#slots) return
      const [first] = tickets
      if (!first || used >= this.#slots / 2) continue
      tickets.delete(first)
      // The account moves to the end, where the loop reaches it again.
      this.#waiting.delete(account)
      if (tickets.size > 0) this.#waiting.set(account, tickets)
      this.#usedSlots++
      this.#slotsByAccount.set(account, used + 1)
      first.resolve('granted')
    }
  }
}

/** Bodies with few coins have their own slots, because they are served quickly. */
const QUICK_COINS = 10
const QUICK_SLOTS = 64
/** Slots for full markets. Each book is read once for all bodies that hold a slot. */
const FULL_SLOTS = 16
export const MAX_WAIT_MS = 120_000
const NOTIFY_EVERY_MS = 20_000
/** After this time, a slow reader loses its slot but is still served. */
const MAX_SLOT_MS = 30_000

export function isQuick({ coins }: BookBody): boolean {
  return coins !== null && coins.length <= QUICK_COINS
}

/** A queued body, and how to notify its client. */
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
  /** True if its turn has come. */
  isGranted: boolean
  /** Time at which `tick` first found that it had a slot. */
  slotSinceMs?: number
}

/**
 * Queue of bodies that wait for books, separate from the other requests of their sockets. Invariant: a waiting client
 * is notified before its socket would count as idle, and does not wait forever.
 */
export class AdmissionQueue {
  readonly #quick = new FairQueue(QUICK_SLOTS)
  readonly #full = new FairQueue(FULL_SLOTS)
  readonly #entries = new Map<AdmissionWaiter, QueueEntry>()

  /** Runs `serve` when it is the waiter's turn, or returns why it was not served. */
  async wait(waiter: AdmissionWaiter, nowMs: number, serve: () => Promise<void>): Promise<Turn> {
    const queue = isQuick(waiter.body) ? this.#quick : this.#full
    const ticket = queue.enqueue(waiter.account)
    const entry: QueueEntry = { queue, ticket, sinceMs: nowMs, notifiedMs: nowMs, isGranted: false }
    this.#entries.set(waiter, entry)
    const turn = await ticket.turn
    entry.isGranted = true
    if (turn !== 'granted') this.#entries.delete(waiter)
    if (turn !== 'granted') return turn
    try {
      await serve()
    } finally {
      this.#release(waiter, entry)
    }
    return turn
  }

  /** Has no effect if the waiter is not in the queue. */
  cancel(waiter: AdmissionWaiter): void {
    const entry = this.#entries.get(waiter)
    entry?.queue.cancel(entry.ticket, 'canceled')
  }

  /** Call it every ten seconds. */
  tick(nowMs: number): void {
    for (const [waiter, entry] of this.#entries) {
      if (entry.isGranted) {
        entry.slotSinceMs ??= nowMs
        if (nowMs - entry.slotSinceMs >= MAX_SLOT_MS) this.#release(waiter, entry)
      } else if (nowMs - entry.sinceMs >= MAX_WAIT_MS) entry.queue.cancel(entry.ticket, 'late')
      else if (nowMs - entry.notifiedMs >= NOTIFY_EVERY_MS) {
        entry.notifiedMs = nowMs
        waiter.notify(nowMs - entry.sinceMs)
      }
    }
  }

  #release(waiter: AdmissionWaiter, { queue, ticket }: QueueEntry): void {
    if (this.#entries.delete(waiter)) queue.release(ticket)
  }
}
