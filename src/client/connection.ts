// One WebSocket to a gateway that stays: pings, notices a dead socket, reconnects with backoff and
// subscribes every body again. A listener hears `live` when its body is acknowledged on the present
// socket and `lost` when that socket ended; between the two it sees every frame of its body in order. Of what a gateway
// tells again after an interruption (WS-23) `lost` says that something is missing, and nothing else does.

import { backoffMs } from '../core/backoff.ts'
import { resumes, typeOfFrames } from './channels.ts'
import type { ConnectionOptions, ConnectionState } from './connection-options.ts'
import { FATAL_CODES, FATAL_STATUSES, LIMITS, RETRY } from './connection-options.ts'
import { type Entry, isAnyUnknown, type Listener, left, missed, newEntry, refusedOf, toAsk } from './entries.ts'
import { Hearers } from './hearers.ts'
import { Leavings } from './leavings.ts'
import { Proofs } from './proofs.ts'
import type { ClientRuntime, ClientSocket, Endpoint, SocketEnd } from './runtime.ts'
import { describeEnd, streamUrl } from './runtime.ts'
import { SeenFrames } from './seen-frames.ts'
import { type DataFrame, decodeFrame, type KnownFrame } from './server-frame.ts'
import { bodyKey, type SubscriptionBody } from './subscription.ts'

export class Connection {
  readonly #runtime: ClientRuntime
  readonly #options: ConnectionOptions
  readonly #entries = new Map<string, Entry>()
  readonly #hearers = new Hearers()
  #socket: ClientSocket | null = null
  /** Counts sockets: a handler of an earlier one is ignored. */
  #run = 0
  #attempt = 0
  #open = false
  #ended = false
  #openedAt = 0
  #lastFrameAt = 0
  #proofs: Proofs
  readonly #leavings: Leavings
  readonly #seen = new SeenFrames()
  /** First block that the next socket has to tell again. */
  #fromBlock: number | undefined
  #stopTimers: (() => void)[] = []

  constructor(runtime: ClientRuntime, options: ConnectionOptions) {
    this.#runtime = runtime
    this.#options = options
    this.#proofs = this.#newProofs()
    const after = runtime.after.bind(runtime)
    const ask = (entry: Entry) => this.#ask(entry)
    this.#leavings = new Leavings(after, this.#entries, ask, (message) => this.#send(message))
  }

  /** Connects, and keeps connecting until `close` or a refusal that no retry can mend. */
  start(): void {
    this.#connect()
  }

  /** Where HTTP questions of this client go at present; null while unknown. */
  endpoint(): Endpoint | null {
    return this.#options.endpoint()
  }

  /** True where this body, or one that says the same, is there. */
  has(body: SubscriptionBody): boolean {
    return this.#entries.has(bodyKey(body))
  }

  /** Adds a body, now and after every reconnect; the answer takes it away. A body can be added once at a time. */
  subscribe(body: SubscriptionBody, listener: Listener, fromBlock?: number): () => void {
    const key = bodyKey(body)
    if (this.#entries.has(key)) throw new Error(`already subscribed: ${key}`)
    const entry = newEntry(body, listener, fromBlock)
    if (!this.#hearers.has(body.type)) this.#seen.forget(new Set([body.type]))
    this.#entries.set(key, entry)
    this.#hearers.add(entry)
    if (this.#open) this.#askMore()
    return () => this.#unsubscribe(key, entry)
  }

  /** Up to where all of a body was heard; null while that is not known. */
  heightOf(body: SubscriptionBody): number | null {
    return this.#entries.get(bodyKey(body))?.isKnown ? this.#seen.height : null
  }

  /** Ends the socket and asks for nothing any more. */
  close(): void {
    this.#finish({ state: 'closed' })
  }

  #connect(): void {
    const endpoint = this.#options.endpoint()
    const run = ++this.#run
    if (!endpoint) {
      this.#retry('no gateway is known yet')
      return
    }
    this.#options.onState?.({ state: 'connecting', attempt: this.#attempt })
    this.#socket = this.#runtime.open(streamUrl(endpoint), {
      opened: () => run === this.#run && this.#opened(),
      text: (frame) => run === this.#run && this.#text(frame),
      ended: (end) => run === this.#run && this.#lost(end),
    })
    this.#stopTimers = [this.#runtime.after(LIMITS.connectMs, () => this.#dropSocket('no connection in time'))]
  }

  #opened(): void {
    this.#clearTimers()
    this.#open = true
    this.#openedAt = this.#lastFrameAt = this.#runtime.now()
    this.#proofs = this.#newProofs()
    this.#options.onState?.({ state: 'open' })
    this.#proofs.every(this.#options.pingMs ?? LIMITS.pingMs)
    this.#scheduleWatch(this.#deadMs())
    this.#askMore()
  }

  #askMore(): void {
    for (const entry of toAsk(this.#entries)) this.#ask(entry)
  }

  #ask(entry: Entry): void {
    entry.asked = true
    const fromBlock = entry.resumes ? this.#fromBlock : entry.fromBlock
    this.#send({ method: 'subscribe', subscription: entry.body, fromBlock })
    entry.stopAckTimer()
    const ackMs = entry.body.type === 'l2BookDiff' ? LIMITS.turnMs : LIMITS.ackMs
    entry.stopAckTimer = this.#runtime.after(ackMs, () => this.#dropSocket(`no answer to subscribe ${entry.body.type}`))
  }

  #unsubscribe(key: string, entry: Entry): void {
    if (this.#entries.get(key) !== entry) return
    entry.stopAckTimer()
    this.#entries.delete(key)
    this.#hearers.remove(entry)
    if (!this.#open) return
    if (entry.asked) this.#leavings.leave(key, entry.body)
    this.#askMore()
  }

  #text(text: string): void {
    this.#lastFrameAt = this.#runtime.now()
    this.#proofs.came(text.length)
    const decoded = decodeFrame(text)
    if (decoded.kind === 'malformed') this.#dropSocket(decoded.reason)
    else if (decoded.kind === 'frame') this.#frame(decoded.frame, text)
    if (this.#open) this.#proofs.prove()
  }

  #frame(frame: KnownFrame, text: string): void {
    switch (frame.channel) {
      case 'pong':
        this.#proofs.ponged(frame.nonce)
        if (frame.block_height !== undefined) this.#complete(frame.block_height)
        else this.#askHeight()
        return
      case 'subscriptionResponse':
        this.#answered(frame.data.method, bodyKey(frame.data.subscription as SubscriptionBody))
        return
      case 'notification':
        // Those of the gateway look the same.
        this.#hear(frame, text)
        this.#options.onNotice?.(frame.data.notification, null)
        return
      case 'error':
        this.#refusal(frame.data, frame.code)
        return
      case 'replay':
        // Of a body that is played (played-books.ts), which is none of these.
        return
      default:
        this.#hear(frame, text)
    }
  }

  #hear(frame: DataFrame, text: string): void {
    const type = typeOfFrames(frame.channel)!
    if (resumes(type) && !this.#seen.take(type, text)) return
    for (const { listener } of this.#hearers.of(frame)) listener.frame(frame)
  }

  /** A height tells nothing of bodies that this socket does not have again yet. */
  #complete(height: number): void {
    const entries = [...this.#entries.values()]
    if (entries.some((entry) => entry.resumes)) return
    this.#seen.complete(height)
    for (const entry of entries) entry.isKnown = entry.acked
  }

  #answered(method: 'subscribe' | 'unsubscribe', key: string): void {
    if (method === 'unsubscribe') return this.#leavings.answered(key)
    const entry = this.#entries.get(key)
    if (!entry || entry.acked || this.#leavings.has(key)) return
    entry.stopAckTimer()
    entry.acked = true
    entry.fromBlock = undefined
    this.#askMore()
    entry.resumes = false
    entry.listener.live()
    // From its pong on it is known what is seen.
    if (resumes(entry.body.type) && this.#proofs.isPonged) this.#proofs.ping()
  }

  #refusal(text: string, code: string | undefined): void {
    if (code === 'gap' || code === 'replay_unavailable') this.#seen.forget(missed(this.#entries.values(), text))
    const [key, entry] = refusedOf(this.#entries, text)
    if (text.startsWith('Already unsubscribed')) return this.#answered('unsubscribe', key)
    const isHeld = entry !== undefined && text.startsWith('Already subscribed')
    if (isHeld) this.#leavings.held(key)
    if (this.#leavings.has(key)) return
    if (!entry || code === 'replay_unavailable') {
      if (code === 'rate_limited') for (const one of [this.#proofs, this.#leavings]) one.refused()
      this.#options.onNotice?.(text, code ?? null)
      return
    }
    if (isHeld) return this.#answered('subscribe', key)
    entry.stopAckTimer()
    if (code && LIMITS.passingCodes.has(code)) {
      entry.stopAckTimer = this.#runtime.after(backoffMs(RETRY, 3, this.#runtime.random()) + 200, () =>
        this.#ask(entry),
      )
      return
    }
    this.#entries.delete(key)
    this.#hearers.remove(entry)
    this.#askMore()
    entry.listener.refused(text, code)
  }

  #lost(end: SocketEnd): void {
    const reason = describeEnd(end)
    this.#leaveSocket(reason)
    if (this.#ended) return
    const fatal = (end.status && FATAL_STATUSES[end.status]) || (end.code && FATAL_CODES[end.code])
    if (fatal) this.#finish({ state: 'fatal', reason: end.reason || fatal, status: end.status ?? end.code ?? 0 })
    else this.#retry(reason)
  }

  #retry(reason: string): void {
    const retryMs = backoffMs(RETRY, this.#attempt++, this.#runtime.random())
    this.#options.onState?.({ state: 'waiting', retryMs, reason })
    this.#stopTimers = [this.#runtime.after(retryMs, () => this.#connect())]
  }

  /** Drops the present socket as dead and goes on as if it had ended by itself. */
  #dropSocket(reason: string): void {
    const socket = this.#socket
    this.#run++
    this.#lost({ status: null, code: null, reason })
    socket?.drop()
  }

  #leaveSocket(reason: string): void {
    this.#clearTimers()
    if (this.#open && this.#runtime.now() - this.#openedAt >= LIMITS.steadyMs) this.#attempt = 0
    this.#open = false
    this.#socket = null
    const next = this.#seen.resume()
    this.#fromBlock = this.#ended ? undefined : next
    this.#seen.forget(left(this.#entries.values(), this.#fromBlock !== undefined, reason, next))
  }

  #finish(state: ConnectionState): void {
    if (this.#ended) return
    this.#ended = true
    this.#run++
    const socket = this.#socket
    this.#leaveSocket(state.state === 'fatal' ? state.reason : 'closed')
    socket?.drop()
    this.#options.onState?.(state)
  }

  #newProofs(): Proofs {
    return new Proofs(this.#runtime.after.bind(this.#runtime), (ping) => this.#send(ping))
  }

  /** The sooner it is known what was seen, the less an interruption can cost. */
  #askHeight(): void {
    const isOld = this.#runtime.now() - this.#openedAt > LIMITS.heightsMs
    if (!isOld && isAnyUnknown(this.#entries.values())) this.#proofs.pingAgain()
  }

  #scheduleWatch(inMs: number): void {
    this.#stopTimers[0] = this.#runtime.after(inMs, () => {
      const left = this.#deadMs() - (this.#runtime.now() - this.#lastFrameAt)
      if (left <= 0) this.#dropSocket(`no frame for ${this.#deadMs() / 1000} s`)
      else this.#scheduleWatch(left)
    })
  }

  #deadMs(): number {
    return this.#options.deadMs ?? LIMITS.deadMs
  }

  #clearTimers(): void {
    for (const stop of this.#stopTimers) stop()
    this.#stopTimers = []
    this.#proofs.stop()
    this.#leavings.stop()
  }

  #send(message: object): void {
    this.#socket?.send(JSON.stringify(message))
  }
}
