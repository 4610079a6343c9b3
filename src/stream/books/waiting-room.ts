// Bodies that wait for their turn to be given books, apart from the other requests of their sockets: nothing is charged,
// held or read for them meanwhile. Law: who waits hears of it before its socket would count as idle, and not for ever.

import type { BookBody } from '../body-fields.ts'
import { type Ticket, type Turn, Turns } from './turns.ts'

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
  readonly account: string
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
