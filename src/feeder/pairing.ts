// Pairs the lines of the node's streams by height. The streams are written one after another, so some are ahead at any
// moment; each is in order. The rules:
//   - When both required streams have a line of the next height, its block is due.
//   - When a required stream's next line has a later height, the line will never arrive, so the height is a gap.
//   - A due block waits for an optional stream until that stream has a line of this or a later height. It also stops
//     waiting when the stream was read to its end a short time after the block was due.
//   - No block waits for an extra stream, except while more of it can be read at once.
//   - An optional stream's line of a passed height is late: it is sent with the next block, and waits get longer.
//   - Any other line of a passed height was written again by a restarted node. If its time is different, it is of a
//     different chain, because a height has one time, and times rise. Such a line of an extra stream is ignored.

import { isExtra, nodeTimeMs, REQUIRED_STREAMS, type StreamLine, type StreamName } from './streams.ts'

/** A line of an optional stream that was read after its block was sent. */
export interface LateLine {
  readonly stream: StreamName
  readonly height: number
  readonly text: string
}

/** Lines of one height. An optional stream that has no line is absent. `late`: late lines since the previous block. */
export interface PairedBlock {
  readonly kind: 'block'
  readonly height: number
  readonly time: string
  readonly lines: ReadonlyMap<StreamName, string>
  /** The streams that are read. */
  readonly streams: readonly StreamName[]
  readonly late: readonly LateLine[]
}

/** Heights `from` to `to` cannot be sent in full. `missing`: required streams that have no line. */
export interface PairedGap {
  readonly kind: 'gap'
  readonly from: number
  readonly to: number
  /** Block time of `to`; if `to` has no line, the time of the next line. */
  readonly time: string
  readonly missing: readonly StreamName[]
  /** Existing lines of `from`, by stream. */
  readonly found: ReadonlyMap<StreamName, string>
}

type PushVerdict = 'taken' | 'duplicate' | 'late' | 'started_over'

/** Compares as later than any time, so that no line looks like one of a different chain. */
const UNKNOWN_TIME = '~'
/**
 * How long a block waits for optional streams. A node writes all streams of a height within a millisecond; the rest is
 * a reserve for a busy host. The wait doubles with each late line.
 */
const WAIT_MS = 50
const WAIT_MAX_MS = 800
/** A stream with a line for this many heights in a row probably has the next one too, and gets the longest wait. */
const DENSE_RUN = 32
/**
 * Wait in the first block of an hour, whose funding line for all positions has 20 MB and takes the node long to write.
 */
const HOUR_WAIT_MS = 3_000
/** Number of characters up to the hour in the node's time format. */
const HOUR_UNITS = '2026-05-05T17'.length
/**
 * Number of heights with a remembered time. A restarted node writes up to 10,000 heights again, those after its last
 * saved state.
 */
const MAX_TIMES = 16_384

export class Pairing {
  readonly #queues: ReadonlyMap<StreamName, StreamQueue>
  readonly #times = new BlockTimes()
  #next: number
  #passedTime: string

  /** `next`: first height to return. `passedTime`: time of the previous height; null if unknown. */
  constructor(next: number, passedTime: string | null, streams: readonly StreamName[]) {
    this.#next = next
    this.#passedTime = passedTime ?? UNKNOWN_TIME
    this.#queues = new Map(streams.map((name) => [name, new StreamQueue(next - 1, !isExtra(name))]))
  }

  /** First height not yet returned. */
  get next(): number {
    return this.#next
  }

  /**
   * Characters in a stream's queue, by which the shell limits how far it reads ahead. Late lines do not count: a stream that is
   * not read because of them would never be read to its end, for which the block that takes them waits.
   */
  waitingUnits(stream: StreamName): number {
    return this.#queues.get(stream)?.units ?? 0
  }

  /** True while late lines wait for the next block. */
  get hasLateLines(): boolean {
    return [...this.#queues.values()].some((queue) => queue.hasLateLines)
  }

  /** Required streams that have no next line while another stream has one. */
  get awaited(): StreamName[] {
    const isAhead = [...this.#queues.values()].some((queue) => queue.head !== undefined)
    return isAhead ? REQUIRED_STREAMS.filter((name) => this.#queues.get(name)?.head === undefined) : []
  }

  /** Adds the next line of a stream, read at `nowMs`. */
  push(stream: StreamName, line: StreamLine, nowMs: number): PushVerdict {
    const queue = this.#queues.get(stream)
    if (!queue) throw new Error(`no such stream: ${stream}`)
    const isAgain = line.height <= queue.lastHeight
    if (!isAgain && line.height >= this.#next) {
      queue.add(line, nowMs)
      return 'taken'
    }
    const passed = this.#times.of(line.height)
    const isForeign =
      passed === null ? line.time > this.#passedTime && line.time > queue.lastTime : passed !== nodeTimeMs(line.time)
    if (isForeign) return isExtra(stream) ? 'duplicate' : 'started_over'
    if (isAgain) return 'duplicate'
    queue.addLate(line)
    return 'late'
  }

  /** Records that the stream was read to its end at `nowMs`. Lines that were not pushed by then did not exist yet. */
  onEnd(stream: StreamName, nowMs: number): void {
    const queue = this.#queues.get(stream)
    if (queue) queue.endedAt = nowMs
  }

  /** The next block or gap; null while lines are missing; `started_over` when streams contradict each other. */
  take(): PairedBlock | PairedGap | 'started_over' | null {
    const height = this.#next
    const required = REQUIRED_STREAMS.flatMap((name) => this.#queues.get(name)?.head ?? [])
    const [first] = required
    if (!first || required.length < REQUIRED_STREAMS.length) return null
    const dueAt = Math.max(...required.map((head) => head.at))
    const { line: lowest } = required.reduce((a, b) => (b.line.height < a.line.height ? b : a), first)
    const queues = [...this.#queues]
    const optional = queues.filter(([name]) => !REQUIRED_STREAMS.includes(name))
    const isFunded = (name: StreamName, queue: StreamQueue) => name === 'misc' && this.#isFirstOfHour(lowest, queue)
    if (!optional.every(([name, queue]) => queue.isSettled(height, dueAt, isFunded(name, queue)))) return null
    const lines = new Map<StreamName, string>()
    const missing: StreamName[] = []
    for (const [name, queue] of queues) {
      const line = queue.head?.line
      if (line?.height === height) {
        const isForeign = lowest.height === height && nodeTimeMs(line.time) !== nodeTimeMs(lowest.time)
        if (isForeign && !isExtra(name)) return 'started_over'
        if (!isForeign) lines.set(name, line.text)
        queue.drop()
      } else if (REQUIRED_STREAMS.includes(name)) missing.push(name)
    }
    const last = missing.length === REQUIRED_STREAMS.length ? lowest.height - 1 : height
    this.#next = last + 1
    if (last === lowest.height) this.#onPassed(lowest)
    if (missing.length === 0) {
      const late = queues.flatMap(([stream, queue]) => queue.takeLate().map((line) => ({ stream, ...line })))
      return { kind: 'block', height, time: lowest.time, lines, streams: [...this.#queues.keys()], late }
    }
    return { kind: 'gap', from: height, to: last, time: lowest.time, missing, found: lines }
  }

  /** True if a block is the first of an hour and the stream had lines in the previous hour. */
  #isFirstOfHour({ time }: StreamLine, { lastTime }: StreamQueue): boolean {
    const hourOf = (text: string) => text.slice(0, HOUR_UNITS)
    return hourOf(this.#passedTime) !== hourOf(time) && hourOf(this.#passedTime) === hourOf(lastTime)
  }

  #onPassed({ height, time }: StreamLine): void {
    this.#passedTime = time
    this.#times.add(height, nodeTimeMs(time))
  }
}

/** A stream's lines, queued without array shifts. */
class StreamQueue {
  lastHeight: number
  lastTime = ''
  units = 0
  waitMs = WAIT_MS
  /** When the stream was last read to its end. */
  endedAt = Number.NEGATIVE_INFINITY
  /** Number of consecutive heights up to the last line. */
  #run = 0
  #lines: { readonly line: StreamLine; readonly at: number }[] = []
  #at = 0
  #late: StreamLine[] = []
  readonly #isAwaited: boolean

  constructor(lastHeight: number, isAwaited: boolean) {
    this.lastHeight = lastHeight
    this.#isAwaited = isAwaited
  }

  get head(): { readonly line: StreamLine; readonly at: number } | undefined {
    return this.#lines[this.#at]
  }

  /** True when the block of `height`, due since `dueAt`, need not wait for this optional stream any longer. */
  isSettled(height: number, dueAt: number, isFunded: boolean): boolean {
    while (this.head && this.head.line.height < height) this.drop()
    if (this.head) return true
    if (!this.#isAwaited) return this.endedAt >= dueAt
    const isDense = this.#run >= DENSE_RUN && this.lastHeight === height - 1
    return this.endedAt - dueAt >= (isFunded ? HOUR_WAIT_MS : isDense ? WAIT_MAX_MS : this.waitMs)
  }

  add(line: StreamLine, at: number): void {
    this.#run = line.height === this.lastHeight + 1 ? this.#run + 1 : 0
    this.lastHeight = line.height
    this.lastTime = line.time
    this.units += line.text.length
    this.#lines.push({ line, at })
  }

  addLate(line: StreamLine): void {
    this.lastHeight = line.height
    this.waitMs = Math.min(WAIT_MAX_MS, 2 * this.waitMs)
    this.#late.push(line)
  }

  get hasLateLines(): boolean {
    return this.#late.length > 0
  }

  takeLate(): StreamLine[] {
    const late = this.#late
    this.#late = []
    return late
  }

  drop(): void {
    this.units -= this.head?.line.text.length ?? 0
    this.#at++
    if (this.#at < 1024 && this.#at < this.#lines.length) return
    this.#lines = this.#lines.slice(this.#at)
    this.#at = 0
  }
}

/** Block times (ms) of the last heights, in a ring. */
class BlockTimes {
  readonly #heights = new Float64Array(MAX_TIMES).fill(-1)
  readonly #ms = new Float64Array(MAX_TIMES)

  add(height: number, ms: number): void {
    this.#heights[height % MAX_TIMES] = height
    this.#ms[height % MAX_TIMES] = ms
  }

  of(height: number): number | null {
    // biome-ignore lint/style/noNonNullAssertion: within the array
    return this.#heights[height % MAX_TIMES] === height ? this.#ms[height % MAX_TIMES]! : null
  }
}
