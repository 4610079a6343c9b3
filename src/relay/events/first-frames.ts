// The first frame of a subscription of events: what was before it, as an info answer has it, and then the blocks. Law:
// between the two nothing is missing and nothing comes twice, however old the answer is.

import { notificationFrame } from '../../protocol/relay/frames.ts'
import type { AnyEventChannel, InfoQuestion, ShownEvents, WantedEvents } from '../channel.ts'
import { type EventFanout, REMEMBERED } from './event-fanout.ts'
import type { Receiver } from './parcels.ts'

/** An info answer; `height`: of the last block that is in it, where that is known. */
export interface PastAnswer {
  readonly body: string
  readonly height?: number
}

export interface FirstFramePorts {
  /** Null where it cannot be had now. It does not wait for long. */
  read(question: InfoQuestion): Promise<PastAnswer | null>
  wait(ms: number): Promise<void>
  /** Of the last block that came; -1 before the first. */
  blockHeight(): number
  readonly clock: { readonly nowMs: number }
}

/** What a first frame shows. */
type Past = NonNullable<AnyEventChannel['past']>
type PastRows = ReturnType<Past['rows']>

/** An answer that does not reach up to the blocks is asked for again: our own history is complete a second later. */
const TRIES = 6
const RETRY_MS = 500
/** No longer than so many blocks: half of what is remembered for who waits. */
const PATIENCE_BLOCKS = REMEMBERED / 2
/** Of an answer that does not say how far it reaches, its source may be so late. */
const LAG_MS = 2_000
const LAG_BLOCKS = 30

/** An answer may be newer than what came of the log's blocks, and waits for them, at most ten seconds. */
const CATCH_UP_MS = 50
const CATCH_UP_TRIES = 200

/** Readings under way at once: a thousand clients that begin together must not all call the gateway. */
const LANES = 8

const NO_PAST = 'What was before a subscription cannot be read at the moment: it begins with what comes now.'

export class FirstFrames<R extends Receiver> {
  readonly #ports: FirstFramePorts
  readonly #fanout: EventFanout<R>
  readonly #lanes: Promise<unknown>[] = []
  #turn = 0
  readonly #had: (wanted: WantedEvents, rows: PastRows) => void

  /** `had` is told what a first frame will show, before it goes out. */
  constructor(
    ports: FirstFramePorts,
    fanout: EventFanout<R>,
    had: (wanted: WantedEvents, rows: PastRows) => void = () => undefined,
  ) {
    this.#ports = ports
    this.#fanout = fanout
    this.#had = had
  }

  /** Resolves when the receiver, under whose key `fanout` knows the body, is told of blocks. Never rejects. */
  async begin(key: string, wanted: WantedEvents, meta: boolean, receiver: R): Promise<void> {
    const { channel, body } = wanted
    const { past } = channel
    const height = this.#ports.blockHeight()
    if (!past || !this.#fanout.hold(key, wanted, meta, receiver, height)) return
    for (let tries = 0; tries < TRIES && this.#ports.blockHeight() - height < PATIENCE_BLOCKS; tries++) {
      let asked = height
      const answer = await this.#inTurn(() => {
        asked = this.#ports.blockHeight()
        return this.#ports.read(past.ask(body, this.#ports.clock.nowMs, tries))
      })
      const since = this.#fanout.heldSince(key)
      if (since === null) return
      const reached = answer?.height
      const reaches = reached === undefined ? tries > 0 || since <= asked - LAG_BLOCKS : reached >= since
      const rows = answer && reaches ? rowsOf(wanted, answer) : null
      if (answer && rows) {
        // What comes in between is older than the rows: it goes before them.
        const mayWait = rows.length > 0 ? CATCH_UP_TRIES : 0
        for (let waits = 0; waits < mayWait && this.#isAhead(answer, rows); waits++) await this.#ports.wait(CATCH_UP_MS)
        return this.#tell(key, wanted, past, answer, rows)
      }
      await this.#ports.wait(answer && reached === undefined ? LAG_MS : RETRY_MS)
    }
    this.#fanout.begin(key, notificationFrame(NO_PAST), (block) => block.height <= height)
  }

  /** Of an answer that does not say how far it reaches, its newest row does. */
  #isAhead({ height }: PastAnswer, rows: PastRows): boolean {
    if (height !== undefined) return height > this.#ports.blockHeight()
    const { rememberedMs } = this.#fanout
    const { time = 0 } = (rows.at(-1)?.[1] ?? {}) as { readonly time?: number }
    return rememberedMs !== null && time > rememberedMs
  }

  /** Null where it fails. */
  #inTurn(read: () => Promise<PastAnswer | null>): Promise<PastAnswer | null> {
    const lane = this.#turn++ % LANES
    const answer = (this.#lanes[lane] ?? Promise.resolve()).then(read).catch(() => null)
    this.#lanes[lane] = answer
    return answer
  }

  #tell(key: string, wanted: WantedEvents, past: Past, answer: PastAnswer, rows: PastRows): void {
    const { body } = wanted
    const { encode, idOf } = past
    const began = this.#ports.blockHeight()
    const reached = Math.min(answer.height ?? -1, began)
    this.#had(wanted, rows)
    const ids = new Set(rows.map(([id]) => id))
    const isShown = (item: unknown) => ids.has(idOf(item))
    // An answer holds so many rows: what comes before the first of them that is remembered, too, is older.
    let isOlder = reached < 0 && this.#fanout.remembers(key, isShown)
    const isTold = ({ height }: ShownEvents, item: unknown) => {
      if (height <= reached) return true
      if (isShown(item)) isOlder = false
      return isOlder || isShown(item)
    }
    const reachesAll = (answer.height ?? -1) >= began
    const pieces = [...this.#fanout.heldBefore(key, isShown, reachesAll), ...rows.map(([, row]) => JSON.stringify(row))]
    // Of blocks that are still to come what it shows is told, whatever it says: a link may have been silent for ten
    // seconds before it is taken up anew.
    const until = Math.min(answer.height ?? Number.POSITIVE_INFINITY, began + REMEMBERED)
    this.#fanout.begin(key, encode(pieces, body), isTold, until)
  }
}

/** Null where the answer is none that can be shown. */
function rowsOf({ channel }: WantedEvents, { body }: PastAnswer): PastRows | null {
  try {
    return channel.past?.rows(JSON.parse(body)) ?? null
  } catch {
    return null
  }
}
