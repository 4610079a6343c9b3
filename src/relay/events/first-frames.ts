// The first frame of a subscription of events: what was before it, as an info answer has it, and then the blocks. Law:
// between the two nothing is missing and nothing comes twice, however old the answer is.

import { notificationFrame } from '../../protocol/relay/frames.ts'
import type { AnyEventChannel, BlockEvents, EventsTarget, InfoRequest } from '../channel.ts'
import { type EventFanout, RECENT_BLOCKS } from './event-fanout.ts'
import type { Receiver } from './event-frames.ts'

/** An info answer; `height`: of the last block that is in it, where that is known. */
export interface HistoryResponse {
  readonly body: string
  readonly height?: number
}

export interface FirstFramePorts {
  /** Null where it cannot be had now. It does not wait for long. */
  read(question: InfoRequest): Promise<HistoryResponse | null>
  wait(ms: number): Promise<void>
  /** Of the last block that came; -1 before the first. */
  blockHeight(): number
  readonly clock: { readonly nowMs: number }
}

/** What a first frame shows. */
type History = NonNullable<AnyEventChannel['history']>
type HistoryRows = ReturnType<History['rows']>

/** An answer that does not reach up to the blocks is asked for again: our own history is complete a second later. */
const MAX_TRIES = 6
const RETRY_MS = 500
/** No longer than so many blocks: half of what is remembered for who waits. */
const MAX_WAIT_BLOCKS = RECENT_BLOCKS / 2
/** Of an answer that does not say how far it reaches, its source may be so late. */
const LAG_MS = 2_000
const LAG_BLOCKS = 30

/** An answer may be newer than what came of the log's blocks, and waits for them, at most ten seconds. */
const CATCH_UP_MS = 50
const MAX_CATCH_UP_TRIES = 200

/** Readings under way at once: a thousand clients that begin together must not all call the gateway. */
const LANES = 8

const NO_HISTORY = 'What was before a subscription cannot be read at the moment: it begins with what comes now.'

export class FirstFrames<R extends Receiver> {
  readonly #ports: FirstFramePorts
  readonly #fanout: EventFanout<R>
  readonly #lanes: Promise<unknown>[] = []
  #nextLane = 0
  readonly #onRows: (target: EventsTarget, rows: HistoryRows) => void

  /** `had` is told what a first frame will show, before it goes out. */
  constructor(
    ports: FirstFramePorts,
    fanout: EventFanout<R>,
    had: (target: EventsTarget, rows: HistoryRows) => void = () => undefined,
  ) {
    this.#ports = ports
    this.#fanout = fanout
    this.#onRows = had
  }

  /** Resolves when the receiver, under whose key `fanout` knows the body, is told of blocks. Never rejects. */
  async start(key: string, target: EventsTarget, meta: boolean, receiver: R): Promise<void> {
    const { channel, body } = target
    const { history } = channel
    const height = this.#ports.blockHeight()
    if (!history || !this.#fanout.hold(key, target, meta, receiver, height)) return
    for (let tries = 0; tries < MAX_TRIES && this.#ports.blockHeight() - height < MAX_WAIT_BLOCKS; tries++) {
      let asked = height
      const answer = await this.#enqueue(() => {
        asked = this.#ports.blockHeight()
        return this.#ports.read(history.infoRequest(body, this.#ports.clock.nowMs, tries))
      })
      const since = this.#fanout.historyHeight(key)
      if (since === null) return
      const reached = answer?.height
      const reaches = reached === undefined ? tries > 0 || since <= asked - LAG_BLOCKS : reached >= since
      const rows = answer && reaches ? rowsOf(target, answer) : null
      if (answer && rows) {
        // What comes in between is older than the rows: it goes before them.
        const mayWait = rows.length > 0 ? MAX_CATCH_UP_TRIES : 0
        for (let waits = 0; waits < mayWait && this.#isAhead(answer, rows); waits++) await this.#ports.wait(CATCH_UP_MS)
        return this.#send(key, target, history, answer, rows)
      }
      await this.#ports.wait(answer && reached === undefined ? LAG_MS : RETRY_MS)
    }
    this.#fanout.start(key, notificationFrame(NO_HISTORY), (block) => block.height <= height)
  }

  /** Of an answer that does not say how far it reaches, its newest row does. */
  #isAhead({ height }: HistoryResponse, rows: HistoryRows): boolean {
    if (height !== undefined) return height > this.#ports.blockHeight()
    const { newestBlockMs } = this.#fanout
    const { time = 0 } = (rows.at(-1)?.[1] ?? {}) as { readonly time?: number }
    return newestBlockMs !== null && time > newestBlockMs
  }

  /** Null where it fails. */
  #enqueue(read: () => Promise<HistoryResponse | null>): Promise<HistoryResponse | null> {
    const lane = this.#nextLane++ % LANES
    const answer = (this.#lanes[lane] ?? Promise.resolve()).then(read).catch(() => null)
    this.#lanes[lane] = answer
    return answer
  }

  #send(key: string, target: EventsTarget, past: History, answer: HistoryResponse, rows: HistoryRows): void {
    const { body } = target
    const { encode, idOf } = past
    const began = this.#ports.blockHeight()
    const reached = Math.min(answer.height ?? -1, began)
    this.#onRows(target, rows)
    const ids = new Set(rows.map(([id]) => id))
    const isShown = (item: unknown) => ids.has(idOf(item))
    // An answer holds so many rows: what comes before the first of them that is remembered, too, is older.
    let isOlder = reached < 0 && this.#fanout.hasRecent(key, isShown)
    const isTold = ({ height }: BlockEvents, item: unknown) => {
      if (height <= reached) return true
      if (isShown(item)) isOlder = false
      return isOlder || isShown(item)
    }
    const reachesAll = (answer.height ?? -1) >= began
    const pieces = [
      ...this.#fanout.recentTextsBefore(key, isShown, reachesAll),
      ...rows.map(([, row]) => JSON.stringify(row)),
    ]
    // Of blocks that are still to come what it shows is told, whatever it says: a link may have been silent for ten
    // seconds before it is taken up anew.
    const until = Math.min(answer.height ?? Number.POSITIVE_INFINITY, began + RECENT_BLOCKS)
    this.#fanout.start(key, encode(pieces, body), isTold, until)
  }
}

/** Null where the answer is none that can be shown. */
function rowsOf({ channel }: EventsTarget, { body }: HistoryResponse): HistoryRows | null {
  try {
    return channel.history?.rows(JSON.parse(body)) ?? null
  } catch {
    return null
  }
}
