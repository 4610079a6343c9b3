// One WebSocket to a gateway that stays: pings, notices a dead socket, reconnects with backoff and
// subscribes every body again. A listener hears `live` when its body is acknowledged on the present
// socket and `lost` when that socket ended; between the two it sees every frame of its body in order. Of what a gateway
// tells again after an interruption (WS-23) `lost` says that something is missing, and nothing else does.

import { backoffMs } from '../core/backoff.ts'
import {
  type ConnectionOptions,
  type ConnectionState,
  FATAL_CODES,
  FATAL_STATUSES,
  LIMITS,
  RETRY,
} from './connection-options.ts'
import { type Entry, hearersOf, type Listener, left, missed, newEntry, refusedOf } from './entries.ts'
import { Proofs } from './proofs.ts'
import {
  type ClientRuntime,
  type ClientSocket,
  describeEnd,
  type Endpoint,
  type SocketEnd,
  streamUrl,
} from './runtime.ts'
import { SeenFrames } from './seen-frames.ts'
import { type DataFrame, decodeFrame, type KnownFrame, typeOfFrames } from './server-frame.ts'
import { bodyKey, resumes, type SubscriptionBody } from './subscription.ts'

export class Connection {
  readonly #runtime: ClientRuntime
  readonly #options: ConnectionOptions
  readonly #entries = new Map<string, Entry>()
  #socket: ClientSocket | null = null
  /** Counts sockets: a handler of an earlier one is ignored. */
  #run = 0
  #attempt = 0
  #open = false
  #ended = false
  #openedAt = 0
  #lastFrameAt = 0
  #proofs = new Proofs()
  readonly #seen = new SeenFrames()
  /** First block that the next socket has to tell again. */
  #fromBlock: number | undefined
  #stopTimers: (() => void)[] = []

  constructor(runtime: ClientRuntime, options: ConnectionOptions) {
    this.#runtime = runtime
    this.#options = options
  }

  /** Connects, and keeps connecting until `close` or a refusal that no retry can mend. */
  start(): void {
    this.#connect()
  }

  /** Where HTTP questions of this client go at present; null while unknown. */
  endpoint(): Endpoint | null {
    return this.#options.endpoint()
  }

  /** Adds a body, now and after every reconnect; the answer takes it away. A body can be added once at a time. */
  subscribe(body: SubscriptionBody, listener: Listener): () => void {
    const key = bodyKey(body)
    if (this.#entries.has(key)) throw new Error(`already subscribed: ${key}`)
    const entry = newEntry(body, listener)
    if (![...this.#entries.values()].some((one) => one.body.type === body.type)) this.#seen.forget(new Set([body.type]))
    this.#entries.set(key, entry)
    if (this.#open) this.#askMore()
    return () => this.#unsubscribe(key, entry)
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
    this.#proofs = new Proofs()
    this.#options.onState?.({ state: 'open' })
    this.#schedulePing()
    this.#scheduleWatch(this.#deadMs())
    this.#askMore()
  }

  /** Asks for bodies in their order, as far as more may wait. */
  #askMore(): void {
    let waiting = 0
    for (const [key, entry] of this.#entries) {
      if (entry.acked) continue
      waiting += key.length
      if (waiting > Math.max(LIMITS.waitingChars, key.length)) return
      if (!entry.asked) this.#ask(entry)
    }
  }

  #ask(entry: Entry): void {
    entry.asked = true
    const fromBlock = entry.resumes ? this.#fromBlock : undefined
    this.#send({ method: 'subscribe', subscription: entry.body, fromBlock })
    entry.stopAckTimer()
    const ackMs = entry.body.type === 'l2BookDiff' ? LIMITS.turnMs : LIMITS.ackMs
    entry.stopAckTimer = this.#runtime.after(ackMs, () => this.#dropSocket(`no answer to subscribe ${entry.body.type}`))
  }

  #unsubscribe(key: string, entry: Entry): void {
    if (this.#entries.get(key) !== entry) return
    entry.stopAckTimer()
    this.#entries.delete(key)
    if (this.#open && entry.asked) this.#send({ method: 'unsubscribe', subscription: entry.body })
    if (this.#open) this.#askMore()
  }

  #text(text: string): void {
    this.#lastFrameAt = this.#runtime.now()
    this.#proofs.came(text.length)
    const decoded = decodeFrame(text)
    if (decoded.kind === 'malformed') this.#dropSocket(decoded.reason)
    else if (decoded.kind === 'frame') this.#frame(decoded.frame, text)
    if (this.#open && this.#proofs.isDue) this.#ping()
  }

  #frame(frame: KnownFrame, text: string): void {
    switch (frame.channel) {
      case 'pong':
        this.#proofs.ponged(frame.nonce)
        if (frame.block_height !== undefined) this.#complete(frame.block_height)
        else this.#askHeight()
        return
      case 'subscriptionResponse':
        if (frame.data.method === 'subscribe') this.#acknowledged(frame.data.subscription as SubscriptionBody)
        return
      case 'notification':
        // Those of the gateway look the same.
        this.#hear(frame, text)
        this.#options.onNotice?.(frame.data.notification, null)
        return
      case 'error':
        this.#refusal(frame.data, frame.code)
        return
      default:
        this.#hear(frame, text)
    }
  }

  #hear(frame: DataFrame, text: string): void {
    const type = typeOfFrames(frame.channel)!
    if (resumes(type) && !this.#seen.take(type, text)) return
    for (const { listener } of hearersOf(this.#entries.values(), frame)) listener.frame(frame)
  }

  /** A height tells nothing of bodies that this socket does not have again yet. */
  #complete(height: number): void {
    const entries = [...this.#entries.values()]
    if (entries.some((entry) => entry.resumes)) return
    this.#seen.complete(height)
    for (const entry of entries) entry.isKnown = entry.acked
  }

  #acknowledged(body: SubscriptionBody): void {
    const entry = this.#entries.get(bodyKey(body))
    if (!entry || entry.acked) return
    entry.stopAckTimer()
    entry.acked = true
    this.#askMore()
    entry.resumes = false
    entry.listener.live()
    // From its pong on it is known what is seen.
    if (resumes(body.type) && this.#proofs.isPonged) this.#ping()
  }

  #refusal(text: string, code: string | undefined): void {
    if (code === 'gap' || code === 'replay_unavailable') this.#seen.forget(missed(this.#entries.values(), text))
    // Of a body that was given up while it was asked for, and may be asked for anew since.
    if (text.startsWith('Already unsubscribed')) return
    const [key, entry] = refusedOf(this.#entries, text)
    if (!entry || code === 'replay_unavailable') {
      this.#options.onNotice?.(text, code ?? null)
      return
    }
    if (text.startsWith('Already subscribed')) {
      this.#acknowledged(entry.body)
      return
    }
    entry.stopAckTimer()
    if (code && LIMITS.passingCodes.has(code)) {
      entry.stopAckTimer = this.#runtime.after(backoffMs(RETRY, 3, this.#runtime.random()) + 200, () =>
        this.#ask(entry),
      )
      return
    }
    this.#entries.delete(key)
    this.#askMore()
    entry.listener.refused(text)
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
    this.#fromBlock = this.#ended ? undefined : this.#seen.resume()
    this.#seen.forget(left(this.#entries.values(), this.#fromBlock !== undefined, reason))
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

  #ping(): void {
    this.#send(this.#proofs.ping())
  }

  /** The sooner it is known what was seen, the less an interruption can cost. */
  #askHeight(): void {
    const isOpen = ({ acked, isKnown, body }: Entry) => acked && !isKnown && resumes(body.type)
    const isOld = this.#runtime.now() - this.#openedAt > LIMITS.heightsMs
    if (isOld || ![...this.#entries.values()].some(isOpen)) return
    this.#stopTimers[2]?.()
    this.#stopTimers[2] = this.#runtime.after(LIMITS.heightMs, () => this.#ping())
  }

  #schedulePing(): void {
    const stop = this.#runtime.after(this.#options.pingMs ?? LIMITS.pingMs, () => {
      this.#ping()
      this.#schedulePing()
    })
    this.#stopTimers[0] = stop
  }

  #scheduleWatch(inMs: number): void {
    this.#stopTimers[1] = this.#runtime.after(inMs, () => {
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
  }

  #send(message: object): void {
    this.#socket?.send(JSON.stringify(message))
  }
}
