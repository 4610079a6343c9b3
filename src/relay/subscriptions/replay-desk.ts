// The replays of one relay: who has which, and how many there may be. Law: a socket has a body once, live or played; what of
// a replay is refused costs nothing.

import { CUT_MOST } from '../../archive/replay/books-line.ts'
import type { Place } from '../../archive/replay/player.ts'
import type { Coin } from '../../core/coin.ts'
import type { Failure } from '../../core/failure.ts'
import { refusedSubscription } from '../../protocol/relay/failure-frame.ts'
import { ackFrame, replayFrame } from '../../protocol/relay/frames.ts'
import type { ReplayFrame, ReplayRange } from '../../protocol/relay/protocol.ts'
import type { Wanted, WantedEvents } from '../channel.ts'
import { isPlayable, type Playable, Replay, type ReplayPorts } from '../replay/replay.ts'
import type { Connection } from '../sockets/connection.ts'
import { eventCoins, noBookOf } from './refusals.ts'
import { reject, type SubscriptionRegistry } from './registry.ts'
import type { Ports, Request, Subscription } from './subscription.ts'

/** Each holds a segment of lines while it reads, and some megabytes of blocks. */
const MOST_OF_SOCKET = 2
const MOST_OF_ACCOUNT = 4
const MOST_OF_RELAY = 8

/** Tells a body whose past has been played of blocks from a height on: of those of the log, and then of those that come. */
export type JoinLive = (subscription: Subscription<WantedEvents>, from: number) => void

export class ReplayDesk {
  readonly #ports: Ports
  readonly #registry: SubscriptionRegistry
  readonly #joinLive: JoinLive
  /** Segments are read one after the other. */
  #reading: Promise<unknown> = Promise.resolve()
  readonly #held = new Map<Connection, Map<string, Replay>>()

  constructor(ports: Ports, registry: SubscriptionRegistry, joinLive: JoinLive) {
    this.#ports = ports
    this.#registry = registry
    this.#joinLive = joinLive
  }

  get size(): number {
    return this.#count(() => true)
  }

  has(connection: Connection, identity: string): boolean {
    return this.#held.get(connection)?.has(identity) === true
  }

  async begin(request: Request, range: ReplayRange): Promise<void> {
    const refused = this.#refusalOf(request, range)
    if (refused) return reject(request, refused)
    const unknown = await this.#unknownCoins(request.wanted)
    if (unknown.length > 0) return this.#registry.refuse(request, await noBookOf(unknown, this.#ports.nearestCoin))
    if (!request.connection.ended) this.#begin(request, range)
  }

  #begin(request: Request, range: ReplayRange): void {
    const { connection, echo, wanted, identity } = request
    const { archive } = this.#ports
    // While coins were looked for others may have begun.
    const refused = this.#refusalOf(request, range)
    if (refused) return reject(request, refused)
    if (!archive || !isPlayable(wanted)) return
    const { speed = 1 } = range
    const plan = { from: fromOf(range), to: toOf(range), speed: speed === 'max' ? Number.POSITIVE_INFINITY : speed }
    const ports = { ...this.#ports, archive, clock: this.#ports.clock, ...this.#ofReplay(request) }
    const replay = new Replay(ports, { wanted, meta: request.meta, echo, receiver: connection }, plan)
    const own = this.#held.get(connection)
    this.#held.set(connection, (own ?? new Map()).set(identity, replay))
    if (!own) connection.play(true)
    connection.send(ackFrame('subscribe', echo))
    this.#ports.waitUntil(this.#run(request, wanted, replay).catch((error) => this.#ports.failed(connection, error)))
  }

  steer(connection: Connection, identity: string, frame: ReplayFrame): void {
    const replay = this.#held.get(connection)?.get(identity)
    if (!replay) connection.send(refusedSubscription(JSON.stringify(frame.subscription), NO_REPLAY))
    else if (frame.action === 'seek') replay.seek(fromOf(frame))
    else replay[frame.action]()
  }

  /** False where the socket plays no such body. */
  stop(connection: Connection, identity: string): boolean {
    const own = this.#held.get(connection)
    own?.get(identity)?.stop()
    const was = own?.delete(identity) === true
    if (own?.size !== 0) return was
    this.#held.delete(connection)
    connection.play(false)
    return was
  }

  ended(connection: Connection): void {
    for (const identity of [...(this.#held.get(connection)?.keys() ?? [])]) this.stop(connection, identity)
  }

  async #run(request: Request, wanted: Playable, replay: Replay): Promise<void> {
    const { connection, identity } = request
    const isOwn = () => !connection.ended && this.#held.get(connection)?.get(identity) === replay
    try {
      const end = await replay.run()
      if (end.kind === 'live' && wanted.source === 'events') await this.#goLive(request, wanted, end.from, isOwn)
    } finally {
      if (isOwn()) this.stop(connection, identity)
    }
  }

  /** Where the archive ends the log goes on. The body is held until it does. */
  async #goLive(request: Request, wanted: WantedEvents, from: number, isOwn: () => boolean): Promise<void> {
    const { connection, echo, identity } = request
    await this.#ports.ensureEvents().catch(() => undefined)
    if (!isOwn()) return
    const minutes = await this.#registry.pay(request)
    if (!minutes) return
    if (!isOwn()) return this.#registry.refund(connection, minutes)
    this.stop(connection, identity)
    const subscription = { ...request, wanted, minutes }
    connection.send(replayFrame(echo, 'live', { from }))
    this.#joinLive(subscription, from)
    this.#registry.keep(subscription)
  }

  #ofReplay(request: Request): Pick<ReplayPorts, 'pay' | 'inTurn'> {
    return {
      pay: (isWanted) => this.#pay(request, isWanted),
      inTurn: (work) => {
        const turn = this.#reading.then(work)
        this.#reading = turn.catch(() => undefined)
        return turn
      },
    }
  }

  /** A minute of data is one that nobody can resume: it leaves no rest. */
  async #pay(request: Request, isWanted: () => boolean): Promise<boolean> {
    const { connection, identity } = request
    const minutes = await this.#registry.pay({ ...request, identity: `replay ${this.#ports.newId()} ${identity}` })
    if (minutes) this.#registry.accountOf(connection).stop(minutes, !isWanted())
    return minutes !== null
  }

  #refusalOf({ connection, wanted, fromBlock }: Request, range: ReplayRange): Failure | null {
    if (!this.#ports.archive) return { kind: 'unavailable', what: 'Nothing is archived here to be replayed' }
    if (fromBlock !== undefined) return bad('fromBlock', 'belongs into "replay"')
    if (!isPlayable(wanted))
      return bad(
        'replay',
        `${wanted.channel.type} cannot be replayed, as books and channels of events can: leave it out`,
      )
    if (wanted.source === 'books' && toOf(range) === null)
      return bad('replay.toTime', 'books do not join live: send toTime or toBlock')
    if (wanted.source === 'books' && (wanted.body.coins?.length ?? Number.POSITIVE_INFINITY) > CUT_MOST)
      return bad('subscription.coin', `books are replayed of 1 to ${CUT_MOST} coins: list them`)
    const { account } = connection.identity
    const isFull =
      (this.#held.get(connection)?.size ?? 0) >= MOST_OF_SOCKET ||
      this.#count((one) => one.identity.account === account) >= MOST_OF_ACCOUNT
    if (isFull) return { kind: 'limit_reached', limit: 'replays', most: MOST_OF_SOCKET, hint: TOO_MANY }
    return this.size >= MOST_OF_RELAY ? CROWDED : null
  }

  /** Coins that neither are nor were: their past would be silence. */
  async #unknownCoins(wanted: Wanted): Promise<readonly string[]> {
    const named = wanted.source === 'books' ? (wanted.body.coins ?? []) : eventCoins(wanted)
    const isKnown = async (coin: Coin) =>
      (await this.#ports.hasBook(coin)) !== false || (await this.#ports.hadTrades(coin).catch(() => true))
    const known = await Promise.all(named.map(isKnown))
    return named.filter((_, at) => !known[at])
  }

  #count(which: (connection: Connection) => boolean): number {
    return [...this.#held].reduce((sum, [connection, own]) => sum + (which(connection) ? own.size : 0), 0)
  }
}

const NO_REPLAY = bad('subscription', 'is not replayed on this connection: subscribe with "replay" first')
const TOO_MANY = `replay: at most ${MOST_OF_SOCKET} at a time on a connection, and ${MOST_OF_ACCOUNT} of an account: end one`
const CROWDED: Failure = {
  kind: 'unavailable',
  what: 'replays',
  hint: 'as much is replayed here as can be: open another connection, which leads elsewhere',
}

function bad(path: string, message: string): Failure {
  return { kind: 'bad_field', issues: [{ path, message }] }
}

interface Ends {
  readonly fromTime?: number | undefined
  readonly fromBlock?: number | undefined
}

/** Their schemas ask for one of both. */
const fromOf = ({ fromTime, fromBlock }: Ends): Place => placeOf(fromTime, fromBlock) ?? { height: 0 }
const toOf = ({ toTime, toBlock }: ReplayRange): Place | null => placeOf(toTime, toBlock)

function placeOf(timeMs: number | undefined, height: number | undefined): Place | null {
  if (timeMs !== undefined) return { timeMs }
  return height === undefined ? null : { height }
}
