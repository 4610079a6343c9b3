// Blocks that were before a subscription, told once more from the log (`fromBlock`). Laws: each block from the height that
// was asked for reaches its receiver once, in order, and then those that come, however long the feed stands still; what the
// log does not hold any more is said to be missing; a range is read once for all who wait for it, and who reads slowly holds up nobody else.

import type { EventsResponse, LinkGap, RelayEvents } from '../../protocol/feed/log-api.ts'
import { errorFrame, missingBlocks, replayUnavailable } from '../../protocol/relay/frames.ts'
import type { EventsTarget } from '../channel.ts'
import type { CatchUp, EventFanout } from './event-fanout.ts'
import type { PacedReceiver } from './event-frames.ts'

export interface LogReplayPorts {
  /** A page of what the log holds from a height on; rejects where it cannot be had now. */
  events(from: number): Promise<EventsResponse>
  wait(ms: number): Promise<void>
  /** Of the last block that came; -1 before the first. */
  blockHeight(): number
}

/** A receiver that is sent much at once. */
export interface ReplayReceiver extends PacedReceiver {
  readonly isEnded: boolean
}

/** What is asked for. */
interface ReplayRequest<R> {
  /** Names the distinct body. */
  readonly key: string
  readonly receiver: R
  /** JSON of the body as sent. */
  readonly echo: string
  /** Height that it is to be told next. */
  readonly nextHeight: number
}

interface PendingReplay<R> extends Omit<ReplayRequest<R>, 'key'> {
  readonly catchUp: CatchUp<R>
  nextHeight: number
}

/** All who come back after an interruption share what is read. */
const GATHER_MS = 250
const MAX_TRIES = 6
const RETRY_MS = 500
/** By more than a log can lose when it dies: blocks asked for beyond are of another chain. */
const MAX_BLOCKS_AHEAD = 64
/** What a page may become for one receiver. */
const PAGE_BYTES = 512 * 1024
/** Blocks told to one or many without a rest: live ones wait for them some 10 ms. */
const MAX_BLOCKS_PER_TURN = 1000
/** It costs what its minutes cost, so that it is to be asked for by name. */
const ARCHIVE_HINT = 'what is archived is told with "fromBlock" within "replay"'

export class LogReplays<R extends ReplayReceiver> {
  readonly #ports: LogReplayPorts
  readonly #fanout: EventFanout<R>
  #waiting: PendingReplay<R>[] = []
  #isRunning = false

  constructor(ports: LogReplayPorts, fanout: EventFanout<R>) {
    this.#ports = ports
    this.#fanout = fanout
  }

  /** Resolves when nobody waits any more, or at once where others do. Never rejects. */
  async start({ key, ...asked }: ReplayRequest<R>, target: EventsTarget, meta: boolean): Promise<void> {
    this.#waiting.push({ ...asked, catchUp: this.#fanout.startCatchUp(key, target, meta, asked.receiver) })
    if (this.#isRunning) return
    this.#isRunning = true
    try {
      while (this.#waiting.length > 0) {
        await this.#ports.wait(GATHER_MS)
        await this.#serve(this.#waiting.splice(0))
      }
    } finally {
      this.#isRunning = false
    }
  }

  /** Page by page for all of them together, until each is live or waits again. */
  async #serve(replays: readonly PendingReplay<R>[]): Promise<void> {
    let tries = 0
    for (let rest = this.#selectReadable(replays); rest.length > 0; rest = this.#selectReadable(rest)) {
      const from = Math.min(...rest.map(({ nextHeight }) => nextHeight))
      const page = await this.#ports.events(from).catch(() => null)
      if (page) tries = 0
      if (page?.retryMs) await this.#ports.wait(page.retryMs)
      else if (page?.frames?.length) await this.#sendPage(rest, page.frames)
      else if (page?.frames) return this.#waitForBlocks(rest, (page.head ?? -1) + MAX_BLOCKS_AHEAD)
      else if (page) this.#giveUp(rest, ({ nextHeight }) => nextHeight === from, page.first)
      else if (++tries < MAX_TRIES) await this.#ports.wait(RETRY_MS)
      else this.#giveUp(rest)
    }
  }

  /** What they ask for has not come: they wait for it, and others not for them. */
  async #waitForBlocks(replays: readonly PendingReplay<R>[], furthest: number): Promise<void> {
    this.#giveUp(replays, ({ nextHeight }) => nextHeight > furthest)
    this.#waiting.push(...this.#selectReadable(replays))
    await this.#ports.wait(RETRY_MS)
  }

  /** Those who are to be read for: the others are live, have ended, or wait until they have read. */
  #selectReadable(replays: readonly PendingReplay<R>[]): PendingReplay<R>[] {
    return replays.filter((replay) => {
      const { catchUp, receiver, nextHeight } = replay
      if (!this.#fanout.isCatchingUp(catchUp)) return false
      const height = this.#ports.blockHeight()
      const isLed = this.#fanout.coversRange(nextHeight, height)
      if (isLed || nextHeight === height + 1) {
        this.#fanout.finishCatchUp(catchUp, isLed ? nextHeight : undefined)
        return false
      }
      if (receiver.snapshotWaitMs(PAGE_BYTES) === 0) return true
      if (!receiver.isEnded) this.#waiting.push(replay)
      return false
    })
  }

  async #sendPage(replays: readonly PendingReplay<R>[], texts: readonly string[]): Promise<void> {
    const frames = texts.map((text) => JSON.parse(text) as RelayEvents | LinkGap)
    let told = 0
    for (const replay of replays) {
      // What those before it were sent may leave no room for it: it is settled anew.
      if (!this.#fanout.isCatchingUp(replay.catchUp) || replay.receiver.snapshotWaitMs(PAGE_BYTES) > 0) continue
      this.#sendFrames(replay, frames)
      told += frames.length
      if (told < MAX_BLOCKS_PER_TURN) continue
      told = 0
      await this.#ports.wait(0)
    }
  }

  #sendFrames(replay: PendingReplay<R>, frames: readonly (RelayEvents | LinkGap)[]): void {
    const { catchUp, receiver } = replay
    for (const frame of frames) {
      const { nextHeight } = replay
      const after = frame.t === 'gap' ? frame.to + 1 : frame.height
      if (nextHeight > after || (nextHeight === after && frame.t === 'gap')) continue
      if (nextHeight < after) receiver.send(errorFrame(missingBlocks(nextHeight, after - 1), 'gap'))
      if (frame.t === 'events') this.#fanout.sendTo(catchUp, frame)
      replay.nextHeight = frame.t === 'gap' ? after : after + 1
    }
  }

  #giveUp(
    replays: readonly PendingReplay<R>[],
    which: (replay: PendingReplay<R>) => boolean = () => true,
    first: number | null = null,
  ): void {
    const height = this.#ports.blockHeight()
    for (const { catchUp, receiver, echo, nextHeight } of replays.filter(which)) {
      const gone = first === null ? 'cannot be read now' : `is held no more, the first is ${first} (${ARCHIVE_HINT})`
      receiver.send(replayUnavailable(echo, `block ${nextHeight} ${nextHeight > height ? 'has not come yet' : gone}`))
      this.#fanout.finishCatchUp(catchUp)
    }
  }
}
