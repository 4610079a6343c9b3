// The feeders' sockets: what each said of itself, the parts it is sending, and how it is answered.
// What a feeder said rests in the socket's attachment, so that a woken object still knows it; that one greeted or left
// is stored, a row each time. Nothing is stored for a pulse.

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

/** A feeder that falls silent amid a snapshot is waited for no longer than this. */
const SEEDING_MS = 5000
/** Blocks of a feeder come, if one came this lately. */
const FLOWING_MS = 2000

/** What a socket's attachment holds. */
interface SocketAttachment {
  readonly state: FeederState
  readonly heard: FeederActivity
}

export class FeederSocket {
  readonly #socket: WebSocket
  readonly joiner = new PartJoiner()
  /** The snapshot that it is sending. */
  seed: SeedRelay | null = null
  /** Null before its hello. */
  state: FeederState | null
  /** When its last frame came that was no pulse. */
  lastFrameMs = 0
  /** A frame of it was refused since its last block was taken. */
  wasRejected = false
  /** Height of the last block whose changes it did not know. */
  booksUnknownAt = -1
  /** The newest copy of a block that it has sent. */
  copy: CopySummary | null = null
  /** It has sent rows of orders. */
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

  /** As `/status` tells of it, null before its hello. */
  get view(): FeederView | null {
    return this.state && viewOf(this.state, this.#activity)
  }

  /** A frame came; what was said with it is kept. */
  recordActivity(now: Partial<FeederActivity> & { readonly heardMs: number }): void {
    this.#activity = { ...this.#activity, ...now }
    if (now.pulse) this.#saveAttachment()
  }

  send(frame: GatewayFrame): void {
    try {
      this.#socket.send(JSON.stringify(frame))
    } catch {
      // It is closing: what it was to hear it hears at its next hello. The others must not miss their turn.
    }
  }

  /** Answers a frame that was not applied; the socket lives on. */
  reject(field: string, message: string): void {
    this.wasRejected = true
    this.send({ type: 'error', field, message })
  }

  update(change: Partial<FeederState>): void {
    if (!this.state) return
    const isNoted = Object.entries(change).some(
      ([key, value]) => key !== 'head' && this.state?.[key as keyof FeederState] !== value,
    )
    this.state = { ...this.state, ...change }
    if (isNoted) this.#saveAttachment()
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

  /** Asks for a pause, once for each. */
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

/** Where the roster is kept. */
interface FeederListStore {
  feederList(): FeederList
  saveFeederList(list: FeederList): void
}

export class FeederLinks {
  readonly #ctx: DurableObjectState
  readonly #store: FeederListStore
  readonly #sockets = new Map<WebSocket, FeederSocket>()
  #list: FeederList
  /** Name of the feeder whose block was taken last, null since this object woke. */
  leader: string | null = null

  constructor(ctx: DurableObjectState, store: FeederListStore, nowMs: number) {
    this.#ctx = ctx
    this.#store = store
    for (const socket of ctx.getWebSockets()) this.#sockets.set(socket, new FeederSocket(socket))
    const before = store.feederList()
    this.#list = afterRestart(before, this.#names(), nowMs)
    // Stored, or who left with this restart would seem to leave with each later one, and be listed for ever.
    if (this.#list.some((view, place) => view !== before[place])) store.saveFeederList(this.#list)
  }

  /**
   * Those that have said hello, by name. Of two connections of one name the newer one counts: the older one may be dead
   * without a word, and must not be asked for anything, nor hold anything up.
   */
  #greetedByName(): Map<string, FeederSocket> {
    return new Map([...this.#sockets.values()].flatMap((one) => (one.state ? [[one.name, one]] : [])))
  }

  #names(): string[] {
    return [...this.#greetedByName().keys()]
  }

  /** Whose frames count beside those of `but`. */
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

  /** Does nothing where the connection has ended meanwhile. */
  greet(feeder: FeederSocket, hello: Hello, chain: ChainState, nowMs: number): void {
    if (![...this.#sockets.values()].includes(feeder)) return
    feeder.greet(hello, chain, nowMs)
    this.#saveInList(feeder.view)
  }

  /** Those that are connected, then those that left. */
  views(nowMs: number): FeederView[] {
    const connected = [...this.#greetedByName().values()].flatMap((one) => one.view ?? [])
    return [...connected, ...departed(this.#list, this.#names(), nowMs)]
  }

  #onEnded(socket: WebSocket, nowMs: number, why: string): void {
    const view = this.#sockets.get(socket)?.view
    this.#sockets.delete(socket)
    // One of the same name that came back before its old connection was given up is not gone.
    if (view && !this.#names().includes(view.name)) this.#saveInList(asEnded(view, nowMs, why))
  }

  /** Answers a close, without which the other side would wait ten seconds and see 1006. */
  onClose(socket: WebSocket, code: number, reason: string, nowMs: number): void {
    this.#onEnded(socket, nowMs, closeReason(code))
    // What one of the others was told to leave to this feeder may now be its own to send, or to declare gone.
    for (const other of this.#sockets.values()) other.update({ awaiting: null })
    if (code === 1005 || code === 1006) socket.close()
    else socket.close(code, reason)
  }

  /** The other feeders of which something was heard lately: what they can send is left to them. */
  activeOthers(but: FeederSocket, nowMs: number): FeederState[] {
    return this.#others(but)
      .filter(({ heardMs }) => nowMs - heardMs < SILENT_MS)
      .flatMap((one) => one.state ?? [])
  }

  /** A feeder that can be asked for books: the one that leads, for those of another would come too late. */
  preferred(): FeederSocket | undefined {
    const able = [...this.#greetedByName().values()].filter((one) => one.state?.conflict === null)
    return able.find(({ name }) => name === this.leader) ?? able[0]
  }

  /** Whom to ask for the orders of a coin: who sends its rows, all where that one has left. */
  rowSenders(coin: Coin): FeederSocket[] {
    const able = [...this.#greetedByName().values()].filter((one) => one.state?.conflict === null)
    const newest = able.sort((a, b) => (b.copy?.height ?? -1) - (a.copy?.height ?? -1))
    const one = newest.find(({ copy }) => copy?.coins.has(coin))
    return one ? [one] : able
  }

  /** The connected feeder of a name. */
  find(name: string): FeederSocket | undefined {
    const one = this.#greetedByName().get(name)
    return one?.state?.conflict === null ? one : undefined
  }

  /** True where blocks that continue the log come from another feeder that `isAble`. */
  hasOtherFlowing(but: FeederSocket, nowMs: number, isAble: (one: FeederSocket) => boolean): boolean {
    const isFlowing = ({ state, blockMs }: FeederSocket) =>
      state?.awaiting === null && nowMs - (blockMs ?? 0) < FLOWING_MS
    return this.#others(but).some((one) => isFlowing(one) && isAble(one))
  }

  /** True where another feeder that `isAble` was heard, or left, since a time: unless this one leads, it may lead on. */
  mayArrive(but: FeederSocket, sinceMs: number, nowMs: number, isAble: (one: FeederSocket) => boolean): boolean {
    if (this.leader === but.name) return false
    if (this.#others(but).some((one) => one.heardMs >= sinceMs && isAble(one))) return true
    return departed(this.#list, this.#names(), nowMs).some(({ endedMs }) => endedMs !== null && endedMs >= sinceMs)
  }

  /** The whole books that another feeder is sending, as long as they come; null where none does. */
  incomingSeed(but: FeederSocket, nowMs: number): Pick<SeedIntake, 'scope' | 'height'> | null {
    const isComing = ({ seed, lastFrameMs }: FeederSocket) =>
      seed?.isSuperseded === false && nowMs - lastFrameMs < SEEDING_MS
    return this.#others(but).find(isComing)?.seed?.intake ?? null
  }

  /** Other whole books that were on their way are of no use any more, and whoever sends them is told. */
  supersede(but: FeederSocket): void {
    for (const one of this.#sockets.values()) {
      if (one === but || one.seed?.isSuperseded !== false) continue
      one.seed.supersede()
      one.reject('part', 'whole books of another feeder are taken: send these after the next block')
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
