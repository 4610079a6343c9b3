// Queues dials. The platform lets only a few of an object's connections wait for response headers at once (six since
// April 2026), and silently blocks further ones. Invariants: at most MAX_DIALS dials are active; urgent requests come
// first, then the oldest; a request that was repeated or has waited PATIENCE_MS is not dialed; the queue is bounded.
// Each dial must end by itself, because only then is its slot free again.

export const MAX_DIALS = 6
/** A caller stops waiting for a link after this time and requests it again later. */
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

  /**
   * Resolves with the result of `dial`. Rejects if `dial` is never called. A later request with the same name replaces
   * this one, which then rejects.
   */
  enqueue(name: string, isUrgent: boolean, dial: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const others = this.#waiting.filter((one) => one.name !== name)
      this.#waiting.find((one) => one.name === name)?.reject(new Error(`${name} was requested again`))
      this.#waiting = [...others, { name, isUrgent, sinceMs: this.#nowMs(), dial, resolve, reject }]
      const [first] = this.#waiting
      if (first && this.#waiting.length > MAX_WAITING)
        this.#remove(first).reject(new Error('too many links are requested'))
      this.#next()
    })
  }

  #next(): void {
    while (this.#active < MAX_DIALS) {
      const first = this.#waiting.find(({ isUrgent }) => isUrgent) ?? this.#waiting[0]
      if (!first) return
      const { name, sinceMs, dial, resolve, reject } = this.#remove(first)
      if (this.#nowMs() - sinceMs >= PATIENCE_MS) reject(new Error(`${name} waited too long to be dialed`))
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
