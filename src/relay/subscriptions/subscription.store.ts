// Persists a relay's subscriptions across hibernation, one key each. The writes are unconfirmed, because a confirmed one
// would delay every frame of the object. If the object is lost with its last writes, its sockets are lost too, and
// their clients subscribe again.

import type { AccountId } from '../../core/ids.ts'
import type { Subscription } from './subscription.ts'

const WRITE_EVERY_MS = 1000
const PREFIX = 'subscription/'
/** Maximum number of keys per call of the platform's API. */
const MAX_KEYS_PER_CALL = 128
const UNCONFIRMED = { allowUnconfirmed: true } as const

export interface SavedSubscription {
  readonly id: string
  readonly socket: string
  readonly echo: string
  readonly meta: boolean
  readonly sinceMs: number
  readonly account: AccountId
  readonly digest: string
  /** JSON to restart a GraphQL operation; empty for other subscriptions. */
  readonly operation: string
}

export class SubscriptionStore {
  readonly #storage: DurableObjectStorage
  /** Null if the key is to be deleted. */
  readonly #pending = new Map<string, SavedSubscription | null>()
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
  }

  /** Returns everything saved, for a relay that wakes up. */
  all(): SavedSubscription[] {
    return [...this.#storage.kv.list<SavedSubscription>({ prefix: PREFIX })].map(([, saved]) => saved)
  }

  save({ connection, echo, meta, minutes }: Subscription): void {
    const { id, sinceMs, body: digest } = minutes
    const { account } = connection.identity
    const { id: socket } = connection
    const operation = connection.operation ? JSON.stringify(connection.operation) : ''
    this.#enqueue(id, { id, socket, echo, meta, sinceMs, account, digest, operation })
  }

  /** `id` is the id under which the subscription's minutes are counted. */
  remove(id: string): void {
    this.#enqueue(id, null)
  }

  #enqueue(id: string, saved: SavedSubscription | null): void {
    this.#pending.set(id, saved)
    this.#timer ??= setTimeout(() => this.#write(), WRITE_EVERY_MS)
  }

  #write(): void {
    this.#timer = null
    const pending = [...this.#pending].map(([id, saved]) => [PREFIX + id, saved] as const)
    this.#pending.clear()
    for (let at = 0; at < pending.length; at += MAX_KEYS_PER_CALL) {
      const some = pending.slice(at, at + MAX_KEYS_PER_CALL)
      const ended = some.filter(([, saved]) => saved === null).map(([key]) => key)
      void this.#storage.delete(ended, UNCONFIRMED)
      void this.#storage.put(Object.fromEntries(some.filter(([, saved]) => saved !== null)), UNCONFIRMED)
    }
  }
}
