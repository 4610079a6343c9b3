// The books of the client package. Each coin has one book, which has levels only while it is in step. Every change is
// an event.

import type { Book, BookEvent, BookLevels, Books, Gap, Step } from './api.ts'
import type { Abortable, WeirClient } from './create-client.client.ts'
import { DiffBooks } from './diff-books.ts'
import { EventQueue } from './event-queue.ts'
import { internalsOf, type OpenHandle, rejectDuplicate, safeCall } from './internals.ts'
import { bookBody } from './subscription.ts'
import { refusalOf } from './weir-error.ts'

/** Maximum number of queued events. The latest event of each coin does not count. */
const MAX_EVENTS = 1_000
const NO_LEVELS: BookLevels = [[], []]

class PublicBook implements Book {
  readonly coin: string
  readonly #books: () => DiffBooks
  why = 'not fetched yet'
  /** Height up to which the book was in step; -1 before the first time. */
  syncedHeight = -1

  constructor(coin: string, books: () => DiffBooks) {
    this.coin = coin
    this.#books = books
  }
  get #book() {
    return this.#books().get(this.coin)
  }
  get step(): Step {
    return this.#books().step(this.coin) ?? 'out of step'
  }
  get epoch(): string {
    return this.#book?.epoch ?? ''
  }
  get height(): number {
    return this.#book?.height ?? -1
  }
  get time(): number {
    return this.#book?.time ?? 0
  }
  get seq(): number {
    return this.#book?.seq ?? -1
  }
  get checks(): number {
    return this.#book?.checks ?? 0
  }
  levels(depth?: number): BookLevels {
    return (this.step === 'in step' && this.#book?.levels(depth)) || NO_LEVELS
  }
}

/**
 * Keeps full-depth books of coins in step with the gateway, for `for await` or a listener.
 *
 * @param client - A client from `createClient`.
 * @param coins - One coin or a list of coins.
 * @param options - `signal` closes the books when aborted.
 * @param listener - Receives the events instead of the iterator.
 * @returns The books. Iterate them for events, and call `close` when done.
 * @throws {WeirError} `already_subscribed` if the client already has books of these coins.
 * @throws {TypeError} If `client` does not come from `createClient`.
 * @example
 * ```ts
 * import { createClient } from '@weir/client'
 * import { openBooks } from '@weir/client/books'
 *
 * const client = createClient({ url: 'https://weir.example.com', key: process.env.WEIR_KEY ?? '' })
 * for await (const event of openBooks(client, 'BTC')) {
 *   if (event.type === 'book') console.log(event.book.height, event.book.levels(1))
 * }
 * ```
 * @see {@link Book}
 */
export function openBooks(
  client: WeirClient,
  coins: string | readonly string[],
  { signal }: Abortable = {},
  listener?: (event: BookEvent) => void,
): Books {
  const { handles, runtime, connected } = internalsOf(client)
  const distinct = [...new Set([coins].flat() as string[])]
  const scope = { coin: distinct.length === 1 ? distinct.join() : distinct }
  const connection = connected()
  rejectDuplicate(connection, bookBody(scope))
  const publicBooks = new Map(distinct.map((coin) => [coin, new PublicBook(coin, () => books)]))
  const bookOf = (coin: string): PublicBook => {
    const book = publicBooks.get(coin)
    if (!book) throw new RangeError(`no book of ${coin} was opened here`)
    return book
  }
  const lost: BookEvent = {
    type: 'gap',
    coin: '',
    gap: { from: null, to: null, reason: 'the buffer was full; read the books again' },
  }
  const open: OpenHandle = handles.add((end) => {
    books.close()
    emit({ type: 'end', end })
    if (!listener) queue.end({ type: 'end', end })
  }, signal)
  const queue = new EventQueue<BookEvent>(MAX_EVENTS + distinct.length, () => lost, open.close)
  const emit = (event: BookEvent, key: string | null = null) => {
    // Closing the books may cause further events, which are ignored.
    if (open.isEnded() && event.type !== 'end') return
    if (listener) safeCall(listener, event)
    else if (event.type !== 'end') queue.push(event, key)
  }
  const books: DiffBooks = new DiffBooks(connection, runtime, scope, {
    changed: ({ coin, height }) => {
      const book = bookOf(coin)
      book.syncedHeight = height
      emit({ type: 'book', book }, coin)
    },
    gap: (coin, reason) => {
      const gap: Gap = { from: bookOf(coin).syncedHeight + 1 || null, to: null, reason }
      emit({ type: 'gap', coin, gap })
    },
    step: (coin, step, why) => {
      if (coin === null) return
      bookOf(coin).why = why
      emit({ type: 'step', coin, step, why })
    },
    unknown: (coin) => emit({ type: 'unknown', coin }),
    refused: (reason, code) => open.end(refusalOf(reason, code)),
  })
  return {
    get: bookOf,
    get step() {
      return books.step()
    },
    close: open.close,
    [Symbol.asyncIterator]: () => queue,
  }
}
