// The sockets of feeders: their state, the snapshot in progress, and replies. A feeder's state is stored in its
// socket's attachment, so that it survives a restart of this object. Joins and departures are stored as one row each.
// Pulses are not stored.

import type { Coin } from '../core/coin.ts'
import { PartJoiner } from '../protocol/feed/parts.ts'
import type { GatewayFrame, Hello } from '../protocol/feed/protocol.ts'
import type { FeederView } from '../protocol/feed/status-shape.ts'
import { type ChainState, conflictAtHello, type FeederState } from './chain.ts'
import type { CopySummary } from './completeness-upgrade.ts'
import {
  afterRestart,
  asEnded,
  closeReason,
  departed,
  type FeederActivity,
  type FeederList,
  viewOf,
  withFeeder,
} from './feeder-list.ts'
import type { SeedIntake, SeedRelay } from './seed-relay.ts'
import { SILENT_MS } from './verdict.ts'

/** Maximum wait for a feeder that stops in the middle of a snapshot. */
const SEEDING_MS = 5000
/** A feeder counts as sending blocks while its last block is not older than this. */
const FLOWING_MS = 2000

/** The attachment of a socket. Its keys must not change, because it outlives this object's memory. */
interface SocketAttachment {
  readonly state: FeederState
  readonly heard: FeederActivity
}

export class FeederSocket {
  readonly #socket: WebSocket
  readonly joiner = new PartJoiner()
  /** The snapshot in progress. */
  seed: SeedRelay | null = null
  /** The feeder's state; null before its hello. */
  state: FeederState | null
  /** When the last frame that was not a pulse arrived from the feeder. */
  lastFrameMs = 0
  /** Whether a frame of this feeder was rejected after its last block was accepted. */
  wasRejected = false
  /** Height of its last block whose book changes were unknown. */
  booksUnknownAt = -1
  /** Summary of its newest copy of a block. */
  copy: CopySummary | null = null
  /** Whether it has sent order rows. */
  hasStatuses = false
  #activity: FeederActivity
  #pausedMs = 0

  constructor(socket: WebSocket) {
    this.#socket = socket
    const note = socket.deserializeAttachment() as SocketAttachment | null
    this.state = note?.state ?? null
    this.#activity = note?.heard ?? { sinceMs: 0, heardMs: 0, blockMs: null, pulse: null }
  }

  get name(): string {
    return this.state?.name ?? ''
  }

  /** The feeder as `/status` shows it; null before its hello. */
  get view(): FeederView | null {
    return this.state && viewOf(this.state, this.#activity)
  }

  /** Records when a frame arrived and what it reported. */
  recordActivity(now: Partial<FeederActivity> & { readonly heardMs: number }): void {
    this.#activity = { ...this.#activity, ...now }
    if (now.pulse) this.#saveAttachment()
  }

  send(frame: GatewayFrame): void {
    try {
      this.#socket.send(JSON.stringify(frame))
    } catch {
      // If a feeder's socket is closing, the feeder gets the missed state at its next hello. The other feeders must
      // still get the frame.
    }
  }

  /** Answers a frame that was not applied. The socket stays open. */
  reject(field: string, message: string): void {
    this.wasRejected = true
    this.send({ type: 'error', field, message })
  }

  update(change: Partial<FeederState>): void {
    if (!this.state) return
    const isSaved = Object.entries(change).some(
      ([key, value]) => key !== 'head' && this.state?.[key as keyof FeederState] !== value,
    )
    this.state = { ...this.state, ...change }
    if (isSaved) this.#saveAttachment()
  }

  #saveAttachment(): void {
    if (this.state)
      this.#socket.serializeAttachment({ state: this.state, heard: this.#activity } satisfies SocketAttachment)
  }

  greet(hello: Hello, chain: ChainState, nowMs: number): void {
    const { feeder, first, head } = hello
    this.state = { name: feeder, first, head, awaiting: null, conflict: null }
    this.#activity = { sinceMs: nowMs, heardMs: nowMs, blockMs: null, pulse: null }
    this.#saveAttachment()
    const reason = conflictAtHello(chain, head)
    if (reason) return this.sendConflict(reason)
    this.send({ type: 'welcome', epoch: chain.booksKnown ? chain.epoch : null, height: chain.height })
  }

  sendConflict(reason: string): void {
    this.update({ conflict: reason })
    this.send({ type: 'conflict', reason })
  }

  /** Asks the feeder to pause, at most once per `retryMs`. */
  pause(retryMs: number, nowMs: number): void {
    if (nowMs - this.#pausedMs < retryMs) return
    this.#pausedMs = nowMs
    this.send({ type: 'slow', retryMs })
  }

  get blockMs(): number | null {
    return this.#activity.blockMs
  }

  get heardMs(): number {
    return this.#activity.heardMs
  }

  requestResend(from: number): void {
    this.update({ awaiting: from })
    this.send({ type: 'resend', from })
  }
}

/** Storage of the feeder list. */
interface FeederListStore {
  feederList(): FeederList
  saveFeederList(list: FeederList): void
}

export class FeederLinks {
  readonly #ctx: DurableObjectState
  readonly #store: FeederListStore
  readonly #sockets = new Map<WebSocket, FeederSocket>()
  #list: FeederList
  /** Name of the feeder whose block was accepted last; null if no block was accepted since this object restarted. */
  leader: string | null = null

  constructor(ctx: DurableObjectState, store: FeederListStore, nowMs: number) {
    this.#ctx = ctx
    this.#store = store
    for (const socket of ctx.getWebSockets()) this.#sockets.set(socket, new FeederSocket(socket))
    const before = store.feederList()
    this.#list = afterRestart(before, this.#names(), nowMs)
    // Store the changed list now. Otherwise a feeder that left during this restart would seem to leave again at each
    // later restart.
    if (this.#list.some((view, index) => view !== before[index])) store.saveFeederList(this.#list)
  }

  /**
   * Feeders that sent a hello, by name. If two connections have the same name, only the newer one is included. The
   * older one may be dead, so nothing is requested from it and nothing waits for it.
   */
  #greetedByName(): Map<string, FeederSocket> {
    return new Map([...this.#sockets.values()].flatMap((one) => (one.state ? [[one.name, one]] : [])))
  }

  #names(): string[] {
    return [...this.#greetedByName().keys()]
  }

  /** All feeders without a conflict, except `but`. */
  #others(but: FeederSocket): FeederSocket[] {
    return [...this.#greetedByName().values()].filter((one) => one.name !== but.name && one.state?.conflict === null)
  }

  #saveInList(view: FeederView | null): void {
    if (!view) return
    this.#list = withFeeder(this.#list, view)
    this.#store.saveFeederList(this.#list)
  }

  accept(socket: WebSocket): void {
    this.#ctx.acceptWebSocket(socket)
    this.#sockets.set(socket, new FeederSocket(socket))
  }

  feederOf(socket: WebSocket): FeederSocket {
    const known = this.#sockets.get(socket) ?? new FeederSocket(socket)
    this.#sockets.set(socket, known)
    return known
  }

  /** Sends the welcome, unless the connection has ended. */
  greet(feeder: FeederSocket, hello: Hello, chain: ChainState, nowMs: number): void {
    if (![...this.#sockets.values()].includes(feeder)) return
    feeder.greet(hello, chain, nowMs)
    this.#saveInList(feeder.view)
  }

  /** All feeders as `/status` shows them: connected ones first, then departed ones. */
  views(nowMs: number): FeederView[] {
    const connected = [...this.#greetedByName().values()].flatMap((one) => one.view ?? [])
    return [...connected, ...departed(this.#list, this.#names(), nowMs)]
  }

  #onEnded(socket: WebSocket, nowMs: number, why: string): void {
    const view = this.#sockets.get(socket)?.view
    this.#sockets.delete(socket)
    // A feeder that reconnected before its old connection ended has not left.
    if (view && !this.#names().includes(view.name)) this.#saveInList(asEnded(view, nowMs, why))
  }

  /** Closes our side of a closing socket. Otherwise the other side would wait ten seconds and see code 1006. */
  onClose(socket: WebSocket, code: number, reason: string, nowMs: number): void {
    this.#onEnded(socket, nowMs, closeReason(code))
    // Another feeder may have skipped blocks because this feeder had them. It must now send them or declare them gone.
    for (const other of this.#sockets.values()) other.update({ awaiting: null })
    if (code === 1005 || code === 1006) socket.close()
    else socket.close(code, reason)
  }

  /** Other feeders that recently sent something. If one of them has a missing block, no gap is declared. */
  activeOthers(but: FeederSocket, nowMs: number): FeederState[] {
    return this.#others(but)
      .filter(({ heardMs }) => nowMs - heardMs < SILENT_MS)
      .flatMap((one) => one.state ?? [])
  }

  /** The feeder to ask for books. This is the leader, because the books of other feeders would arrive too late. */
  preferred(): FeederSocket | undefined {
    const candidates = [...this.#greetedByName().values()].filter((one) => one.state?.conflict === null)
    return candidates.find(({ name }) => name === this.leader) ?? candidates[0]
  }

  /** The feeders to ask for the orders of a coin: the one that sends its rows. If that one has left, all feeders. */
  rowSenders(coin: Coin): FeederSocket[] {
    const candidates = [...this.#greetedByName().values()].filter((one) => one.state?.conflict === null)
    const newest = candidates.sort((a, b) => (b.copy?.height ?? -1) - (a.copy?.height ?? -1))
    const one = newest.find(({ copy }) => copy?.coins.has(coin))
    return one ? [one] : candidates
  }

  /** The connected feeder with this name. */
  find(name: string): FeederSocket | undefined {
    const one = this.#greetedByName().get(name)
    return one?.state?.conflict === null ? one : undefined
  }

  /** Whether another feeder that passes `isAble` is sending blocks that continue the log. */
  hasOtherFlowing(but: FeederSocket, nowMs: number, isAble: (one: FeederSocket) => boolean): boolean {
    const isFlowing = ({ state, blockMs }: FeederSocket) =>
      state?.awaiting === null && nowMs - (blockMs ?? 0) < FLOWING_MS
    return this.#others(but).some((one) => isFlowing(one) && isAble(one))
  }

  /**
   * Whether another feeder that passes `isAble` may take the lead: it was active after `sinceMs`, or a feeder left
   * after `sinceMs` and may return. Always false if `but` is the leader.
   */
  mayArrive(but: FeederSocket, sinceMs: number, nowMs: number, isAble: (one: FeederSocket) => boolean): boolean {
    if (this.leader === but.name) return false
    if (this.#others(but).some((one) => one.heardMs >= sinceMs && isAble(one))) return true
    return departed(this.#list, this.#names(), nowMs).some(({ endedMs }) => endedMs !== null && endedMs >= sinceMs)
  }

  /** The snapshot that another feeder is sending; null if there is none. */
  incomingSeed(but: FeederSocket, nowMs: number): Pick<SeedIntake, 'scope' | 'height'> | null {
    const isIncoming = ({ seed, lastFrameMs }: FeederSocket) =>
      seed?.isSuperseded === false && nowMs - lastFrameMs < SEEDING_MS
    return this.#others(but).find(isIncoming)?.seed?.intake ?? null
  }

  /** Supersedes the snapshots of all other feeders and informs those feeders. */
  supersede(but: FeederSocket): void {
    for (const one of this.#sockets.values()) {
      if (one === but || one.seed?.isSuperseded !== false) continue
      one.seed.supersede()
      one.reject('part', 'the log is receiving the books of another feeder. Send these after the next block')
    }
  }

  broadcast(frame: GatewayFrame): void {
    for (const feeder of this.#sockets.values()) if (feeder.state) feeder.send(frame)
  }

  closeAll(code: number, reason: string, nowMs: number): void {
    for (const socket of [...this.#sockets.keys()]) {
      socket.close(code, reason)
      this.#onEnded(socket, nowMs, closeReason(code))
    }
  }
}
