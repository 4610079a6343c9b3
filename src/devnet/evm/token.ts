// The EVM's only contract, an ERC-20 token, with the transfers among its holders. Invariants: these are derived from the
// seed and the transfer's number, with no stored state; the transfers of a holder, starting with the first, add up to its
// balance. Submitted transactions are in ledger.ts.

import { Prng, seedState } from '../exchange/prng.ts'

type Address = `0x${string}`

export const CHAIN_ID = 999
export const TOKEN: Address = `0x${'70'.repeat(20)}`
export const SYMBOL = 'DEVD'
export const DECIMALS = 6
/** With the version, the EIP-712 domain of authorizations. */
export const NAME = 'Devnet Dollar'
export const VERSION = '1'

/** Address that mints each holder's initial amount in the first transactions. */
const MINTER: Address = `0x${'71'.repeat(20)}`
/** Address that mints the amount of the demo wallet. */
export const FAUCET: Address = `0x${'72'.repeat(20)}`
/** Address that sells for tokens. Nobody has its key. */
export const SELLER: Address = `0x${'73'.repeat(20)}`
export const NOBODY: Address = `0x${'0'.repeat(40)}`
const HOLDERS = 16
const CENT = 10_000n
const MINTED = 100_000_000n * CENT
const MAX_CENTS = 100_000_000

export interface Transfer {
  /** Sender of the transaction. */
  readonly sender: Address
  readonly nonce: number
  readonly from: Address
  readonly to: Address
  readonly value: bigint
}

/**
 * Transfers go around in a circle: in each round, every holder passes the same amount to the next holder. After a
 * round, all have their initial amount again. Within a round, a balance differs from it by at most the amount passed.
 */
export class Token {
  readonly #seed: number
  readonly #holders: readonly Address[]

  constructor(seed: number) {
    const rng = new Prng(seedState(seed))
    this.#seed = seed
    this.#holders = Array.from({ length: HOLDERS }, (): Address => `0x${rng.hex(20)}`)
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
    const at = this.#positionOf(address)
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

  /** Number of transactions sent by an address. */
  sent(address: string, transfers: number): number {
    if (address === MINTER) return Math.min(transfers, HOLDERS)
    const at = this.#positionOf(address)
    const [round, done] = positionOf(transfers)
    return at < 0 ? 0 : Math.max(0, round - 1 + (at < done ? 1 : 0) - (round === 0 ? 1 : 0))
  }

  /** Position among the holders; -1 for others. */
  #positionOf(address: string): number {
    return (this.#holders as readonly string[]).indexOf(address)
  }

  #valueOf(round: number): bigint {
    return CENT * BigInt(new Prng(seedState(this.#seed + round * 2 ** 21)).between(1, MAX_CENTS))
  }
}

const positionOf = (number: number) => [Math.floor(number / HOLDERS), number % HOLDERS] as const
