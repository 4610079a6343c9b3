// Replays earlier blocks from the log (`fromBlock`). Invariants: each receiver gets every block, starting at its
// height, once and in order, then live blocks, however long the feed stalls; blocks that the log no longer has are
// reported as missing; a range is read once for all waiting receivers, and a slow reader delays nobody else.

import { YIELD_MS } from '../../core/time.ts'
import type { EventsResponse, LinkGap, RelayEvents } from '../../protocol/feed/log-api.ts'
import { errorFrame, missingBlocks, replayUnavailable } from '../../protocol/relay/frames.ts'
import type { EventsTarget } from '../channel.ts'
import type { CatchUp, EventFanout } from './event-fanout.ts'
import type { PacedReceiver } from './event-frames.ts'

export interface LogReplayPorts {
  /** A page of the log's blocks, starting at a height. Rejects if the log is unreachable. */
  events(from: number): Promise<EventsResponse>
  wait(ms: number): Promise<void>
  /** Height of the last block; -1 before the first. */
  blockHeight(): number
}

/** A receiver that may get a lot of data at once. */
export interface ReplayReceiver extends PacedReceiver {
  readonly isEnded: boolean
}

interface ReplayRequest<R> {
  /** Identifies the distinct body. */
  readonly key: string
  readonly receiver: R
  /** JSON of the body as sent. */
  readonly echo: string
  /** Height of the next block to send. */
  readonly nextHeight: number
}

interface PendingReplay<R> extends Omit<ReplayRequest<R>, 'key'> {
  readonly catchUp: CatchUp<R>
  nextHeight: number
}

/** Reconnecting clients are gathered so that they share the reads. */
const GATHER_MS = 250
const MAX_TRIES = 6
const RETRY_MS = 500
/** More blocks than a log can lose in a crash. A larger difference in heights means a different chain. */
const MAX_BLOCKS_AHEAD = 64
/** Maximum size of a page for one receiver. */
const PAGE_BYTES = 512 * 1024
/** Maximum number of blocks sent before yielding. Live blocks wait about 10 ms for them. */
const MAX_BLOCKS_PER_TURN = 1000
/** An archive replay is charged by the minute, so it must be requested explicitly. */
const ARCHIVE_HINT = 'For archived blocks, send "fromBlock" inside "replay"'

export class LogReplays<R extends ReplayReceiver> {
  readonly #ports: LogReplayPorts
  readonly #fanout: EventFanout<R>
  #waiting: PendingReplay<R>[] = []
  #isRunning = false

  constructor(ports: LogReplayPorts, fanout: EventFanout<R>) {
    this.#ports = ports
    this.#fanout = fanout
  }

  /** Resolves when nobody waits, or at once if another call is running. Never rejects. */
  async start({ key, ...request }: ReplayRequest<R>, target: EventsTarget, meta: boolean): Promise<void> {
    this.#waiting.push({ ...request, catchUp: this.#fanout.startCatchUp(key, target, meta, request.receiver) })
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

  /** Serves all replays page by page until each is live or waits again. */
  async #serve(pending: readonly PendingReplay<R>[]): Promise<void> {
    let tries = 0
    for (
      let remaining = this.#selectReadable(pending);
      remaining.length > 0;
      remaining = this.#selectReadable(remaining)
    ) {
      const from = Math.min(...remaining.map(({ nextHeight }) => nextHeight))
      const page = await this.#ports.events(from).catch(() => null)
      if (page) tries = 0
      if (page?.retryMs) await this.#ports.wait(page.retryMs)
      else if (page?.frames?.length) await this.#sendPage(remaining, page.frames)
      else if (page?.frames) return this.#waitForBlocks(remaining, (page.head ?? -1) + MAX_BLOCKS_AHEAD)
      else if (page) this.#giveUp(remaining, ({ nextHeight }) => nextHeight === from, page.first)
      else if (++tries < MAX_TRIES) await this.#ports.wait(RETRY_MS)
      else this.#giveUp(remaining)
    }
  }

  /** The blocks of these replays have not arrived yet. These replays wait without delaying others. */
  async #waitForBlocks(pending: readonly PendingReplay<R>[], furthest: number): Promise<void> {
    this.#giveUp(pending, ({ nextHeight }) => nextHeight > furthest)
    this.#waiting.push(...this.#selectReadable(pending))
    await this.#ports.wait(RETRY_MS)
  }

  /** Replays that need a read now. The others are live, ended, or wait for their reader. */
  #selectReadable(pending: readonly PendingReplay<R>[]): PendingReplay<R>[] {
    return pending.filter((replay) => {
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

  async #sendPage(pending: readonly PendingReplay<R>[], texts: readonly string[]): Promise<void> {
    const frames = texts.map((text) => JSON.parse(text) as RelayEvents | LinkGap)
    let sentBlocks = 0
    for (const replay of pending) {
      // Earlier sends may have used up this reader's room. In that case, the replay is selected again later.
      if (!this.#fanout.isCatchingUp(replay.catchUp) || replay.receiver.snapshotWaitMs(PAGE_BYTES) > 0) continue
      this.#sendFrames(replay, frames)
      sentBlocks += frames.length
      if (sentBlocks < MAX_BLOCKS_PER_TURN) continue
      sentBlocks = 0
      await this.#ports.wait(YIELD_MS)
    }
  }

  #sendFrames(replay: PendingReplay<R>, frames: readonly (RelayEvents | LinkGap)[]): void {
    const { catchUp, receiver } = replay
    for (const frame of frames) {
      const { nextHeight } = replay
      const endHeight = frame.t === 'gap' ? frame.to + 1 : frame.height
      if (nextHeight > endHeight || (nextHeight === endHeight && frame.t === 'gap')) continue
      if (nextHeight < endHeight) receiver.send(errorFrame(missingBlocks(nextHeight, endHeight - 1), 'gap'))
      if (frame.t === 'events') this.#fanout.sendTo(catchUp, frame)
      replay.nextHeight = frame.t === 'gap' ? endHeight : endHeight + 1
    }
  }

  #giveUp(
    pending: readonly PendingReplay<R>[],
    which: (replay: PendingReplay<R>) => boolean = () => true,
    firstHeight: number | null = null,
  ): void {
    const height = this.#ports.blockHeight()
    for (const { catchUp, receiver, echo, nextHeight } of pending.filter(which)) {
      const reason =
        firstHeight === null
          ? 'cannot be read now'
          : `is no longer stored. The first stored block is ${firstHeight}. ${ARCHIVE_HINT}`
      receiver.send(
        replayUnavailable(echo, `block ${nextHeight} ${nextHeight > height ? 'does not exist yet' : reason}`),
      )
      this.#fanout.finishCatchUp(catchUp)
    }
  }
}
