// The replays of one relay, and their limits. Invariant: a socket has a body at most once, live or replayed. A rejected
// replay costs nothing.

import { archiveMemory, MEMORY_RETRY_MS, TASK_BYTES } from '../../archive/archive-memory.ts'
import { MAX_CUT_COINS } from '../../archive/replay/books-line.ts'
import type { ReplayPosition } from '../../archive/replay/player.ts'
import type { Coin } from '../../core/coin.ts'
import type { Failure } from '../../core/failure.ts'
import { refusedSubscription } from '../../protocol/relay/failure-frame.ts'
import { replayFrame } from '../../protocol/relay/frames.ts'
import type { ReplayFrame, ReplayRange } from '../../protocol/relay/protocol.ts'
import type { EventsTarget, Target } from '../channel.ts'
import { isPlayable, type Playable, Replay, type ReplayPorts } from '../replay/replay.ts'
import type { Connection } from '../sockets/connection.ts'
import { eventCoins, noSuchBook } from './refusals.ts'
import { reject, type SubscriptionRegistry } from './registry.ts'
import type { Ports, Request, Subscription } from './subscription.ts'

/** Limits on concurrent replays. Each replay holds a segment of lines while it reads, and a few megabytes of blocks. */
const MAX_PER_SOCKET = 2
const MAX_PER_ACCOUNT = 4
const MAX_PER_RELAY = 8
/** A read of a segment that takes longer is assumed to be lost. */
const READ_MAX_MS = 60_000

/** Continues a finished replay at a height: first the log's blocks, then live ones. */
export type JoinLive = (subscription: Subscription<EventsTarget>, from: number) => void

export class ReplayService {
  readonly #ports: Ports
  readonly #registry: SubscriptionRegistry
  readonly #joinLive: JoinLive
  /** Segments are read one after another. */
  #reads: Promise<unknown> = Promise.resolve()
  readonly #replays = new Map<Connection, Map<string, Replay>>()

  constructor(ports: Ports, registry: SubscriptionRegistry, joinLive: JoinLive) {
    this.#ports = ports
    this.#registry = registry
    this.#joinLive = joinLive
  }

  get size(): number {
    return this.#count(() => true)
  }

  has(connection: Connection, identity: string): boolean {
    return this.#replays.get(connection)?.has(identity) === true
  }

  async start(request: Request, range: ReplayRange): Promise<void> {
    const refused = this.#failureOf(request, range)
    if (refused) return reject(request, refused)
    const unknown = await this.#unknownCoins(request.target)
    if (unknown.length > 0)
      return this.#registry.rejectUnbilled(request, await noSuchBook(unknown, this.#ports.nearestCoin))
    if (!request.connection.isEnded) this.#startNow(request, range)
  }

  #startNow(request: Request, range: ReplayRange): void {
    const { connection, echo, target, identity } = request
    const { archive } = this.#ports
    // Other replays may have started while coins were looked up.
    const refused = this.#failureOf(request, range)
    if (refused) return reject(request, refused)
    if (!archive || !isPlayable(target)) return
    const { speed = 1 } = range
    const plan = { from: fromOf(range), to: toOf(range), speed: speed === 'max' ? Number.POSITIVE_INFINITY : speed }
    const ports = { ...this.#ports, archive, clock: this.#ports.clock, ...this.#replayPorts(request) }
    const replay = new Replay(ports, { target, meta: request.meta, echo, receiver: connection }, plan)
    const replays = this.#replays.get(connection)
    this.#replays.set(connection, (replays ?? new Map()).set(identity, replay))
    if (!replays) connection.setPlaying(true)
    this.#registry.sendAck(request)
    this.#ports.waitUntil(this.#run(request, target, replay).catch((error) => this.#ports.onError(connection, error)))
  }

  control(connection: Connection, identity: string, frame: ReplayFrame): void {
    const replay = this.#replays.get(connection)?.get(identity)
    if (!replay) connection.send(refusedSubscription(JSON.stringify(frame.subscription), NO_REPLAY))
    else if (frame.action === 'seek') replay.seek(fromOf(frame))
    else replay[frame.action]()
  }

  /** False if the socket has no replay of this body. */
  stop(connection: Connection, identity: string): boolean {
    const replays = this.#replays.get(connection)
    replays?.get(identity)?.stop()
    const was = replays?.delete(identity) === true
    if (replays?.size !== 0) return was
    this.#replays.delete(connection)
    connection.setPlaying(false)
    return was
  }

  onConnectionEnd(connection: Connection): void {
    for (const identity of [...(this.#replays.get(connection)?.keys() ?? [])]) this.stop(connection, identity)
  }

  async #run(request: Request, target: Playable, replay: Replay): Promise<void> {
    const { connection, identity } = request
    const isCurrent = () => !connection.isEnded && this.#replays.get(connection)?.get(identity) === replay
    try {
      const end = await replay.run()
      if (end.kind === 'live' && target.source === 'events') await this.#goLive(request, target, end.from, isCurrent)
    } finally {
      if (isCurrent()) this.stop(connection, identity)
    }
  }

  /** Continues with the log where the archive ends. The replay stays registered until then. */
  async #goLive(request: Request, target: EventsTarget, from: number, isCurrent: () => boolean): Promise<void> {
    const { connection, echo, identity } = request
    await this.#ports.ensureLog().catch(() => undefined)
    if (!isCurrent()) return
    const minutes = await this.#registry.pay(request)
    if (!minutes) return
    if (!isCurrent()) return this.#registry.refund(connection, minutes)
    this.stop(connection, identity)
    const subscription = { ...request, target, minutes }
    connection.send(replayFrame(echo, 'live', { from }))
    this.#joinLive(subscription, from)
    this.#registry.store(subscription)
  }

  #replayPorts(request: Request): Pick<ReplayPorts, 'pay' | 'serialize'> {
    return {
      pay: (isWanted) => this.#pay(request, isWanted),
      serialize: (work) => {
        const turn = this.#reads.then(() => this.#withMemory(work))
        this.#reads = turn.catch(() => undefined)
        return turn
      },
    }
  }

  /** Waits until the isolate, which may have other relays, has room for a segment. */
  async #withMemory<T>(work: () => Promise<T>): Promise<T> {
    const { clock, wait } = this.#ports
    const reserve = () => archiveMemory.reserve(TASK_BYTES.segment, clock.nowMs, READ_MAX_MS)
    let release = reserve()
    while (release === null) {
      await wait(MEMORY_RETRY_MS)
      release = reserve()
    }
    return work().finally(release)
  }

  /** A minute of replayed data cannot be resumed, so its remainder is not saved. */
  async #pay(request: Request, isWanted: () => boolean): Promise<boolean> {
    const { connection, identity } = request
    const minutes = await this.#registry.pay({ ...request, identity: `replay ${this.#ports.newId()} ${identity}` })
    if (minutes) this.#registry.accountOf(connection).stop(minutes, !isWanted())
    return minutes !== null
  }

  #failureOf({ connection, target, fromBlock }: Request, range: ReplayRange): Failure | null {
    if (!this.#ports.archive) return { kind: 'unavailable', what: 'This gateway has no archive to replay' }
    if (fromBlock !== undefined) return badField('fromBlock', 'belongs inside "replay"')
    if (!isPlayable(target))
      return badField('replay', `${target.channel.type} cannot be replayed. Only books and event channels can`)
    if (target.source === 'books' && toOf(range) === null)
      return badField('replay.toTime', 'required for books, which do not continue live. Send toTime or toBlock')
    if (target.source === 'books' && (target.body.coins?.length ?? Number.POSITIVE_INFINITY) > MAX_CUT_COINS)
      return badField('subscription.coin', `must list 1 to ${MAX_CUT_COINS} coins to replay books`)
    const { account } = connection.identity
    const isFull =
      (this.#replays.get(connection)?.size ?? 0) >= MAX_PER_SOCKET ||
      this.#count((one) => one.identity.account === account) >= MAX_PER_ACCOUNT
    if (isFull) return { kind: 'limit_reached', limit: 'replays', most: MAX_PER_SOCKET, hint: TOO_MANY_REPLAYS }
    return this.size >= MAX_PER_RELAY ? RELAY_FULL : null
  }

  /** Coins that have no book and never had a trade. A replay of them would send nothing. */
  async #unknownCoins(target: Target): Promise<readonly string[]> {
    const named = target.source === 'books' ? (target.body.coins ?? []) : eventCoins(target)
    const isKnown = async (coin: Coin) =>
      (await this.#ports.hasBook(coin)) !== false || (await this.#ports.hadTrades(coin).catch(() => true))
    const known = await Promise.all(named.map(isKnown))
    return named.filter((_, at) => !known[at])
  }

  #count(which: (connection: Connection) => boolean): number {
    return [...this.#replays].reduce((sum, [connection, replays]) => sum + (which(connection) ? replays.size : 0), 0)
  }
}

const NO_REPLAY = badField('subscription', 'has no replay on this connection. Subscribe with "replay" first')
const TOO_MANY_REPLAYS = `replay: limit of ${MAX_PER_SOCKET} per connection and ${MAX_PER_ACCOUNT} per account reached. End one first`
const RELAY_FULL: Failure = {
  kind: 'unavailable',
  what: 'replays',
  hint: 'This relay is at its replay limit. Reconnect to be placed on another one.',
}

function badField(path: string, message: string): Failure {
  return { kind: 'bad_field', issues: [{ path, message }] }
}

interface RangeEnds {
  readonly fromTime?: number | undefined
  readonly fromBlock?: number | undefined
}

/** The schemas require exactly one of the two. */
const fromOf = ({ fromTime, fromBlock }: RangeEnds): ReplayPosition => positionOf(fromTime, fromBlock) ?? { height: 0 }
const toOf = ({ toTime, toBlock }: ReplayRange): ReplayPosition | null => positionOf(toTime, toBlock)

function positionOf(timeMs: number | undefined, height: number | undefined): ReplayPosition | null {
  if (timeMs !== undefined) return { timeMs }
  return height === undefined ? null : { height }
}
