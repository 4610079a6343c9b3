// Blocks, transactions, receipts and logs of the simulated EVM, as nodes write them. Invariants: one block per second
// since the exchange started, computed on demand from seed and number; every third block has one derived transaction with
// one log, followed by the transactions that were submitted.

import { Prng, seedState } from '../exchange/prng.ts'
import { type Effect, Ledger, type Transaction } from './ledger.ts'
import { CHAIN_ID, NOBODY, TOKEN, Token, type Transfer } from './token.ts'

type Hex = `0x${string}`

export const GAS_PRICE = 100_000_000
export const GAS_USED = 51_000
const BLOCKS_PER_TRANSFER = 3
/** Topic 0 of `Transfer(address,address,uint256)`, `AuthorizationUsed(address,bytes32)` and `AuthorizationCanceled(…)`. */
const TOPICS: Readonly<Record<Effect['kind'], Hex>> = {
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  used: '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5',
  canceled: '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81',
}
/** `transfer(address,uint256)` and `mint(address,uint256)`. */
const PASS = '0xa9059cbb'
const MINT = '0x40c10f19'
/** Coins of every address before its first transaction. */
const INITIAL_COINS = 1_000n * 10n ** 18n

export const hex = (n: number | bigint): Hex => `0x${n.toString(16)}`
/** A number or an address as a word of 32 bytes, without "0x". */
export const word = (n: bigint | string) => (typeof n === 'string' ? n.slice(2) : n.toString(16)).padStart(64, '0')
const zeros = (bytes: number): Hex => `0x${'0'.repeat(bytes * 2)}`
const numberIn = (hash: string) => Number.parseInt(hash.slice(2, 12), 16)
const transfersAt = (number: number) => Math.floor(number / BLOCKS_PER_TRANSFER)
const hasTransfer = (number: number) => number > 0 && number % BLOCKS_PER_TRANSFER === 0

/** The part of the exchange's state from which the blocks are derived. */
export interface Origin {
  readonly seed: number
  readonly vaults: readonly { readonly createdMs: number }[]
  readonly block: { readonly timeMs: number }
}

export class EvmBlocks {
  readonly head: number
  readonly #token: Token
  readonly #ledger: Ledger
  readonly #seed: number
  readonly #startS: number

  constructor({ seed, vaults, block: { timeMs } }: Origin, ledger = new Ledger()) {
    this.#token = new Token(seed)
    this.#ledger = ledger
    this.#seed = seed
    // The first vault is created in block 1.
    this.#startS = Math.floor((vaults[0]?.createdMs ?? timeMs) / 1_000)
    this.head = Math.floor(timeMs / 1_000) - this.#startS
  }

  /** The block of the next submitted transaction. It is not visible yet. */
  get next(): number {
    return Math.max(this.head + 1, this.#ledger.lastBlock)
  }

  /** Time of a block, in seconds since 1970. */
  timeS(number: number): number {
    return this.#startS + number
  }

  /** Number of the block with this hash, which starts with the number; null if there is none. */
  findBlock(hash: string): number | null {
    const number = numberIn(hash)
    return number <= this.head && this.#hashes(number).block === hash ? number : null
  }

  /** The place of a transaction, whose block may not be visible yet; null if there is none. */
  findTransaction(hash: string): { readonly number: number; readonly index: number } | null {
    const submitted = this.#ledger.find(hash)
    if (submitted !== null)
      return { number: submitted.block, index: submitted.at + (hasTransfer(submitted.block) ? 1 : 0) }
    const number = numberIn(hash)
    const isDerived = number <= this.head && hasTransfer(number) && this.#hashes(number).transaction === hash
    return isDerived ? { number, index: 0 } : null
  }

  /** Hash of the latest derived transaction; null if there is none yet. */
  get lastTransfer(): string | null {
    const number = this.head - (this.head % BLOCKS_PER_TRANSFER)
    return hasTransfer(number) ? this.#hashes(number).transaction : null
  }

  /** The block with this number; null if it does not exist yet. */
  block(number: number, isWhole: boolean) {
    if (number > this.head) return null
    const transactions = this.#transactions(number)
    return {
      number: hex(number),
      hash: this.#hashes(number).block,
      parentHash: number === 0 ? zeros(32) : this.#hashes(number - 1).block,
      timestamp: hex(this.timeS(number)),
      gasLimit: hex(2_000_000),
      gasUsed: hex(GAS_USED * transactions.length),
      baseFeePerGas: hex(GAS_PRICE),
      difficulty: '0x0',
      totalDifficulty: '0x0',
      extraData: '0x',
      nonce: zeros(8),
      logsBloom: bloom(transactions.length > 0),
      miner: zeros(20),
      mixHash: zeros(32),
      receiptsRoot: zeros(32),
      size: '0x0',
      sha3Uncles: zeros(32),
      stateRoot: zeros(32),
      transactionsRoot: zeros(32),
      uncles: [],
      transactions: transactions.map(({ hash }, index) => (isWhole ? this.transaction(number, index) : hash)),
    }
  }

  /** A transaction of a block. It has no location while its block is not visible. */
  transaction(number: number, index: number) {
    const { isReverted: _, effects: __, nonce, ...shown } = this.#transactions(number)[index]!
    const location = { blockHash: null, blockNumber: null, transactionIndex: null }
    return {
      ...(number > this.head ? location : this.#location(number, index)),
      ...shown,
      type: '0x2',
      chainId: hex(CHAIN_ID),
      accessList: [],
      nonce: hex(nonce),
      value: '0x0',
      gasPrice: hex(GAS_PRICE),
      v: shown.yParity,
    }
  }

  /** Null while the block is not visible. */
  receipt(number: number, index: number) {
    if (number > this.head) return null
    const { hash, from, to, isReverted } = this.#transactions(number)[index]!
    return {
      ...this.#location(number, index),
      transactionHash: hash,
      type: '0x2',
      status: isReverted ? '0x0' : '0x1',
      from,
      to,
      contractAddress: null,
      effectiveGasPrice: hex(GAS_PRICE),
      gasUsed: hex(GAS_USED),
      cumulativeGasUsed: hex(GAS_USED * (index + 1)),
      logsBloom: bloom(!isReverted),
      logs: [...this.logs(number, number)].filter(({ transactionHash }) => transactionHash === hash),
    }
  }

  /** Logs of an inclusive range of existing blocks. Logs whose topics are not wanted cost little. */
  *logs(from: number, to: number, isWanted: (topics: readonly Hex[]) => boolean = () => true) {
    for (let number = from; number <= to; number++) {
      const events = this.#effects(number).flatMap((effects, index) =>
        effects.map((effect) => ({ index, ...eventOf(effect) })),
      )
      for (const [at, { index, topics, data }] of events.entries())
        if (isWanted(topics))
          yield {
            address: TOKEN,
            topics,
            data,
            ...this.#location(number, index),
            blockTimestamp: hex(this.timeS(number)),
            transactionHash: this.#transactions(number)[index]!.hash,
            logIndex: hex(at),
            removed: false,
          }
    }
  }

  balance(address: string, number: number): bigint {
    return this.#token.balance(address, transfersAt(number)) + this.#ledger.change(address, number)
  }

  supply(number: number): bigint {
    return this.#token.supply(transfersAt(number)) + this.#ledger.minted(number)
  }

  isUsed(authorizer: string, nonce: string, number: number): boolean {
    return this.#ledger.isUsed(authorizer, nonce, number)
  }

  nonce(address: string, number: number): number {
    return this.#token.sent(address, transfersAt(number)) + this.#ledger.sent(address, number)
  }

  /** Balance of the chain's own coin, which only pays fees. */
  coins(address: string, number: number): bigint {
    return INITIAL_COINS - BigInt(this.nonce(address, number)) * BigInt(GAS_USED * GAS_PRICE)
  }

  #location(number: number, index: number) {
    return { blockHash: this.#hashes(number).block, blockNumber: hex(number), transactionIndex: hex(index) }
  }

  #transactions(number: number): readonly Transaction[] {
    const submitted = this.#ledger.at(number)
    return hasTransfer(number) ? [this.#derived(number), ...submitted] : submitted
  }

  /** By transaction of a block. */
  #effects(number: number): readonly (readonly Effect[])[] {
    const submitted = this.#ledger.at(number).map(({ effects }) => effects)
    return hasTransfer(number) ? [[effectOf(this.#transfer(number))], ...submitted] : submitted
  }

  #derived(number: number): Transaction {
    const { block, transaction } = this.#hashes(number)
    return transferTransaction(this.#transfer(number), transaction, block)
  }

  #transfer(number: number): Transfer {
    return this.#token.transfer(transfersAt(number) - 1)
  }

  #hashes(number: number) {
    const rng = new Prng(seedState(this.#seed + number * 2 ** 21))
    const hash = (): Hex => `0x${number.toString(16).padStart(10, '0')}${rng.hex(27)}`
    return { block: hash(), transaction: hash() }
  }
}

const effectOf = ({ from, to, value }: Transfer): Effect => ({ kind: 'transfer', from, to, value })

/** The transaction of a transfer. `r`: part of its signature, which is made up. */
export function transferTransaction(transfer: Transfer, hash: Hex, r: Hex): Transaction {
  const { sender, nonce, from, to, value } = transfer
  return {
    hash,
    from: sender,
    nonce,
    to: TOKEN,
    input: `${from === NOBODY ? MINT : PASS}${word(to)}${word(value)}`,
    gas: hex(GAS_USED),
    maxFeePerGas: hex(GAS_PRICE),
    maxPriorityFeePerGas: '0x0',
    yParity: '0x0',
    r,
    s: `0x${word(1n)}`,
    isReverted: false,
    effects: [effectOf(transfer)],
  }
}

function eventOf(effect: Effect): { readonly topics: readonly Hex[]; readonly data: Hex } {
  const topic = TOPICS[effect.kind]
  return effect.kind === 'transfer'
    ? { topics: [topic, `0x${word(effect.from)}`, `0x${word(effect.to)}`], data: `0x${word(effect.value)}` }
    : { topics: [topic, `0x${word(effect.authorizer)}`, effect.nonce], data: '0x' }
}

/** A bloom filter with all bits set. It is valid, because false positives are allowed. */
const bloom = (isUsed: boolean) => `0x${(isUsed ? 'f' : '0').repeat(512)}`
