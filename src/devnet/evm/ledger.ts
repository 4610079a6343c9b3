// Transactions that were submitted to the simulated EVM, and what they changed, beside the derived transfers of token.ts.
// Invariants: a transaction belongs to a block after all visible blocks, so a visible block never changes; a reverted
// transaction changes only its sender's nonce; authorizations are used or canceled once.

import * as z from 'zod'
import { NOBODY } from './token.ts'

const Bytes = z.templateLiteral(['0x', z.string().regex(/^[0-9a-f]*$/)])

const Transfer = z.object({
  kind: z.literal('transfer'),
  from: Bytes,
  to: Bytes,
  /** Decimal digits in JSON. */
  value: z.codec(z.string().regex(/^\d{1,78}$/), z.bigint(), { decode: BigInt, encode: String }),
})
const Authorization = z.object({ kind: z.enum(['used', 'canceled']), authorizer: Bytes, nonce: Bytes })
const Effect = z.discriminatedUnion('kind', [Transfer, Authorization])
/** A change of the token's state. Each is an event of the token too. */
export type Effect = z.infer<typeof Effect>

/** A transaction of a block. */
const Transaction = z.object({
  hash: Bytes,
  from: Bytes,
  nonce: z.int().min(0),
  to: Bytes,
  input: Bytes,
  maxFeePerGas: Bytes,
  maxPriorityFeePerGas: Bytes,
  gas: Bytes,
  yParity: Bytes,
  r: Bytes,
  s: Bytes,
  isReverted: z.boolean(),
  /** In the order of their events; none if the transaction is reverted. */
  effects: z.array(Effect),
})
export type Transaction = z.infer<typeof Transaction>

const Submitted = z.object({ block: z.int().min(1), transaction: Transaction })
export type Submitted = z.infer<typeof Submitted>

/** One line of JSON. */
export const formatSubmitted = (submitted: Submitted): string => JSON.stringify(z.encode(Submitted, submitted))
/** Inverse of formatSubmitted(); undefined for other values. */
export const readSubmitted = (json: unknown): Submitted | undefined => Submitted.safeParse(json).data

/** Most transactions of one ledger. They stay in memory. */
const MAX_TRANSACTIONS = 50_000

interface Entry {
  readonly block: number
  /** Running total. */
  readonly sum: bigint
}

export class Ledger {
  readonly #store: (submitted: Submitted) => void
  readonly #blocks = new Map<number, Transaction[]>()
  readonly #places = new Map<string, { readonly block: number; readonly at: number }>()
  /** By address: changes of its balance, oldest first. The zero address holds what was minted, as a negative amount. */
  readonly #balances = new Map<string, Entry[]>()
  /** By sender: its transactions, oldest first. */
  readonly #sent = new Map<string, Entry[]>()
  /** Blocks in which authorizations were used or canceled. */
  readonly #authorizations = new Map<string, number>()
  #lastBlock = 0

  /** `store` keeps a transaction before it takes effect. If it throws, nothing has changed. */
  constructor(store: (submitted: Submitted) => void = () => {}) {
    this.#store = store
  }

  get isEmpty(): boolean {
    return this.#places.size === 0
  }

  get isFull(): boolean {
    return this.#places.size >= MAX_TRANSACTIONS
  }

  /** Block of the newest transaction; 0 if there is none. */
  get lastBlock(): number {
    return this.#lastBlock
  }

  /** Adds a transaction to a block that is not visible yet, and at least `lastBlock`. */
  add(submitted: Submitted): void {
    this.#store(submitted)
    this.restore(submitted)
  }

  /** Adds a stored transaction. */
  restore({ block, transaction }: Submitted): void {
    const { hash, from, effects } = transaction
    const others = this.#blocks.get(block) ?? []
    this.#blocks.set(block, others)
    this.#places.set(hash, { block, at: others.push(transaction) - 1 })
    this.#lastBlock = block
    append(this.#sent, from, block, 1n)
    for (const effect of effects) {
      if (effect.kind === 'transfer') {
        append(this.#balances, effect.from, block, -effect.value)
        append(this.#balances, effect.to, block, effect.value)
      } else this.#authorizations.set(authorizationKey(effect.authorizer, effect.nonce), block)
    }
  }

  /** The transactions of a block, in their order. */
  at(block: number): readonly Transaction[] {
    return this.#blocks.get(block) ?? []
  }

  /** The block of a transaction and its position among the submitted ones; null if there is none. */
  find(hash: string): { readonly block: number; readonly at: number } | null {
    return this.#places.get(hash) ?? null
  }

  /** Sum of the changes of a balance by submitted transactions up to a block. May be negative. */
  change(address: string, block: number): bigint {
    return sumAt(this.#balances.get(address), block)
  }

  /** Amount minted up to a block. */
  minted(block: number): bigint {
    return -this.change(NOBODY, block)
  }

  /** Number of transactions that an address submitted up to a block. */
  sent(address: string, block: number): number {
    return Number(sumAt(this.#sent.get(address), block))
  }

  /** True if the authorization was used or canceled up to a block. */
  isUsed(authorizer: string, nonce: string, block: number): boolean {
    return (this.#authorizations.get(authorizationKey(authorizer, nonce)) ?? block + 1) <= block
  }
}

const authorizationKey = (authorizer: string, nonce: string) => `${authorizer} ${nonce}`

function append(entries: Map<string, Entry[]>, key: string, block: number, change: bigint): void {
  const list = entries.get(key) ?? []
  entries.set(key, list)
  list.push({ block, sum: (list.at(-1)?.sum ?? 0n) + change })
}

const sumAt = (entries: readonly Entry[] | undefined, block: number): bigint =>
  entries?.findLast((entry) => entry.block <= block)?.sum ?? 0n
