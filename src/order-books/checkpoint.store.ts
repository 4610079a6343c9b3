// Stores the shard of a BookHub and one checkpoint per coin, through the key-value API of its SQLite storage. Writes
// are unconfirmed, so they do not delay frames. If the object dies, only the latest writes are lost, so the rest stays
// consistent. See schemas/storage.md.

import { fromChunks, toChunks } from '../core/chunks.ts'
import type { Coin } from '../core/coin.ts'
import type { Checkpoint } from './coin-book.ts'

/**
 * The shard of the stored coins, and the epoch and seed height that they are based on. It is stored, so its keys must
 * not change.
 */
interface ShardStamp {
  readonly shards: number
  readonly index: number
  readonly epoch: string
  readonly seedHeight: number
}

/** The platform's limit on keys per call. */
const MAX_KEYS_PER_CALL = 128
const UNCONFIRMED = { allowUnconfirmed: true } as const

export class CheckpointStore {
  readonly #storage: Pick<DurableObjectStorage, 'kv' | 'put' | 'delete'>
  /** Number of chunks of each stored coin. */
  readonly #chunks = new Map<string, number>()
  /**
   * Set after a failed write. Nothing is stored from then on, because later checkpoints imply that earlier ones are
   * complete.
   */
  #isBroken = false

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
  }

  stamp(): ShardStamp | null {
    return this.#storage.kv.get<ShardStamp>('stamp') ?? null
  }

  /** Starts an epoch and drops the checkpoints of the old one. */
  begin(stamp: ShardStamp): void {
    this.#put('stamp', stamp)
    this.drop([...this.#chunks.keys()])
  }

  #put(key: string, value: unknown): void {
    this.#storage.put(key, value, UNCONFIRMED).catch(() => (this.#isBroken = true))
  }

  /** Stores checkpoints. Their `clean` height must be true even before they are stored. */
  save(checkpoints: readonly Checkpoint[]): void {
    if (this.#isBroken) return
    for (const checkpoint of checkpoints) {
      const { coin } = checkpoint
      const chunks = toChunks(JSON.stringify(checkpoint))
      const before = this.#chunks.get(coin) ?? 0
      for (const [part, chunk] of chunks.entries()) this.#put(keyOf(coin, part), chunk)
      this.#delete(keysOf(coin, chunks.length, before))
      this.#chunks.set(coin, chunks.length)
    }
  }

  /** Drops the checkpoints of repaired coins, because no blocks lead from them to the repaired books. */
  drop(coins: readonly string[]): void {
    this.#delete(coins.flatMap((coin) => keysOf(coin, 0, this.#chunks.get(coin) ?? 0)))
    for (const coin of coins) this.#chunks.delete(coin)
  }

  #delete(keys: readonly string[]): void {
    for (let at = 0; at < keys.length; at += MAX_KEYS_PER_CALL)
      void this.#storage.delete(keys.slice(at, at + MAX_KEYS_PER_CALL), UNCONFIRMED)
  }

  /** Loads every stored checkpoint. Call before storing or dropping any. */
  load(): Checkpoint[] {
    const bodies = new Map<string, Uint8Array[]>()
    for (const [key, chunk] of this.#storage.kv.list<Uint8Array>({ prefix: PREFIX })) {
      const [, part, coin = ''] = /^(\d+)\/(.*)$/.exec(key.slice(PREFIX.length)) ?? []
      const chunks = bodies.get(coin) ?? []
      chunks[Number(part)] = chunk
      bodies.set(coin, chunks)
    }
    for (const [coin, chunks] of bodies) this.#chunks.set(coin, chunks.length)
    return [...bodies.values()].map((chunks) => JSON.parse(fromChunks(chunks)) as Checkpoint)
  }
}

const PREFIX = 'checkpoint/'
const keyOf = (coin: Coin, part: number): string => `${PREFIX}${part}/${coin}`
const keysOf = (coin: Coin, from: number, to: number): string[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, at) => keyOf(coin, from + at))
