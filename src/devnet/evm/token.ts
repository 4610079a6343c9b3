// The EVM's only contract, an ERC-20 token. Invariants: everything is derived from the seed and the transfer's number,
// with no stored state; the transfers of a holder, starting with the first, add up to its balance.

import { Prng, seedState } from '../exchange/prng.ts'

export const CHAIN_ID = 999
export const TOKEN = `0x${'70'.repeat(20)}`
export const SYMBOL = 'DEVD'
export const DECIMALS = 6

/** Address that mints each holder's initial amount in the first transactions. */
export const MINTER = `0x${'71'.repeat(20)}`
const NOBODY = `0x${'0'.repeat(40)}`
const HOLDERS = 16
const CENT = 10_000n
const MINTED = 100_000_000n * CENT
const MAX_CENTS = 100_000_000

export interface Transfer {
  /** Sender of the transaction. */
  readonly sender: string
  readonly nonce: number
  readonly from: string
  readonly to: string
  readonly value: bigint
}

/**
 * Transfers go around in a circle: in each round, every holder passes the same amount to the next holder. After a
 * round, all have their initial amount again. Within a round, a balance differs from it by at most the amount passed.
 */
export class Token {
  readonly #seed: number
  readonly #holders: readonly string[]

  constructor(seed: number) {
    const rng = new Prng(seedState(seed))
    this.#seed = seed
    this.#holders = Array.from({ length: HOLDERS }, () => `0x${rng.hex(20)}`)
  }

  /** The transfer with this number. Numbers start at 0. */
  transfer(number: number): Transfer {
    const [round, at] = positionOf(number)
    const holder = this.#holders[at]!
    if (round === 0) return { sender: MINTER, nonce: at, from: NOBODY, to: holder, value: MINTED }
    const to = this.#holders[(at + 1) % HOLDERS]!
    return { sender: holder, nonce: round - 1, from: holder, to, value: this.#valueOf(round) }
  }

  /** Balance after this many transfers. */
  balance(address: string, transfers: number): bigint {
    const at = this.#holders.indexOf(address)
    const [round, done] = positionOf(transfers)
    if (at < 0) return 0n
    if (round === 0) return at < done ? MINTED : 0n
    const paid = at < done ? this.#valueOf(round) : 0n
    const got = (at + HOLDERS - 1) % HOLDERS < done ? this.#valueOf(round) : 0n
    return MINTED + got - paid
  }

  supply(transfers: number): bigint {
    return MINTED * BigInt(Math.min(transfers, HOLDERS))
  }

  /** Number of transactions sent by an address; null if the address never sends any. */
  sent(address: string, transfers: number): number | null {
    if (address === MINTER) return Math.min(transfers, HOLDERS)
    const at = this.#holders.indexOf(address)
    const [round, done] = positionOf(transfers)
    return at < 0 ? null : Math.max(0, round - 1 + (at < done ? 1 : 0) - (round === 0 ? 1 : 0))
  }

  #valueOf(round: number): bigint {
    return CENT * BigInt(new Prng(seedState(this.#seed + round * 2 ** 21)).between(1, MAX_CENTS))
  }
}

const positionOf = (number: number) => [Math.floor(number / HOLDERS), number % HOLDERS] as const
