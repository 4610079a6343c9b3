// The feeder: reads the node's files, maintains the order books, and serves the session with the gateway, in one loop.
// All decisions are in the pure files; this file waits, reads and passes data on.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from '../core/time.ts'
import type { Pulse } from '../protocol/feed/protocol.ts'
import { Checkpointer, CheckpointFiles } from './checkpoint-files.node.ts'
import { FeedLink } from './feed-link.node.ts'
import { L4Sender } from './l4-sender.node.ts'
import { NodeFiles, type NodeReader, StreamSelection } from './node-files.node.ts'
import { infoError } from './node-info.node.ts'
import { NodeSnapshots } from './node-snapshots.node.ts'
import { OrderBookProjector } from './order-book-projector.ts'
import { Placement } from './placement.node.ts'
import { Producer } from './producer.ts'
import { ReplicaStream } from './replica-files.node.ts'
import { type Command, FeedSession, type Reposition } from './session.ts'
import { SnapshotFetcher } from './snapshot-fetcher.node.ts'
import { type Status, stateOf } from './status.ts'
import { nodeTimeMs } from './streams.ts'

const POLL_MS = 15
/** Longest run of work while catching up. After it, sockets and signals get a turn. */
const TURN_MS = 5
const RECOVER_MS = 500
/** If no block arrives for this long, the node or one of its streams has stalled. */
const QUIET_MS = 5_000
/** How long a stop waits for the acknowledgement that makes the next start seamless. */
const LAST_ACK_MS = 1_500

export interface FeederOptions {
  readonly dataDir: string
  readonly infoUrl: string
  readonly gatewayUrl: string
  readonly token: string
  readonly chain: string
  readonly name: string
  readonly stateDir: string
  readonly snapshotDir: string
  readonly verifyMs: number
  readonly checkpointMs: number
}

export class Feeder {
  readonly #options: FeederOptions
  readonly #log: (message: string) => void
  readonly #files: NodeFiles
  readonly #session = new FeedSession()
  readonly #projector = new OrderBookProjector()
  readonly #producer: Producer
  readonly #checkpointer: Checkpointer
  readonly #link: FeedLink
  readonly #snapshots: NodeSnapshots
  readonly #fetcher: SnapshotFetcher
  readonly #l4: L4Sender
  readonly #streams: StreamSelection
  readonly #placement: Placement
  readonly #replica: ReplicaStream
  readonly #stopping = new AbortController()
  readonly #stalls = new StallMeter()
  #reader: NodeReader | null = null
  #reposition: Reposition | null = null
  #exitCode: number | null = null
  #secondAt = 0
  #blocks = 0
  #blocksPerSecond = 0
  #blockAt = Number.NEGATIVE_INFINITY
  /** Late lines counted by earlier readers. */
  #lateBefore = 0
  #lateExtraBefore = 0

  /** `log` is called with one sentence for every unusual event. `random` is uniform in [0, 1). */
  constructor(options: FeederOptions, log: (message: string) => void, random: () => number) {
    this.#options = options
    this.#log = log
    this.#files = new NodeFiles(options.dataDir)
    this.#streams = new StreamSelection(this.#files, this.#session, log)
    this.#replica = new ReplicaStream(options.dataDir, log)
    this.#producer = new Producer(this.#projector, this.#session, this.#replica, log)
    const store = new CheckpointFiles(options.stateDir, options.chain, log)
    this.#checkpointer = new Checkpointer({
      files: store,
      projector: this.#projector,
      chain: options.chain,
      everyMs: options.checkpointMs,
      log,
    })
    this.#link = new FeedLink(options, {
      session: this.#session,
      range: () => this.#files.range(),
      filesError: () => this.#files.layoutError(),
      pulse: (nowMs) => this.#pulseFields(nowMs),
      onCommand: (command) => this.#handleCommand(command),
      log,
      random,
    })
    const { signal } = this.#stopping
    this.#snapshots = new NodeSnapshots(options, signal, log)
    this.#fetcher = new SnapshotFetcher({
      snapshots: this.#snapshots,
      verifyMs: options.verifyMs,
      projector: this.#projector,
      signal,
      log,
    })
    this.#l4 = new L4Sender({
      snapshots: this.#snapshots,
      session: this.#session,
      signal,
      timeOf: (height) => this.#files.timeOf(height),
      onOffered: () => this.#link.flush(performance.now()),
    })
    this.#placement = new Placement({
      files: this.#files,
      checkpoints: store,
      projector: this.#projector,
      snapshots: this.#fetcher,
      log,
    })
  }

  /** Runs until stop(), or until it cannot continue. Returns the exit code. */
  async run(): Promise<number> {
    this.#link.start()
    this.#stalls.start()
    void this.#probeNode()
    while (!this.#stopping.signal.aborted && this.#exitCode === null) {
      let worked = false
      try {
        worked = await this.#runTurn(performance.now())
      } catch (error) {
        await this.#recover(error)
      }
      if (worked) await nextTurn()
      else await sleep(POLL_MS, undefined, { signal: this.#stopping.signal }).catch(() => {})
    }
    await this.#finish()
    return this.#exitCode ?? 0
  }

  /** Ends run() soon. A final checkpoint is written if the gateway still acknowledges blocks. */
  stop(): void {
    this.#stopping.abort()
  }

  /** Reports an unreachable node at the start, before its books are needed. */
  async #probeNode(): Promise<void> {
    const trouble = await infoError(this.#options.infoUrl, this.#stopping.signal)
    if (trouble !== null && !this.#stopping.signal.aborted) this.#log(trouble)
  }

  #pulseFields(nowMs: number): Omit<Pulse, 'type'> {
    const status = this.status(nowMs)
    const { state, unacked, reconnects, misfits, drifted, gaps, refusedEvents, stallMs, stalls, lateLines } = status
    const counts = { unacked, reconnects, misfits, drifted, gaps, refusedEvents, stallMs, stalls, lateLines }
    const { position } = this.#projector
    return {
      now: nowMs,
      head: status.height,
      time: position?.time ? nodeTimeMs(position.time) : null,
      state,
      ...counts,
    }
  }

  /** `nowMs`: wall-clock time. All waiting uses a monotonic clock. */
  status(nowMs: number): Status {
    const { position } = this.#projector
    return {
      ...stateOf({
        linkError: this.#link.error,
        isConnected: this.#session.phase === 'flowing',
        filesError: this.#link.filesError,
        isRepositioning: this.#reposition !== null,
        snapshotError: this.#snapshots.error,
        isFull: this.#session.isFull,
        isQuiet: performance.now() - this.#blockAt > QUIET_MS,
        awaited: this.#reader?.awaited ?? [],
      }),
      height: position?.height ?? null,
      lagMs: position?.time ? nowMs - nodeTimeMs(position.time) : null,
      blocksPerSecond: this.#blocksPerSecond,
      unacked: this.#session.unacked,
      reconnects: this.#link.reconnects,
      misfits: this.#projector.misfits,
      drifted: this.#fetcher.drifted,
      gaps: this.#producer.gapHeights,
      refusedEvents: this.#producer.refusedEvents,
      lateLines: this.#lateBefore + (this.#reader?.lateLines ?? 0),
      lateExtraLines: this.#lateExtraBefore + (this.#reader?.lateExtraLines ?? 0),
      stallMs: this.#stalls.worstMs,
      stalls: this.#stalls.seconds,
      booksKnown: this.#projector.books !== null,
    }
  }

  /** One turn of the loop. Returns true if there was work. */
  async #runTurn(nowMs: number): Promise<boolean> {
    if (nowMs - this.#secondAt >= SECOND_MS) await this.#onSecond(nowMs)
    if (this.#reposition && this.#link.filesError === null) await this.#moveTo(this.#reposition)
    const worked = this.#reader !== null && !this.#session.isFull && (await this.#readBlocks(this.#reader, nowMs))
    this.#projector.catchUpSnapshot()
    if (this.#reader) {
      this.#l4.tick(nowMs)
      this.#fetcher.tick(nowMs)
    }
    // A snapshot is sent one part per turn, so that sockets, timers and signals run in between.
    if (!this.#producer.isHandingOver) this.#producer.handOverBooks()
    this.#link.flush(nowMs)
    if (!this.#producer.isHandingOver) this.#checkpointer.tick(nowMs, this.#session.durable)
    else await nextTurn()
    return worked || this.#producer.isHandingOver
  }

  async #readBlocks(reader: NodeReader, nowMs: number): Promise<boolean> {
    // Signed actions are read last, because a block takes those that are there.
    const worked = [await reader.pump(nowMs), await this.#replica.pump(nowMs)].includes(true)
    if (reader.hasStartedOver)
      return this.#giveUp(
        'the files contain the same height with two times: the node started over, or two nodes write to the same folder. Start a new log (feed reset).',
      )
    let blocks = 0
    let since = performance.now()
    while (!this.#session.isFull && !this.#reposition && !this.#stopping.signal.aborted) {
      if (this.#producer.handOverBooks()) break
      const paired = reader.take()
      if (!paired) break
      for (const _ of this.#producer.accept(paired)) await nextTurn()
      this.#blocks++
      this.#blockAt = nowMs
      blocks++
      if (performance.now() - since < TURN_MS) continue
      this.#link.flush(performance.now())
      await nextTurn()
      since = performance.now()
    }
    return worked || blocks > 0
  }

  async #onSecond(nowMs: number): Promise<void> {
    const passed = this.#secondAt === 0 ? SECOND_MS : nowMs - this.#secondAt
    this.#blocksPerSecond = Math.round((this.#blocks * SECOND_MS) / passed)
    this.#secondAt = nowMs
    this.#blocks = 0
    this.#stalls.tick()
    this.#link.tick(nowMs)
    await this.#followStreams()
  }

  /** A stream may appear while the feeder runs, or be requested by the gateway. */
  async #followStreams(): Promise<void> {
    const { position } = this.#projector
    if (!this.#reader || !position) return
    await this.#replica.follow(this.#session.wantsReplica, position.height)
    const present = this.#streams.names(performance.now())
    const reading = this.#reader.streams
    const isSame = present.length === reading.length && present.every((name) => reading.includes(name))
    if (isSame || this.#reader.hasLateLines) return
    await this.#openReader(position.height + 1, position.time || null)
  }

  async #openReader(from: number, passedTime: string | null): Promise<void> {
    await this.#reader?.close()
    this.#lateBefore += this.#reader?.lateLines ?? 0
    this.#lateExtraBefore += this.#reader?.lateExtraLines ?? 0
    this.#reader = this.#files.open(this.#streams.names(performance.now()), from, passedTime, this.#log)
  }

  #handleCommand(command: Command): void {
    if (command.do === 'say') this.#log(command.sentence)
    else if (command.do === 'reposition') this.#reposition = command.to
    else {
      this.#log(`the gateway refused this feeder: ${command.reason}`)
      // The gateway refused the hello because the node's heights do not reach those of the log.
      if (command.atGreeting) this.#exitCode = 2
      else this.#link.retryLater()
    }
  }

  /** Moves to the position that the gateway requested. */
  async #moveTo(target: Reposition): Promise<void> {
    const start = await this.#placement.moveTo(target)
    if (typeof start === 'string') this.#giveUp(start)
    else if (start && this.#reposition === target) {
      const { point, readFrom, sendFrom } = start
      this.#reposition = null
      await this.#replica.close()
      await this.#openReader(readFrom, this.#projector.position?.time || null)
      this.#session.startFrom(sendFrom, point.needsSeed, point.gone)
      const lost = point.gone ? `; heights ${point.gone.from} to ${point.gone.to} are no longer in the files` : ''
      this.#log(`books from ${point.books}, reading from height ${readFrom}, sending from ${sendFrom}${lost}`)
    }
  }

  #giveUp(message: string): false {
    this.#log(message)
    this.#exitCode = 2
    return false
  }

  /** Errors do not end the feeder. It resumes where the gateway's log ends. */
  async #recover(error: unknown): Promise<void> {
    if (this.#stopping.signal.aborted) return
    this.#log(`an error occurred; retrying: ${error instanceof Error ? (error.stack ?? error.message) : error}`)
    this.#reposition ??= { durable: this.#session.durable, seeded: false }
    await sleep(RECOVER_MS)
  }

  async #finish(): Promise<void> {
    this.#checkpointer.tick(performance.now(), this.#session.durable)
    if (this.#exitCode === null)
      await this.#checkpointer.writeLast(performance.now(), (height) => this.#isDurableSoon(height))
    this.#link.stop()
    this.#stalls.stop()
    await this.#replica.close()
    await this.#reader?.close()
  }

  async #isDurableSoon(height: number): Promise<boolean> {
    const isDurable = () => this.#session.durable !== null && this.#session.durable >= height
    for (
      let until = performance.now() + LAST_ACK_MS;
      this.#session.phase === 'flowing' && performance.now() < until;
    ) {
      if (isDurable()) break
      this.#link.flush(performance.now())
      await sleep(POLL_MS)
    }
    return isDurable()
  }
}

const RESOLUTION_MS = 10
const NANOSECONDS = 1e6
/** On a host that is not overloaded, no task takes longer than this. */
const STALL_MS = 20

class StallMeter {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  /** Longest stall of the last second, ms; 0 if there was none. */
  worstMs = 0
  /** Seconds with a stall since the start. */
  seconds = 0

  start(): void {
    this.#delays.enable()
  }

  stop(): void {
    this.#delays.disable()
  }

  /** Call at the end of each second. */
  tick(): void {
    const ms = Math.round(this.#delays.max / NANOSECONDS - RESOLUTION_MS)
    this.#delays.reset()
    this.worstMs = ms > STALL_MS ? ms : 0
    if (this.worstMs > 0) this.seconds++
  }
}
