// Books as users of the package see them: one of each coin, with levels only while nothing speaks against them, and events
// of what becomes of them.

import type { Book, BookEvent, BookLevels, Books, Gap, Step } from './api.ts'
import type { Abortable, WeirClient } from './create-client.client.ts'
import { DiffBooks } from './diff-books.ts'
import { EventQueue } from './event-queue.ts'
import { internalsOf, type OpenHandle, rejectDuplicate, safeCall } from './internals.ts'
import { bookBody } from './subscription.ts'
import { refusalOf } from './weir-error.ts'

/** Beside the latest of each coin. */
const MAX_EVENTS = 1_000
const NO_LEVELS: BookLevels = [[], []]

class PublicBook implements Book {
  readonly coin: string
  readonly #books: () => DiffBooks
  why = 'not fetched yet'
  /** Up to which it was in step; -1 before it was. */
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

/** Books of these coins, for `for await` or a listener. */
export function openBooks(
  client: WeirClient,
  coins: string | readonly string[],
  { signal }: Abortable = {},
  listener?: (event: BookEvent) => void,
): Books {
  const { handles, runtime, connected } = internalsOf(client)
  const named = [...new Set([coins].flat() as string[])]
  const scope = { coin: named.length === 1 ? named.join() : named }
  const connection = connected()
  rejectDuplicate(connection, bookBody(scope))
  const shown = new Map(named.map((coin) => [coin, new PublicBook(coin, () => books)]))
  const shownOf = (coin: string): PublicBook => {
    const book = shown.get(coin)
    if (!book) throw new RangeError(`no book of ${coin} was asked for here`)
    return book
  }
  const lost: BookEvent = {
    type: 'gap',
    coin: '',
    gap: { from: null, to: null, reason: 'the buffer was full: look at the books' },
  }
  const open: OpenHandle = handles.add((end) => {
    books.close()
    emit({ type: 'end', end })
    if (!listener) queue.end({ type: 'end', end })
  }, signal)
  const queue = new EventQueue<BookEvent>(MAX_EVENTS + named.length, () => lost, open.close)
  const emit = (event: BookEvent, key: string | null = null) => {
    // Its own closing is no news of books.
    if (open.isEnded() && event.type !== 'end') return
    if (listener) safeCall(listener, event)
    else if (event.type !== 'end') queue.push(event, key)
  }
  const books: DiffBooks = new DiffBooks(connection, runtime, scope, {
    changed: ({ coin, height }) => {
      const book = shownOf(coin)
      book.syncedHeight = height
      emit({ type: 'book', book }, coin)
    },
    gap: (coin, reason) => {
      const gap: Gap = { from: shownOf(coin).syncedHeight + 1 || null, to: null, reason }
      emit({ type: 'gap', coin, gap })
    },
    step: (coin, step, why) => {
      if (coin === null) return
      shownOf(coin).why = why
      emit({ type: 'step', coin, step, why })
    },
    unknown: (coin) => emit({ type: 'unknown', coin }),
    refused: (reason, code) => open.end(refusalOf(reason, code)),
  })
  return {
    get: shownOf,
    get step() {
      return books.step()
    },
    close: open.close,
    [Symbol.asyncIterator]: () => queue,
  }
}
