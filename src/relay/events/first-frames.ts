// The first frame of an event subscription: its history from an info response, followed by the blocks. Invariant:
// nothing is missing or sent twice between the two, however old the response is.

import { notificationFrame } from '../../protocol/relay/frames.ts'
import type { AnyEventChannel, BlockEvents, EventsTarget, InfoRequest } from '../channel.ts'
import { type EventFanout, RECENT_BLOCKS } from './event-fanout.ts'
import type { Receiver } from './event-frames.ts'

/** An info response. `height`: the last block in it, if known. */
export interface HistoryResponse {
  readonly body: string
  readonly height?: number
}

export interface FirstFramePorts {
  /** Resolves soon, to null if the response is unavailable now. */
  read(question: InfoRequest): Promise<HistoryResponse | null>
  wait(ms: number): Promise<void>
  /** Height of the last block; -1 before the first. */
  blockHeight(): number
  readonly clock: { readonly nowMs: number }
}

type History = NonNullable<AnyEventChannel['history']>
type HistoryRows = ReturnType<History['rows']>

/** Retries while a response does not reach the blocks. Our own history is complete a second later. */
const MAX_TRIES = 6
const RETRY_MS = 500
/** Maximum wait in blocks: half of the recent blocks. */
const MAX_WAIT_BLOCKS = RECENT_BLOCKS / 2
/** Maximum lag of a source that does not name its block. */
const LAG_MS = 2_000
const LAG_BLOCKS = 30

/** A response may be ahead of the log. The missing blocks are awaited for at most ten seconds. */
const CATCH_UP_MS = 50
const MAX_CATCH_UP_TRIES = 200

/** Concurrent requests, so that a thousand new clients do not all call the gateway at once. */
const LANES = 8

const NO_HISTORY = 'The history of this subscription is unavailable. Only new events follow.'

export class FirstFrames<R extends Receiver> {
  readonly #ports: FirstFramePorts
  readonly #fanout: EventFanout<R>
  readonly #lanes: Promise<unknown>[] = []
  #nextLane = 0
  readonly #onRows: (target: EventsTarget, rows: HistoryRows) => void

  /** `onRows` gets the rows of each first frame before it is sent. */
  constructor(
    ports: FirstFramePorts,
    fanout: EventFanout<R>,
    onRows: (target: EventsTarget, rows: HistoryRows) => void = () => undefined,
  ) {
    this.#ports = ports
    this.#fanout = fanout
    this.#onRows = onRows
  }

  /** Resolves when the receiver is served with blocks. Never rejects. */
  async start(key: string, target: EventsTarget, meta: boolean, receiver: R): Promise<void> {
    const { channel, body } = target
    const { history } = channel
    const height = this.#ports.blockHeight()
    if (!history || !this.#fanout.hold(key, target, meta, receiver, height)) return
    for (let tries = 0; tries < MAX_TRIES && this.#ports.blockHeight() - height < MAX_WAIT_BLOCKS; tries++) {
      let requestedAt = height
      const response = await this.#enqueue(() => {
        requestedAt = this.#ports.blockHeight()
        return this.#ports.read(history.infoRequest(body, this.#ports.clock.nowMs, tries))
      })
      const since = this.#fanout.historyHeight(key)
      if (since === null) return
      const responseHeight = response?.height
      const reaches =
        responseHeight === undefined ? tries > 0 || since <= requestedAt - LAG_BLOCKS : responseHeight >= since
      const rows = response && reaches ? rowsOf(target, response) : null
      if (response && rows) {
        // Blocks that arrive during the wait are older than the rows, so their items go before the rows.
        const mayWait = rows.length > 0 ? MAX_CATCH_UP_TRIES : 0
        for (let waits = 0; waits < mayWait && this.#isAhead(response, rows); waits++)
          await this.#ports.wait(CATCH_UP_MS)
        return this.#send(key, target, history, response, rows)
      }
      await this.#ports.wait(response && responseHeight === undefined ? LAG_MS : RETRY_MS)
    }
    this.#fanout.start(key, notificationFrame(NO_HISTORY), (block) => block.height <= height)
  }

  /** If the height is unknown, the newest row decides. */
  #isAhead({ height }: HistoryResponse, rows: HistoryRows): boolean {
    if (height !== undefined) return height > this.#ports.blockHeight()
    const { newestBlockMs } = this.#fanout
    const { time = 0 } = (rows.at(-1)?.[1] ?? {}) as { readonly time?: number }
    return newestBlockMs !== null && time > newestBlockMs
  }

  /** Null on failure. */
  #enqueue(read: () => Promise<HistoryResponse | null>): Promise<HistoryResponse | null> {
    const lane = this.#nextLane++ % LANES
    const response = (this.#lanes[lane] ?? Promise.resolve()).then(read).catch(() => null)
    this.#lanes[lane] = response
    return response
  }

  #send(key: string, target: EventsTarget, history: History, response: HistoryResponse, rows: HistoryRows): void {
    const { body } = target
    const { encode, idOf } = history
    const currentHeight = this.#ports.blockHeight()
    const responseHeight = Math.min(response.height ?? -1, currentHeight)
    this.#onRows(target, rows)
    const ids = new Set(rows.map(([id]) => id))
    const isInResponse = (item: unknown) => ids.has(idOf(item))
    // A response has a limited number of rows, so recent items before its first known row are older than the response.
    let isOlder = responseHeight < 0 && this.#fanout.hasRecent(key, isInResponse)
    const wasSent = ({ height }: BlockEvents, item: unknown) => {
      if (height <= responseHeight) return true
      if (isInResponse(item)) isOlder = false
      return isOlder || isInResponse(item)
    }
    const reachesAll = (response.height ?? -1) >= currentHeight
    const pieces = [
      ...this.#fanout.recentTextsBefore(key, isInResponse, reachesAll),
      ...rows.map(([, row]) => JSON.stringify(row)),
    ]
    // The response may include blocks that have not arrived yet, however old it claims to be, because a link may be
    // silent for ten seconds before it reconnects.
    const until = Math.min(response.height ?? Number.POSITIVE_INFINITY, currentHeight + RECENT_BLOCKS)
    this.#fanout.start(key, encode(pieces, body), wasSent, until)
  }
}

/** Null if the response is malformed. */
function rowsOf({ channel }: EventsTarget, { body }: HistoryResponse): HistoryRows | null {
  try {
    return channel.history?.rows(JSON.parse(body)) ?? null
  } catch {
    return null
  }
}
