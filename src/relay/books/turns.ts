// Whose turn it is to be given whole books, or answers to posts: so many at once, of the others first who has waited
// longest of the account whose turn was longest ago. Laws: accounts take turns, however many sockets each has; one alone
// never has more than half of the seats; a seat that is free for one who waits is taken.

import { entryOf } from '../../core/entry-of.ts'
import type { AccountId } from '../../core/ids.ts'
import type { BookBody } from '../body-fields.ts'

/** `left`: it was withdrawn. `late`: it waited too long. */
type Turn = 'now' | 'left' | 'late'

export interface Ticket {
  readonly account: AccountId
  readonly turn: Promise<Turn>
  readonly call: (turn: Turn) => void
}

export class Turns {
  readonly #seats: number
  /** Seats taken by each account. */
  readonly #seated = new Map<string, number>()
  #taken = 0
  /** Who waits, by account; the account that had its turn last stands last. */
  readonly #lines = new Map<string, Set<Ticket>>()

  /** `seats`: at least two. */
  constructor(seats: number) {
    this.#seats = seats
  }

  /** Who comes stands last in the line of its account, and is called at once where a seat is free. */
  enter(account: AccountId): Ticket {
    const { promise: turn, resolve: call } = Promise.withResolvers<Turn>()
    const ticket: Ticket = { account, turn, call }
    entryOf(this.#lines, account, () => new Set()).add(ticket)
    this.#seat()
    return ticket
  }

  /** How many of an account wait. */
  waiting(account: AccountId): number {
    return this.#lines.get(account)?.size ?? 0
  }

  /** Takes one that waits out of its line; one that was called before stays so. */
  leave(ticket: Ticket, why: 'left' | 'late'): void {
    const line = this.#lines.get(ticket.account)
    if (!line?.delete(ticket)) return
    if (line.size === 0) this.#lines.delete(ticket.account)
    ticket.call(why)
  }

  /** One that was called gives its seat back. */
  done({ account }: Ticket): void {
    this.#taken--
    const left = (this.#seated.get(account) ?? 0) - 1
    if (left > 0) this.#seated.set(account, left)
    else this.#seated.delete(account)
    this.#seat()
  }

  #seat(): void {
    for (const [account, line] of this.#lines) {
      const seated = this.#seated.get(account) ?? 0
      if (this.#taken >= this.#seats) return
      const [first] = line
      if (!first || seated >= this.#seats / 2) continue
      line.delete(first)
      // Put behind the others, where the loop comes to it again.
      this.#lines.delete(account)
      if (line.size > 0) this.#lines.set(account, line)
      this.#taken++
      this.#seated.set(account, seated + 1)
      first.call('now')
    }
  }
}

/** Bodies of so few coins have seats of their own: they are served in moments. */
const QUICK_COINS = 10
const QUICK_SEATS = 64
/** Of those that want whole markets: each book is read once for all of them. */
const WHOLE_SEATS = 16
export const MAX_WAIT_MS = 120_000
const TELL_EVERY_MS = 20_000
/** Who takes longer, because its client reads slowly, is served on without a seat. */
const MAX_SEATED_MS = 30_000

export function isQuick({ coins }: BookBody): boolean {
  return coins !== null && coins.length <= QUICK_COINS
}

/** One that waits: the way out of the queue, and what it is told on the way. */
export interface Guest {
  readonly account: AccountId
  readonly body: BookBody
  tell(waitedMs: number): void
}

interface Place {
  readonly turns: Turns
  readonly ticket: Ticket
  readonly sinceMs: number
  toldMs: number
  /** Its turn has come. */
  isCalled: boolean
  /** When it was first seen on its seat. */
  seatedMs?: number
}

/**
 * Bodies that wait for their turn to be given books, apart from the other requests of their sockets. Invariant: who waits
 * hears of it before its socket would count as idle, and not for ever.
 */
export class WaitingRoom {
  readonly #quick = new Turns(QUICK_SEATS)
  readonly #whole = new Turns(WHOLE_SEATS)
  readonly #places = new Map<Guest, Place>()

  /** Runs `serve` when the guest's turn has come, or answers why it did not. */
  async wait(guest: Guest, nowMs: number, serve: () => Promise<void>): Promise<Turn> {
    const turns = isQuick(guest.body) ? this.#quick : this.#whole
    const ticket = turns.enter(guest.account)
    const place: Place = { turns, ticket, sinceMs: nowMs, toldMs: nowMs, isCalled: false }
    this.#places.set(guest, place)
    const turn = await ticket.turn
    place.isCalled = true
    if (turn !== 'now') this.#places.delete(guest)
    if (turn !== 'now') return turn
    try {
      await serve()
    } finally {
      this.#free(guest, place)
    }
    return turn
  }

  /** Harmless for one that does not wait. */
  leave(guest: Guest): void {
    const place = this.#places.get(guest)
    place?.turns.leave(place.ticket, 'left')
  }

  /** To be called every ten seconds. */
  tick(nowMs: number): void {
    for (const [guest, place] of this.#places) {
      if (place.isCalled) {
        place.seatedMs ??= nowMs
        if (nowMs - place.seatedMs >= MAX_SEATED_MS) this.#free(guest, place)
      } else if (nowMs - place.sinceMs >= MAX_WAIT_MS) place.turns.leave(place.ticket, 'late')
      else if (nowMs - place.toldMs >= TELL_EVERY_MS) {
        place.toldMs = nowMs
        guest.tell(nowMs - place.sinceMs)
      }
    }
  }

  #free(guest: Guest, { turns, ticket }: Place): void {
    if (this.#places.delete(guest)) turns.done(ticket)
  }
}
