// Puts the lines of the node's streams together by height. The streams are written one after another, so at any
// moment some are ahead; each by itself is in order. The rule:
//   every stream has a line of the next height        → the block
//   a stream's next line is of a later height         → its line is missing for good: a gap, not a wait
//   a line of a height already passed                 → a duplicate; of a later time, though: another chain
//                                                       (block time strictly increases with height)
//   a stream that began to exist after that height    → is not expected there

import type { StreamLine, StreamName } from './streams.ts'

/** Lines of one height; a stream that does not exist at this height is absent. */
export interface PairedBlock {
  readonly kind: 'block'
  readonly height: number
  readonly time: string
  readonly lines: ReadonlyMap<StreamName, string>
}

/** Heights `from` to `to` can not be sent whole; `missing` names the streams without a line, `found` what is there. */
export interface PairedGap {
  readonly kind: 'gap'
  readonly from: number
  readonly to: number
  /** Time of a line of `to`, or where there is none of the line after it. */
  readonly time: string
  readonly missing: readonly StreamName[]
  /** Lines of the last height of the gap (its only one, unless all streams skipped it). */
  readonly found: ReadonlyMap<StreamName, string>
}

type PushVerdict = 'taken' | 'duplicate' | 'started_over'

/** Later than any time: nothing after it looks like another chain. */
const UNKNOWN_TIME = '~'

export class Pairing {
  readonly #queues: ReadonlyMap<StreamName, Queue>
  #next: number

  /**
   * `next` is the first height wanted and `passedTime` the time of the one before, null if not known.
   * `startsAt`: the first height that each present stream has at all.
   */
  constructor(next: number, passedTime: string | null, startsAt: ReadonlyMap<StreamName, number>) {
    this.#next = next
    const time = passedTime ?? UNKNOWN_TIME
    this.#queues = new Map([...startsAt].map(([name, first]) => [name, new Queue(first, next - 1, time)]))
  }

  /** First height not yet handed out. */
  get next(): number {
    return this.#next
  }

  /** Characters waiting in a stream's queue: the shell reads no further ahead than it must. */
  waitingUnits(stream: StreamName): number {
    return this.#queues.get(stream)?.units ?? 0
  }

  /** Streams whose next line is awaited while another stream already has it. */
  get awaited(): StreamName[] {
    const queues = [...this.#queues]
    if (queues.every(([, queue]) => queue.head === undefined)) return []
    return queues.filter(([, queue]) => queue.head === undefined).map(([name]) => name)
  }

  /** Takes the next line of a stream. */
  push(stream: StreamName, line: StreamLine): PushVerdict {
    const queue = this.#queues.get(stream)
    if (!queue) throw new Error(`no such stream: ${stream}`)
    if (line.height <= queue.lastHeight) return line.time > queue.lastTime ? 'started_over' : 'duplicate'
    queue.add(line)
    return 'taken'
  }

  /** The next block or gap, null while lines are awaited. */
  take(): PairedBlock | PairedGap | null {
    const height = this.#next
    const queues = [...this.#queues].filter(([, queue]) => queue.startsAt <= height)
    if (queues.length === 0 || queues.some(([, queue]) => queue.head === undefined)) return null
    const lines = new Map<StreamName, string>()
    const missing: StreamName[] = []
    let lowest = Number.POSITIVE_INFINITY
    let time = ''
    for (const [name, queue] of queues) {
      const head = queue.head!
      if (head.height < lowest) {
        lowest = head.height
        time = head.time
      }
      if (head.height !== height) {
        missing.push(name)
        continue
      }
      lines.set(name, head.text)
      queue.drop()
    }
    const last = lines.size === 0 ? lowest - 1 : height
    this.#next = last + 1
    if (missing.length === 0) return { kind: 'block', height, time, lines }
    return { kind: 'gap', from: height, to: last, time, missing, found: lines }
  }
}

/** First in, first out without shifting arrays. */
class Queue {
  readonly startsAt: number
  lastHeight: number
  lastTime: string
  units = 0
  #lines: StreamLine[] = []
  #at = 0

  constructor(startsAt: number, lastHeight: number, lastTime: string) {
    this.startsAt = startsAt
    this.lastHeight = lastHeight
    this.lastTime = lastTime
  }

  get head(): StreamLine | undefined {
    return this.#lines[this.#at]
  }

  add(line: StreamLine): void {
    this.lastHeight = line.height
    this.lastTime = line.time
    this.units += line.text.length
    this.#lines.push(line)
  }

  drop(): void {
    this.units -= this.#lines[this.#at]!.text.length
    this.#at++
    if (this.#at < 1024 && this.#at < this.#lines.length) return
    this.#lines = this.#lines.slice(this.#at)
    this.#at = 0
  }
}
