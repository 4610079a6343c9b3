// Blocks, transactions, receipts and logs of the simulated EVM, as nodes write them. Invariants: one block per second
// since the exchange started, computed on demand from seed and number; every third block has one transaction with one
// log.

import { Prng, seedState } from '../exchange/prng.ts'
import { CHAIN_ID, MINTER, TOKEN, Token, type Transfer } from './token.ts'

export const GAS_PRICE = 100_000_000
const GAS_USED = 51_000
const BLOCKS_PER_TRANSFER = 3
/** `Transfer(address,address,uint256)`. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** `transfer(address,uint256)` and `mint(address,uint256)`. */
const PASS = '0xa9059cbb'
const MINT = '0x40c10f19'
const INITIAL_COINS = 1_000n * 10n ** 18n

export const hex = (n: number | bigint) => `0x${n.toString(16)}`
/** A number or an address as a word of 32 bytes, without "0x". */
export const word = (n: bigint | string) => (typeof n === 'string' ? n.slice(2) : n.toString(16)).padStart(64, '0')
const zeros = (bytes: number) => `0x${'0'.repeat(bytes * 2)}`
const transfersAt = (number: number) => Math.floor(number / BLOCKS_PER_TRANSFER)
const hasTransaction = (number: number) => number > 0 && number % BLOCKS_PER_TRANSFER === 0

/** The part of the exchange's state from which the blocks are derived. */
export interface Origin {
  readonly seed: number
  readonly vaults: readonly { readonly createdMs: number }[]
  readonly block: { readonly timeMs: number }
}

export class EvmBlocks {
  readonly head: number
  readonly #token: Token
  readonly #seed: number
  readonly #startS: number

  constructor({ seed, vaults, block: { timeMs } }: Origin) {
    this.#token = new Token(seed)
    this.#seed = seed
    // The first vault is created in block 1.
    this.#startS = Math.floor((vaults[0]?.createdMs ?? timeMs) / 1_000)
    this.head = Math.floor(timeMs / 1_000) - this.#startS
  }

  /** Finds a block by its hash or its transaction's hash. Both start with the block's number. Null if there is none. */
  find<T>(hash: string, of: 'block' | 'transaction', read: (number: number) => T): T | null {
    const number = Number.parseInt(hash.slice(2, 12), 16)
    const exists = number <= this.head && (of === 'block' || hasTransaction(number))
    return exists && this.#hashes(number)[of] === hash ? read(number) : null
  }

  /** Hash of the latest transaction; null if there is none yet. */
  get lastTransaction(): string | null {
    const number = this.head - (this.head % BLOCKS_PER_TRANSFER)
    return hasTransaction(number) ? this.#hashes(number).transaction : null
  }

  /** The block with this number; null if it does not exist yet. */
  block(number: number, isWhole: boolean) {
    if (number > this.head) return null
    const { block: hash, transaction } = this.#hashes(number)
    const isUsed = hasTransaction(number)
    return {
      number: hex(number),
      hash,
      parentHash: number === 0 ? zeros(32) : this.#hashes(number - 1).block,
      timestamp: hex(this.#startS + number),
      gasLimit: hex(2_000_000),
      gasUsed: hex(isUsed ? GAS_USED : 0),
      baseFeePerGas: hex(GAS_PRICE),
      difficulty: '0x0',
      totalDifficulty: '0x0',
      extraData: '0x',
      nonce: zeros(8),
      logsBloom: bloom(isUsed),
      miner: zeros(20),
      mixHash: zeros(32),
      receiptsRoot: zeros(32),
      size: '0x0',
      sha3Uncles: zeros(32),
      stateRoot: zeros(32),
      transactionsRoot: zeros(32),
      uncles: [],
      transactions: isUsed ? [isWhole ? this.transaction(number) : transaction] : [],
    }
  }

  /** The transaction of a block that has one. Its signature is made up. */
  transaction(number: number) {
    const { sender, nonce, to, value } = this.#transfer(number)
    const input = `${sender === MINTER ? MINT : PASS}${word(to)}${word(value)}`
    return {
      ...this.#location(number),
      type: '0x2',
      chainId: hex(CHAIN_ID),
      accessList: [],
      hash: this.#hashes(number).transaction,
      from: sender,
      to: TOKEN,
      nonce: hex(nonce),
      value: '0x0',
      input,
      gas: hex(GAS_USED),
      gasPrice: hex(GAS_PRICE),
      maxFeePerGas: hex(GAS_PRICE),
      maxPriorityFeePerGas: '0x0',
      v: '0x0',
      yParity: '0x0',
      r: this.#hashes(number).block,
      s: `0x${word(1n)}`,
    }
  }

  receipt(number: number) {
    return {
      ...this.#location(number),
      transactionHash: this.#hashes(number).transaction,
      type: '0x2',
      status: '0x1',
      from: this.#transfer(number).sender,
      to: TOKEN,
      contractAddress: null,
      effectiveGasPrice: hex(GAS_PRICE),
      gasUsed: hex(GAS_USED),
      cumulativeGasUsed: hex(GAS_USED),
      logsBloom: bloom(true),
      logs: [this.#log(number)],
    }
  }

  /** Logs of an inclusive range of existing blocks. */
  *logs(from: number, to: number) {
    for (let number = from; number <= to; number++) if (hasTransaction(number)) yield this.#log(number)
  }

  balance(address: string, number: number): bigint {
    return this.#token.balance(address, transfersAt(number))
  }

  supply(number: number): bigint {
    return this.#token.supply(transfersAt(number))
  }

  nonce(address: string, number: number): number {
    return this.#token.sent(address, transfersAt(number)) ?? 0
  }

  /** Balance of the chain's own coin: senders started with some and pay fees. */
  coins(address: string, number: number): bigint {
    const sent = this.#token.sent(address, transfersAt(number))
    return sent === null ? 0n : INITIAL_COINS - BigInt(sent) * BigInt(GAS_USED * GAS_PRICE)
  }

  #log(number: number) {
    const { from, to, value } = this.#transfer(number)
    const { blockHash, blockNumber, transactionIndex } = this.#location(number)
    return {
      address: TOKEN,
      topics: [TRANSFER, `0x${word(from)}`, `0x${word(to)}`],
      data: `0x${word(value)}`,
      blockHash,
      blockNumber,
      blockTimestamp: hex(this.#startS + number),
      transactionHash: this.#hashes(number).transaction,
      transactionIndex,
      logIndex: '0x0',
      removed: false,
    }
  }

  #location(number: number) {
    return { blockHash: this.#hashes(number).block, blockNumber: hex(number), transactionIndex: '0x0' }
  }

  #transfer(number: number): Transfer {
    return this.#token.transfer(transfersAt(number) - 1)
  }

  #hashes(number: number) {
    const rng = new Prng(seedState(this.#seed + number * 2 ** 21))
    const hash = () => `0x${number.toString(16).padStart(10, '0')}${rng.hex(27)}`
    return { block: hash(), transaction: hash() }
  }
}

/** A bloom filter with all bits set. It is valid, because false positives are allowed. */
const bloom = (isUsed: boolean) => `0x${(isUsed ? 'f' : '0').repeat(512)}`
