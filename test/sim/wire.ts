// A WebSocket between two ends in virtual time. Invariants, as on the platform: frames of a direction arrive in order
// and completely until the connection ends; an end accepted for hibernation uses its object's handlers and must answer
// a close itself, any other uses events. Faults cut a wire with frames in flight, delay it, or mute it without notice.
// Only on an `unruly` wire are single frames lost, duplicated or swapped: both ends of the feed, and a hub's link to
// the log, must detect this.

import type { Schedule } from './schedule.ts'

const OPEN = 1
const CLOSING = 2
const CLOSED = 3

/** The object that has an end, as far as its wires know it. */
export interface EndOwner {
  readonly isAlive: boolean
  /** Runs `send` when all that was written before is durable, or at once where that does not matter. */
  gate(send: () => void): void
  /** Runs a handler of the object. */
  enter(run: () => unknown): void
}

/** What an object that accepted an end for hibernation hears. */
export interface SocketHandlers {
  webSocketMessage(socket: End, text: string): unknown
  webSocketClose(socket: End, code: number, reason: string, wasClean: boolean): unknown
  webSocketError(socket: End): unknown
}

interface Heard {
  readonly type: 'message' | 'close' | 'error'
  readonly data?: string
  readonly code?: number
  readonly reason?: string
}

/** Chances of one frame on an unruly wire. */
export interface Unruly {
  readonly lost: number
  readonly doubled: number
  readonly late: number
}

export class Wire {
  readonly ends: readonly [End, End]
  readonly schedule: Schedule
  /** Such as `log>hub 0`: who dialled whom. */
  label = ''
  isMute = false
  isCut = false
  heldUntilMs = 0
  unruly: (() => Unruly | null) | null = null
  /** Hears of each frame that comes. */
  arrived: ((text: string) => void) | null = null
  /** Of a frame on its way. */
  latencyMs: () => number

  constructor(schedule: Schedule, latencyMs: () => number) {
    this.schedule = schedule
    this.latencyMs = latencyMs
    const a = new End(this)
    const b = new End(this)
    a.peer = b
    b.peer = a
    this.ends = [a, b]
  }

  get isOpen(): boolean {
    return !this.isCut && this.ends.every(({ readyState }) => readyState === OPEN)
  }

  /** Nothing comes through any more, in either direction; much later both ends are told. */
  mute(forMs: number): void {
    this.isMute = true
    this.schedule.after(forMs, () => {
      this.isMute = false
      this.cut()
    })
  }

  /** Ends without a word: what is on its way is lost, and both ends are told some time later. */
  cut(): void {
    if (this.isCut) return
    this.isCut = true
    for (const end of this.ends) this.schedule.after(this.latencyMs(), () => end.broke())
  }
}

export class End {
  readyState = OPEN
  readonly wire: Wire
  peer!: End
  owner: EndOwner | null = null
  /** Set where the end was accepted for hibernation. */
  handlers: SocketHandlers | null = null
  #attachment: unknown = null
  readonly #listeners: { readonly type: string; readonly run: (event: Heard) => void }[] = []
  #early: (() => void)[] | null = []
  #arrivalMs = 0
  #hasHeardClose = false
  #hasBroken = false

  constructor(wire: Wire) {
    this.wire = wire
  }

  accept(): void {
    const early = this.#early ?? []
    this.#early = null
    for (const hear of early) hear()
  }

  addEventListener(type: string, run: (event: Heard) => void): void {
    this.#listeners.push({ type, run })
  }

  serializeAttachment(value: unknown): void {
    this.#attachment = structuredClone(value)
  }

  deserializeAttachment(): unknown {
    return this.#attachment
  }

  send(text: string): void {
    if (this.readyState !== OPEN) throw new TypeError("Can't call WebSocket send() after close().")
    this.#toPeer(() => this.peer.#hear({ type: 'message', data: text }), text)
  }

  close(code = 1005, reason = ''): void {
    if (this.readyState >= CLOSING) return
    this.readyState = this.#hasHeardClose ? CLOSED : CLOSING
    this.#toPeer(() => this.peer.#closed(code, reason), null)
  }

  /** The owner's memory is gone, and the socket with it. */
  died(): void {
    if (this.readyState === CLOSED) return
    this.readyState = CLOSED
    this.#hasBroken = true
    const { schedule, latencyMs } = this.wire
    schedule.at(Math.max(this.peer.#arrivalMs, schedule.nowMs + latencyMs()), () => this.peer.broke())
  }

  broke(): void {
    if (this.#hasBroken || this.wire.isMute) return
    this.#hasBroken = true
    if (this.readyState === CLOSED) return
    this.readyState = CLOSED
    this.#hear(this.wire.schedule.chance(0.5) ? { type: 'error' } : { type: 'close', code: 1006, reason: '' })
  }

  /** `text`: of a frame; null for a close. */
  #toPeer(arrive: () => void, text: string | null): void {
    const send = () => {
      const { wire, peer } = this
      const { schedule } = wire
      if (wire.isCut || wire.isMute) return
      const run = () => {
        if (wire.isCut || wire.isMute) return
        if (text !== null) wire.arrived?.(text)
        arrive()
      }
      // What is wanted is said once: whoever lost that with a frame, and not with the connection, would never hear of it.
      const fate = text !== null && !text.startsWith('{"type":"want"') ? (wire.unruly?.() ?? null) : null
      if (fate && schedule.chance(fate.lost)) return
      const soonMs = Math.max(schedule.nowMs + wire.latencyMs(), wire.heldUntilMs)
      if (fate && schedule.chance(fate.late)) {
        schedule.at(soonMs + schedule.between(1, 400), run)
        return
      }
      peer.#arrivalMs = Math.max(peer.#arrivalMs, soonMs)
      schedule.at(peer.#arrivalMs, run)
      if (fate && schedule.chance(fate.doubled)) schedule.at(peer.#arrivalMs + schedule.below(300), run)
    }
    if (this.owner) this.owner.gate(send)
    else send()
  }

  #closed(code: number, reason: string): void {
    this.#hasHeardClose = true
    if (this.readyState === CLOSED) return
    if (this.readyState === CLOSING) this.readyState = CLOSED
    this.#hear({ type: 'close', code, reason })
    if (!this.handlers) this.close(code, reason)
  }

  #hear(event: Heard): void {
    if (this.#early && !this.handlers) {
      this.#early.push(() => this.#hear(event))
      return
    }
    const { owner, handlers } = this
    if (owner && !owner.isAlive) return
    if (!handlers) {
      const tell = () => {
        for (const { type, run } of this.#listeners) if (type === event.type) run(event)
      }
      if (owner) owner.enter(tell)
      else tell()
      return
    }
    owner?.enter(() => {
      if (event.type === 'message') return handlers.webSocketMessage(this, event.data!)
      if (event.type === 'error') return handlers.webSocketError(this)
      return handlers.webSocketClose(this, event.code!, event.reason!, event.code !== 1006)
    })
  }
}
