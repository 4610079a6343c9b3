// Events between who brings them and a `for await`. Laws: what waits is bounded, an end is the last that is told, and whoever
// leaves frees all of it at once.

interface Waiting<Event> {
  readonly event: Event
  readonly key: string | null
}

export class EventQueue<Event> implements AsyncIterableIterator<Event> {
  readonly #most: number
  /** What is told where events had to be dropped. */
  readonly #dropped: () => Event
  readonly #leave: () => void
  #waiting: Waiting<Event>[] = []
  /** First of those that wait. */
  #next = 0
  #isShort = false
  #isOver = false
  #reader: ((result: IteratorResult<Event, undefined>) => void) | null = null

  constructor(most: number, dropped: () => Event, leave: () => void) {
    this.#most = Math.max(1, most)
    this.#dropped = dropped
    this.#leave = leave
  }

  get size(): number {
    return this.#waiting.length - this.#next
  }

  /** Of one `key` the latest alone waits. */
  push(event: Event, key: string | null = null): void {
    if (this.#isOver) return
    if (this.#reader) return this.#give(event)
    if (key !== null) {
      const at = this.#waiting.findIndex((one, index) => index >= this.#next && one.key === key)
      if (at >= 0) this.#waiting.splice(at, 1)
    }
    this.#waiting.push({ event, key })
    if (this.size <= this.#most) return
    this.#take()
    this.#isShort = true
  }

  /** The last event. */
  end(event: Event): void {
    if (this.#isOver) return
    this.push(event)
    this.#isOver = true
  }

  next(): Promise<IteratorResult<Event, undefined>> {
    if (this.#isShort) {
      this.#isShort = false
      return Promise.resolve({ done: false, value: this.#dropped() })
    }
    if (this.size > 0) return Promise.resolve({ done: false, value: this.#take() })
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve) => {
      // Of two readers the first would wait for ever.
      this.#reader?.({ done: true, value: undefined })
      this.#reader = resolve
    })
  }

  /** Called where a `for await` is left. */
  return(): Promise<IteratorResult<Event, undefined>> {
    this.#isOver = true
    this.#isShort = false
    this.#waiting = []
    this.#next = 0
    this.#reader?.({ done: true, value: undefined })
    this.#reader = null
    this.#leave()
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #give(value: Event): void {
    const reader = this.#reader
    this.#reader = null
    reader?.({ done: false, value })
  }

  #take(): Event {
    // biome-ignore lint/style/noNonNullAssertion: called where one waits
    const { event } = this.#waiting[this.#next++]!
    // A shift of each would copy thousands.
    if (this.#next > 64 && this.#next * 2 > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#next)
      this.#next = 0
    }
    return event
  }
}
