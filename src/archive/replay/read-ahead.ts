// The queues of all replays in this isolate. Queues are held weakly, because a relay that is reset ends none of its
// replays.

interface Queue {
  readonly bytes: number
}

export class ReadAhead {
  readonly #queues = new Set<WeakRef<Queue>>()

  add(queue: Queue): void {
    this.#queues.add(new WeakRef(queue))
  }

  get bytes(): number {
    let sum = 0
    for (const reference of this.#queues) {
      const queue = reference.deref()
      if (queue) sum += queue.bytes
      else this.#queues.delete(reference)
    }
    return sum
  }
}

export const isolateReadAhead = new ReadAhead()
