// What every wallet has borrowed and lent, added up from the ledger. A function of the events alone.

import { amountOf } from '../exchange/fixed-point.ts'
import { Tail } from '../exchange/tail.ts'

/** A ledger update of this kind; amounts in tokens. */
interface LoanDelta {
  readonly token: string
  readonly operation: 'supply' | 'withdraw' | 'borrow' | 'repay'
  readonly amount: string
  readonly interestAmount: string
}

interface Loan {
  borrowed: bigint
  supplied: bigint
}

interface Interest {
  readonly time: number
  readonly token: string
  readonly borrow: string
  readonly supply: string
}

/** Rows of interest kept per wallet. */
const KEPT = 500

export class Loans {
  /** By wallet and token; the wallet `''` is everybody. */
  readonly #loans = new Map<string, Map<string, Loan>>()
  readonly #interest = new Map<string, Tail<Interest>>()

  note(users: readonly string[], delta: { readonly type: string }, time: number): void {
    if (delta.type !== 'borrowLend') return
    // The node's own kind: the ledger has no other of this name.
    const { token, operation, amount, interestAmount } = delta as unknown as LoanDelta
    const isDebt = operation === 'borrow' || operation === 'repay'
    const change = operation === 'supply' || operation === 'borrow' ? amountOf(amount) : -amountOf(amount)
    for (const user of ['', ...users]) this.#add(user, token, isDebt ? 'borrowed' : 'supplied', change)
    if (amountOf(interestAmount) === 0n) return
    const [borrow, supply] = isDebt ? [interestAmount, '0.0'] : ['0.0', interestAmount]
    for (const user of users) {
      const rows = this.#interest.get(user) ?? new Tail<Interest>(KEPT)
      this.#interest.set(user, rows)
      rows.push({ time, token, borrow, supply })
    }
  }

  /** By token. */
  of(user: string): ReadonlyMap<string, Readonly<Loan>> {
    return this.#loans.get(user) ?? new Map()
  }

  /** Of everybody. */
  total(token: string): Readonly<Loan> {
    return this.of('').get(token) ?? { borrowed: 0n, supplied: 0n }
  }

  /** Oldest first. */
  interest(user: string): readonly Interest[] {
    return this.#interest.get(user)?.toArray() ?? []
  }

  #add(user: string, token: string, side: keyof Loan, change: bigint): void {
    const loans = this.#loans.get(user) ?? new Map<string, Loan>()
    this.#loans.set(user, loans)
    const loan = loans.get(token) ?? { borrowed: 0n, supplied: 0n }
    loans.set(token, loan)
    const after = loan[side] + change
    // What was lent before the first block that is remembered is not known.
    loan[side] = after > 0n ? after : 0n
  }
}
