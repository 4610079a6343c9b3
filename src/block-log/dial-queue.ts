// Who is dialled next. The platform lets few connections of an object wait for their headers at once (six since April
// 2026) and holds the seventh up without a word, so links are dialled in turn. Laws: at most MOST_DIALS are under way;
// who asked first is dialled first, but urgent asks before all others; who asked again, or has been waiting for longer
// than it has patience, is not dialled; the queue is bounded. A dial must end by itself: its place is free only then.

export const MAX_DIALS = 6
/** Whoever asks for a link gives up after this time, and asks again later. */
export const PATIENCE_MS = 5000
const MAX_WAITING = 1000

interface DialRequest<T> {
  readonly name: string
  readonly isUrgent: boolean
  readonly sinceMs: number
  readonly dial: () => Promise<T>
  readonly resolve: (link: Promise<T>) => void
  readonly reject: (error: Error) => void
}

export class DialQueue<T> {
  readonly #nowMs: () => number
  #waiting: readonly DialRequest<T>[] = []
  #active = 0

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** What `dial` comes to in its turn; rejects where it is not called any more. A later ask of a name is in place of this. */
  enqueue(name: string, isUrgent: boolean, dial: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const others = this.#waiting.filter((one) => one.name !== name)
      this.#waiting.find((one) => one.name === name)?.reject(new Error(`${name} has asked again`))
      this.#waiting = [...others, { name, isUrgent, sinceMs: this.#nowMs(), dial, resolve, reject }]
      const [first] = this.#waiting
      if (first && this.#waiting.length > MAX_WAITING) this.#remove(first).reject(new Error('too many ask for links'))
      this.#next()
    })
  }

  #next(): void {
    while (this.#active < MAX_DIALS) {
      const first = this.#waiting.find(({ isUrgent }) => isUrgent) ?? this.#waiting[0]
      if (!first) return
      const { name, sinceMs, dial, resolve, reject } = this.#remove(first)
      if (this.#nowMs() - sinceMs >= PATIENCE_MS) reject(new Error(`${name} has waited too long to be dialled`))
      else resolve(this.#run(dial))
    }
  }

  #remove(ask: DialRequest<T>): DialRequest<T> {
    this.#waiting = this.#waiting.filter((one) => one !== ask)
    return ask
  }

  async #run(dial: () => Promise<T>): Promise<T> {
    this.#active++
    try {
      return await dial()
    } finally {
      this.#active--
      this.#next()
    }
  }
}
