// Whose turn it is to be given whole books, or answers to posts: so many at once, of the others first who has waited
// longest of the account whose turn was longest ago. Laws: accounts take turns, however many sockets each has; one alone
// never has more than half of the seats; a seat that is free for one who waits is taken.

/** `left`: it was withdrawn. `late`: it waited too long. */
export type Turn = 'now' | 'left' | 'late'

export interface Ticket {
  readonly account: string
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
  enter(account: string): Ticket {
    const { promise: turn, resolve: call } = Promise.withResolvers<Turn>()
    const ticket: Ticket = { account, turn, call }
    const line = this.#lines.get(account)
    if (line) line.add(ticket)
    else this.#lines.set(account, new Set([ticket]))
    this.#seat()
    return ticket
  }

  /** How many of an account wait. */
  waiting(account: string): number {
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
    const left = this.#seated.get(account)! - 1
    if (left > 0) this.#seated.set(account, left)
    else this.#seated.delete(account)
    this.#seat()
  }

  #seat(): void {
    for (const [account, line] of this.#lines) {
      const seated = this.#seated.get(account) ?? 0
      if (this.#taken >= this.#seats) return
      if (seated >= this.#seats / 2) continue
      const [first] = line
      line.delete(first!)
      // Put behind the others, where the loop comes to it again.
      this.#lines.delete(account)
      if (line.size > 0) this.#lines.set(account, line)
      this.#taken++
      this.#seated.set(account, seated + 1)
      first!.call('now')
    }
  }
}
