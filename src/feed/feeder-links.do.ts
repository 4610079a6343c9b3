// The feeders' sockets: what each said of itself, the parts it is sending, and how it is answered.
// What a feeder said rests in the socket's attachment, so that a woken object still knows it.

import { type ChainState, conflictAtHello, type FeederState } from './chain.ts'
import { PartJoiner } from './parts.ts'
import type { BlockFrame, FeederFrame, GatewayFrame, SnapshotFrame } from './protocol.ts'

/** A feeder that falls silent amid a snapshot is waited for no longer than this. */
const SEEDING_MS = 5000

export class FeederSocket {
  readonly #socket: WebSocket
  readonly joiner = new PartJoiner<BlockFrame | SnapshotFrame>()
  /** Null before its hello. */
  state: FeederState | null
  /** When its last frame came. */
  seenMs = 0

  constructor(socket: WebSocket) {
    this.#socket = socket
    this.state = socket.deserializeAttachment() as FeederState | null
  }

  get name(): string {
    return this.state?.name ?? ''
  }

  send(frame: GatewayFrame): void {
    try {
      this.#socket.send(JSON.stringify(frame))
    } catch {
      // It is closing: what it was to hear it hears at its next hello. The others must not miss their turn.
    }
  }

  /** Answers a frame that was not applied; the socket lives on. */
  refuse(field: string, message: string): void {
    this.send({ type: 'error', field, message })
  }

  update(change: Partial<FeederState>): void {
    if (!this.state) return
    const isNoted = Object.entries(change).some(
      ([key, value]) => key !== 'head' && this.state?.[key as keyof FeederState] !== value,
    )
    this.state = { ...this.state, ...change }
    if (isNoted) this.#socket.serializeAttachment(this.state)
  }

  greet(hello: Extract<FeederFrame, { type: 'hello' }>, chain: ChainState): void {
    const { feeder, first, head } = hello
    this.state = { name: feeder, first, head, awaiting: null, conflict: null }
    this.#socket.serializeAttachment(this.state)
    const reason = conflictAtHello(chain, head)
    if (reason) return this.conflict(reason)
    this.send({ type: 'welcome', epoch: chain.booksKnown ? chain.epoch : null, height: chain.height, want: [] })
  }

  conflict(reason: string): void {
    this.update({ conflict: reason })
    this.send({ type: 'conflict', reason })
  }

  askAgain(from: number): void {
    this.update({ awaiting: from })
    this.send({ type: 'resend', from })
  }
}

export class FeederLinks {
  readonly #ctx: DurableObjectState
  readonly #sockets = new Map<WebSocket, FeederSocket>()
  #leader: FeederSocket | null = null

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx
    for (const socket of ctx.getWebSockets()) this.#sockets.set(socket, new FeederSocket(socket))
  }

  accept(socket: WebSocket): void {
    this.#ctx.acceptWebSocket(socket)
    this.#sockets.set(socket, new FeederSocket(socket))
  }

  of(socket: WebSocket): FeederSocket {
    const known = this.#sockets.get(socket) ?? new FeederSocket(socket)
    this.#sockets.set(socket, known)
    return known
  }

  /** Answers a close, without which the other side would wait ten seconds and see 1006. */
  drop(socket: WebSocket, code: number, reason: string): void {
    this.#sockets.delete(socket)
    // What one of the others was told to leave to this feeder may now be its own to send, or to declare gone.
    for (const other of this.#sockets.values()) other.update({ awaiting: null })
    if (code === 1005 || code === 1006) socket.close()
    else socket.close(code, reason)
  }

  /** Every feeder that has said hello, except `but`. */
  states(but?: FeederSocket): FeederState[] {
    return [...this.#sockets.values()].filter((one) => one !== but).flatMap((one) => one.state ?? [])
  }

  /** Notes whose block was taken last. */
  lead(feeder: FeederSocket): void {
    this.#leader = feeder
  }

  /** A feeder that can be asked for books: the one that leads, for those of another would come too late. */
  first(): FeederSocket | undefined {
    const able = [...this.#sockets.values()].filter((one) => one.state && one.state.conflict === null)
    return able.find((one) => one === this.#leader) ?? able[0]
  }

  /** True while another feeder is sending whole books of `height`: a next block would make them useless. */
  seeds(height: number | null, but: FeederSocket, nowMs: number): boolean {
    for (const one of this.#sockets.values()) {
      const begun = one.joiner.begun
      if (one === but || begun?.type !== 'snapshot' || begun.scope !== 'all') continue
      if (begun.height === height && nowMs - one.seenMs < SEEDING_MS) return true
    }
    return false
  }

  broadcast(frame: GatewayFrame): void {
    for (const feeder of this.#sockets.values()) if (feeder.state) feeder.send(frame)
  }

  closeAll(code: number, reason: string): void {
    for (const socket of this.#sockets.keys()) socket.close(code, reason)
    this.#sockets.clear()
  }
}
