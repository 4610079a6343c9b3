// Blocks that were before a subscription, told once more from the log (`fromBlock`). Laws: each block from the height that
// was asked for reaches its receiver once, in order, and then those that come, however long the feed stands still; what the
// log does not hold any more is said to be missing; a range is read once for all who wait for it, and who reads slowly holds up nobody else.

import type { EventsAnswer, LinkGap, RelayEvents } from '../../protocol/feed/log-api.ts'
import { errorFrame, missingBlocks, notReplayed } from '../../protocol/relay/frames.ts'
import type { WantedEvents } from '../channel.ts'
import type { EventFanout, Follower } from './event-fanout.ts'
import type { PacedReceiver } from './parcels.ts'

export interface ReplayPorts {
  /** A page of what the log holds from a height on; rejects where it cannot be had now. */
  events(from: number): Promise<EventsAnswer>
  wait(ms: number): Promise<void>
  /** Of the last block that came; -1 before the first. */
  blockHeight(): number
}

/** A receiver that is sent much at once. */
export interface ReplayReceiver extends PacedReceiver {
  readonly ended: boolean
}

/** What is asked for. */
interface Asked<R> {
  /** Names the distinct body. */
  readonly key: string
  readonly receiver: R
  /** JSON of the body as sent. */
  readonly echo: string
  /** Height that it is to be told next. */
  readonly next: number
}

interface Replay<R> extends Omit<Asked<R>, 'key'> {
  readonly follower: Follower<R>
  next: number
}

/** All who come back after an interruption share what is read. */
const GATHER_MS = 250
const TRIES = 6
const RETRY_MS = 500
/** By more than a log can lose when it dies: blocks asked for beyond are of another chain. */
const MOST_AHEAD = 64
/** What a page may become for one receiver. */
const PAGE_BYTES = 512 * 1024
/** Blocks told to one or many without a rest: live ones wait for them some 10 ms. */
const TOLD_AT_ONCE = 1000
/** It costs what its minutes cost, so that it is to be asked for by name. */
const OF_ARCHIVE = 'what is archived is told with "fromBlock" within "replay"'

export class Replays<R extends ReplayReceiver> {
  readonly #ports: ReplayPorts
  readonly #fanout: EventFanout<R>
  #waiting: Replay<R>[] = []
  #isAtWork = false

  constructor(ports: ReplayPorts, fanout: EventFanout<R>) {
    this.#ports = ports
    this.#fanout = fanout
  }

  /** Resolves when nobody waits any more, or at once where others do. Never rejects. */
  async begin({ key, ...asked }: Asked<R>, wanted: WantedEvents, meta: boolean): Promise<void> {
    this.#waiting.push({ ...asked, follower: this.#fanout.fallBehind(key, wanted, meta, asked.receiver) })
    if (this.#isAtWork) return
    this.#isAtWork = true
    try {
      while (this.#waiting.length > 0) {
        await this.#ports.wait(GATHER_MS)
        await this.#serve(this.#waiting.splice(0))
      }
    } finally {
      this.#isAtWork = false
    }
  }

  /** Page by page for all of them together, until each is live or waits again. */
  async #serve(replays: readonly Replay<R>[]): Promise<void> {
    let tries = 0
    for (let rest = this.#settle(replays); rest.length > 0; rest = this.#settle(rest)) {
      const from = Math.min(...rest.map(({ next }) => next))
      const page = await this.#ports.events(from).catch(() => null)
      if (page) tries = 0
      if (page?.retryMs) await this.#ports.wait(page.retryMs)
      else if (page?.frames?.length) await this.#tell(rest, page.frames)
      else if (page?.frames) return this.#await(rest, (page.head ?? -1) + MOST_AHEAD)
      else if (page) this.#giveUp(rest, ({ next }) => next === from, page.first)
      else if (++tries < TRIES) await this.#ports.wait(RETRY_MS)
      else this.#giveUp(rest)
    }
  }

  /** What they ask for has not come: they wait for it, and others not for them. */
  async #await(replays: readonly Replay<R>[], furthest: number): Promise<void> {
    this.#giveUp(replays, ({ next }) => next > furthest)
    this.#waiting.push(...this.#settle(replays))
    await this.#ports.wait(RETRY_MS)
  }

  /** Those who are to be read for: the others are live, have ended, or wait until they have read. */
  #settle(replays: readonly Replay<R>[]): Replay<R>[] {
    return replays.filter((replay) => {
      const { follower, receiver, next } = replay
      if (!this.#fanout.isBehind(follower)) return false
      const height = this.#ports.blockHeight()
      const isLed = this.#fanout.leads(next, height)
      if (isLed || next === height + 1) {
        this.#fanout.catchUp(follower, isLed ? next : undefined)
        return false
      }
      if (receiver.snapshotWaitMs(PAGE_BYTES) === 0) return true
      if (!receiver.ended) this.#waiting.push(replay)
      return false
    })
  }

  async #tell(replays: readonly Replay<R>[], texts: readonly string[]): Promise<void> {
    const frames = texts.map((text) => JSON.parse(text) as RelayEvents | LinkGap)
    let told = 0
    for (const replay of replays) {
      // What those before it were sent may leave no room for it: it is settled anew.
      if (!this.#fanout.isBehind(replay.follower) || replay.receiver.snapshotWaitMs(PAGE_BYTES) > 0) continue
      this.#tellOne(replay, frames)
      told += frames.length
      if (told < TOLD_AT_ONCE) continue
      told = 0
      await this.#ports.wait(0)
    }
  }

  #tellOne(replay: Replay<R>, frames: readonly (RelayEvents | LinkGap)[]): void {
    const { follower, receiver } = replay
    for (const frame of frames) {
      const { next } = replay
      const after = frame.t === 'gap' ? frame.to + 1 : frame.height
      if (next > after || (next === after && frame.t === 'gap')) continue
      if (next < after) receiver.send(errorFrame(missingBlocks(next, after - 1), 'gap'))
      if (frame.t === 'events') this.#fanout.tell(follower, frame)
      replay.next = frame.t === 'gap' ? after : after + 1
    }
  }

  #giveUp(
    replays: readonly Replay<R>[],
    which: (replay: Replay<R>) => boolean = () => true,
    first: number | null = null,
  ): void {
    const height = this.#ports.blockHeight()
    for (const { follower, receiver, echo, next } of replays.filter(which)) {
      const gone = first === null ? 'cannot be read now' : `is held no more, the first is ${first} (${OF_ARCHIVE})`
      receiver.send(notReplayed(echo, `block ${next} ${next > height ? 'has not come yet' : gone}`))
      this.#fanout.catchUp(follower)
    }
  }
}
