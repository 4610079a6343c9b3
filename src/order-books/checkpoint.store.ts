// What a BookHub keeps: its place in the shards and one checkpoint a coin, on the key-value side of its SQLite, where a
// write need not hold back the frames behind it. What was not confirmed may be lost with the object, always from its
// end, so what is left fits together. See schemas/storage.md.

import { fromChunks, toChunks } from '../core/chunks.ts'
import type { Coin } from '../core/coin.ts'
import type { Checkpoint } from './coin-book.ts'

/** Which shard of how many the stored coins belong to, and the epoch and seed height they descend from. */
interface ShardStamp {
  readonly shards: number
  readonly index: number
  readonly epoch: string
  readonly seedHeight: number
}

/** The platform takes no more keys in one call. */
const MAX_KEYS_PER_CALL = 128
const UNCONFIRMED = { allowUnconfirmed: true } as const

export class CheckpointStore {
  readonly #storage: Pick<DurableObjectStorage, 'kv' | 'put' | 'delete'>
  /** Number of chunks of each stored coin. */
  readonly #chunks = new Map<string, number>()
  /** A write failed: nothing more is stored, for it would say of the others that they are true. */
  #isBroken = false

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
  }

  stamp(): ShardStamp | null {
    return this.#storage.kv.get<ShardStamp>('stamp') ?? null
  }

  /** Begins an epoch: checkpoints of the old one are of no use and go. */
  begin(stamp: ShardStamp): void {
    this.#put('stamp', stamp)
    this.drop([...this.#chunks.keys()])
  }

  #put(key: string, value: unknown): void {
    this.#storage.put(key, value, UNCONFIRMED).catch(() => (this.#isBroken = true))
  }

  /** Stores some checkpoints together. What they say to be clean must not count on any of them. */
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

  /** Forgets the checkpoints of repaired coins: no blocks of the log lead from them to the repaired books. */
  drop(coins: readonly string[]): void {
    this.#delete(coins.flatMap((coin) => keysOf(coin, 0, this.#chunks.get(coin) ?? 0)))
    for (const coin of coins) this.#chunks.delete(coin)
  }

  #delete(keys: readonly string[]): void {
    for (let at = 0; at < keys.length; at += MAX_KEYS_PER_CALL)
      void this.#storage.delete(keys.slice(at, at + MAX_KEYS_PER_CALL), UNCONFIRMED)
  }

  /** Every stored checkpoint; to be called before any other is stored or dropped. */
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
