// A queue between an event source and a `for await` loop. Invariants: the queue is bounded; an end is the last event;
// leaving the loop frees all resources at once.

interface QueuedEvent<Event> {
  readonly event: Event
  readonly key: string | null
}

export class EventQueue<Event> implements AsyncIterableIterator<Event> {
  readonly #capacity: number
  /** Returns the event that replaces dropped events. */
  readonly #dropEvent: () => Event
  readonly #onLeave: () => void
  #events: QueuedEvent<Event>[] = []
  /** Index of the first queued event. */
  #next = 0
  #hasDropped = false
  #isEnded = false
  #reader: ((result: IteratorResult<Event, undefined>) => void) | null = null

  constructor(max: number, dropped: () => Event, leave: () => void) {
    this.#capacity = Math.max(1, max)
    this.#dropEvent = dropped
    this.#onLeave = leave
  }

  get size(): number {
    return this.#events.length - this.#next
  }

  /** Queues an event. Of the events with the same `key`, only the latest is queued. */
  push(event: Event, key: string | null = null): void {
    if (this.#isEnded) return
    if (this.#reader) return this.#deliver(event)
    if (key !== null) {
      const at = this.#events.findIndex((one, index) => index >= this.#next && one.key === key)
      if (at >= 0) this.#events.splice(at, 1)
    }
    this.#events.push({ event, key })
    if (this.size <= this.#capacity) return
    this.#take()
    this.#hasDropped = true
  }

  /** Queues the last event. */
  end(event: Event): void {
    if (this.#isEnded) return
    this.push(event)
    this.#isEnded = true
  }

  next(): Promise<IteratorResult<Event, undefined>> {
    if (this.#hasDropped) {
      this.#hasDropped = false
      return Promise.resolve({ done: false, value: this.#dropEvent() })
    }
    if (this.size > 0) return Promise.resolve({ done: false, value: this.#take() })
    if (this.#isEnded) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve) => {
      // If a second reader appears, the first would wait forever, so it ends here.
      this.#reader?.({ done: true, value: undefined })
      this.#reader = resolve
    })
  }

  /** Called when a `for await` loop is left. */
  return(): Promise<IteratorResult<Event, undefined>> {
    this.#isEnded = true
    this.#hasDropped = false
    this.#events = []
    this.#next = 0
    this.#reader?.({ done: true, value: undefined })
    this.#reader = null
    this.#onLeave()
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #deliver(value: Event): void {
    const reader = this.#reader
    this.#reader = null
    reader?.({ done: false, value })
  }

  #take(): Event {
    // biome-ignore lint/style/noNonNullAssertion: called where one waits
    const { event } = this.#events[this.#next++]!
    // Shifting the array for each event would copy thousands of events.
    if (this.#next > 64 && this.#next * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#next)
      this.#next = 0
    }
    return event
  }
}
