// A permanent WebSocket connection to a gateway. It sends pings, detects a dead socket, reconnects with backoff and
// subscribes to every body again. This is one file, because every message and every timer changes the same session and
// subscriptions. A listener gets `live` when its body is acknowledged on the current socket, then every frame of the
// body in order. It gets `lost` when that socket ends, unless the gateway can resend the missed events on the next
// socket (WS-23).
//
//   idle ──start──▶ connecting ──opened──▶ open
//                    ▲      │               │
//                    │      └──── lost ─────┤
//                  timer                    ▼
//                    └────────────────── waiting        any ──close or fatal rejection──▶ ended

import { backoffMs } from '../core/backoff.ts'
import type { ConnectionStatus } from './api.ts'
import { canResume, typeOfFrame } from './channels.ts'
import type { ConnectionOptions, ConnectRefusal } from './connection-options.ts'
import { FATAL_CODES, FATAL_STATUSES, LIMITS, RETRY } from './connection-options.ts'
import { filterOf, ListenerIndex, type SubscriptionFilter } from './listener-index.ts'
import { Patience } from './patience.ts'
import { ReadReceipts } from './read-receipts.ts'
import type { ClientRuntime, ClientSocket, Endpoint, SocketEnd } from './runtime.ts'
import { describeEnd, streamUrl } from './runtime.ts'
import { SeenFrames } from './seen-frames.ts'
import { type DataFrame, decodeFrame, type KnownFrame, type ReplayEvent } from './server-frame.ts'
import { bodyKey, embeddedBody, embeddedKey, type ReplayRange, type SubscriptionBody } from './subscription.ts'

export interface Listener {
  /** The body is acknowledged on this socket. After `lost`, the data does not continue the earlier data. */
  live?(): void
  /** Events are missing. `from`: the first block that may be missing, if known. */
  lost?(reason: string, from?: number): void
  /**
   * A frame of this body. It may also belong to another body of the channel that cannot be distinguished
   * (listener-index.ts).
   */
  frame(frame: DataFrame): void
  /** The gateway rejected this body, which is not requested again. */
  refused(reason: string, code?: string): void
  /** Progress of a replayed body: a pause, a gap or the end. */
  replay?(event: ReplayEvent): void
}

/** Where a body starts: at a block that the gateway still has, or as a replay. A replay ends when its socket ends. */
export interface SubscribeStart {
  readonly fromBlock?: number | undefined
  readonly replay?: ReplayRange | undefined
}

/** One subscription, which outlives sockets. */
interface SubscriptionEntry {
  readonly key: string
  readonly body: SubscriptionBody
  /** Null if this client does not know the channel. */
  readonly filter: SubscriptionFilter | null
  readonly listener: Listener
  readonly replay: ReplayRange | undefined
  phase: 'queued' | 'requested' | 'live'
  /** Whether the subscription was live on the previous socket and continues where that socket ended. */
  isResuming: boolean
  /** Whether a pong has confirmed a height since the subscription started or last missed events. */
  isKnown: boolean
  /** The first block to request, until the body is acknowledged. */
  fromBlock: number | undefined
  stopAckTimer: () => void
}

interface OpenSession {
  readonly state: 'open'
  readonly socket: ClientSocket
  readonly openedAt: number
  readonly receipts: ReadReceipts
  /**
   * Unsubscribe messages that are sent but not acknowledged, by key. The protocol matches replies by the body's JSON,
   * so a new subscription to the same body must ignore replies that belong to the earlier one.
   */
  readonly pendingUnsubscribes: Map<string, { readonly body: SubscriptionBody; times: number }>
  lastFrameAt: number
  stopWatch: () => void
  stopResend: (() => void) | null
}

type Session =
  | { readonly state: 'idle' | 'ended'; readonly socket: null }
  | { readonly state: 'connecting'; readonly socket: ClientSocket | null; readonly stop: () => void }
  | { readonly state: 'waiting'; readonly socket: null; readonly stop: () => void }
  | OpenSession

const IDLE: Session = { state: 'idle', socket: null }
const ENDED: Session = { state: 'ended', socket: null }

export class Connection {
  readonly #runtime: ClientRuntime
  readonly #options: ConnectionOptions
  readonly #entries = new Map<string, SubscriptionEntry>()
  readonly #index = new ListenerIndex<SubscriptionEntry>()
  readonly #seen = new SeenFrames()
  readonly #patience = new Patience()
  readonly #deadMs: number
  #session: Session = IDLE
  #attempt = 0
  /** The first block that the next socket must resend. */
  #fromBlock: number | undefined

  constructor(runtime: ClientRuntime, options: ConnectionOptions) {
    this.#runtime = runtime
    this.#options = options
    this.#deadMs = options.deadMs ?? LIMITS.deadMs
  }

  /** Connects now. Reconnects until `close` or a fatal rejection. */
  start(): void {
    if (this.#session.state === 'waiting') this.#session.stop()
    if (this.#session.state === 'waiting' || this.#session.state === 'idle') this.#connect()
  }

  /** The endpoint for HTTP requests; null while it is unknown. */
  endpoint(): Endpoint | null {
    return this.#options.endpoint()
  }

  get isOpen(): boolean {
    return this.#session.state === 'open'
  }

  /** Whether this body or an equivalent one is subscribed. */
  has(body: SubscriptionBody): boolean {
    return this.#entries.has(bodyKey(body))
  }

  /**
   * Subscribes to a body now and after every reconnect. A body can be subscribed only once at a time. Returns a
   * function that unsubscribes.
   */
  subscribe(body: SubscriptionBody, listener: Listener, { fromBlock, replay }: SubscribeStart = {}): () => void {
    const key = bodyKey(body)
    if (this.#entries.has(key)) throw new Error(`already subscribed: ${key}`)
    const entry: SubscriptionEntry = {
      key,
      body,
      filter: filterOf(body),
      listener,
      replay,
      phase: 'queued',
      isResuming: false,
      isKnown: false,
      fromBlock,
      stopAckTimer: () => {},
    }
    if (!this.#index.has(body.type)) this.#seen.forget(new Set([body.type]))
    this.#entries.set(key, entry)
    this.#index.add(entry)
    this.#requestQueued()
    return () => this.#unsubscribe(entry)
  }

  /** Pauses, resumes or seeks a replay. */
  controlReplay(body: SubscriptionBody, action: 'pause' | 'resume' | 'seek', to: object = {}): void {
    this.#send({ method: 'replay', action, subscription: body, ...to })
  }

  /** The height up to which all events of a body have arrived; null while unknown. */
  heightOf(body: SubscriptionBody): number | null {
    return this.#entries.get(bodyKey(body))?.isKnown ? this.#seen.height : null
  }

  /** Treats the current socket as dead and reconnects. */
  interrupt(reason: string): void {
    const { socket } = this.#session
    if (socket) this.#onEnd({ status: null, code: null, reason })
    socket?.drop()
  }

  /** Closes the connection permanently. */
  close(): void {
    this.#finish({ state: 'closed' })
  }

  #connect(): void {
    const { admit } = this.#options
    if (!admit) return this.#dial(null)
    const waiting: Session = { state: 'connecting', socket: null, stop: () => {} }
    this.#session = waiting
    this.#notifyState({ state: 'connecting', attempt: this.#attempt })
    void admit().then((refusal) => this.#session === waiting && this.#dial(refusal))
  }

  #dial(refusal: ConnectRefusal | null): void {
    if (refusal?.retryMs === null) {
      this.#session = IDLE
      return this.#notifyState({ state: 'fatal', reason: refusal.reason, status: 0 })
    }
    const endpoint = refusal ? null : this.#options.endpoint()
    if (!endpoint) return this.#retry(refusal?.reason ?? 'the gateway address is not known yet', refusal?.retryMs)
    if (this.#session.state !== 'connecting') this.#notifyState({ state: 'connecting', attempt: this.#attempt })
    const isPresent = () => this.#session.socket === socket
    const socket = this.#runtime.open(streamUrl(endpoint), {
      onOpen: () => isPresent() && this.#onOpen(socket),
      onText: (text) => isPresent() && this.#onText(text),
      onEnd: (end) => isPresent() && this.#onEnd(end),
    })
    const stop = this.#limit(this.#patience.ms(LIMITS.connectMs), 'the connection timed out')
    this.#session = { state: 'connecting', socket, stop }
  }

  #onOpen(socket: ClientSocket): void {
    if (this.#session.state === 'connecting') this.#session.stop()
    const nowMs = this.#runtime.now()
    const session: OpenSession = {
      state: 'open',
      socket,
      openedAt: nowMs,
      receipts: new ReadReceipts(this.#runtime.after.bind(this.#runtime), (ping) => this.#send(ping)),
      pendingUnsubscribes: new Map(),
      lastFrameAt: nowMs,
      stopWatch: () => {},
      stopResend: null,
    }
    this.#session = session
    this.#notifyState({ state: 'open' })
    session.receipts.start(this.#options.pingMs ?? LIMITS.pingMs)
    this.#watch(session, this.#deadMs)
    this.#requestQueued()
  }

  #watch(session: OpenSession, delayMs: number): void {
    session.stopWatch = this.#runtime.after(delayMs, () => {
      const leftMs = this.#deadMs - (this.#runtime.now() - session.lastFrameAt)
      if (leftMs <= 0) this.interrupt(`no frame for ${this.#deadMs / 1000} s`)
      else this.#watch(session, leftMs)
    })
  }

  /** Requests queued bodies in order until the limit of waiting bodies is reached. */
  #requestQueued(): void {
    if (this.#session.state !== 'open') return
    let waitingChars = 0
    for (const entry of [...this.#entries.values()]) {
      if (entry.phase === 'live') continue
      waitingChars += entry.key.length
      if (waitingChars > Math.max(LIMITS.waitingChars, entry.key.length)) return
      if (entry.phase === 'queued') this.#request(entry)
    }
  }

  #request(entry: SubscriptionEntry): void {
    const { body, replay } = entry
    entry.phase = 'requested'
    const fromBlock = entry.isResuming ? this.#fromBlock : entry.fromBlock
    this.#send({ method: 'subscribe', subscription: body, fromBlock, replay })
    entry.stopAckTimer()
    // A replay has no timeout, because a replay of recent blocks waits until they are archived.
    if (replay) return
    const ackMs = body.type === 'l2BookDiff' ? LIMITS.turnMs : this.#patience.ms(LIMITS.ackMs)
    entry.stopAckTimer = this.#limit(ackMs, `no response to subscribe ${body.type}`)
  }

  /** Interrupts the socket unless the result is called in time. */
  #limit(ms: number, reason: string): () => void {
    return this.#runtime.after(ms, () => {
      this.#patience.onTimeout()
      this.interrupt(reason)
    })
  }

  #unsubscribe(entry: SubscriptionEntry): void {
    if (this.#entries.get(entry.key) !== entry) return
    this.#remove(entry)
    const session = this.#session
    if (session.state !== 'open') return
    if (entry.phase !== 'queued') {
      const times = (session.pendingUnsubscribes.get(entry.key)?.times ?? 0) + 1
      session.pendingUnsubscribes.set(entry.key, { body: entry.body, times })
      this.#send({ method: 'unsubscribe', subscription: entry.body })
    }
    this.#requestQueued()
  }

  #remove(entry: SubscriptionEntry): void {
    entry.stopAckTimer()
    this.#entries.delete(entry.key)
    this.#index.remove(entry)
  }

  #onText(text: string): void {
    const session = this.#session
    if (session.state !== 'open') return
    session.lastFrameAt = this.#runtime.now()
    session.receipts.onText(text.length)
    const decoded = decodeFrame(text)
    if (decoded.kind === 'malformed') this.interrupt(decoded.reason)
    else if (decoded.kind === 'frame') this.#onFrame(session, decoded.frame, text)
    if (this.#session === session) session.receipts.pingIfDue()
  }

  #onFrame(session: OpenSession, frame: KnownFrame, text: string): void {
    switch (frame.channel) {
      case 'pong':
        session.receipts.onPong(frame.nonce)
        if (frame.block_height !== undefined) this.#onHeight(frame.block_height)
        else this.#requestHeight(session)
        return
      case 'subscriptionResponse': {
        const key = bodyKey(frame.data.subscription as SubscriptionBody)
        if (frame.data.method === 'subscribe') this.#onAck(session, key)
        else onUnsubscribed(session, key)
        return
      }
      case 'notification':
        // Notifications of the gateway itself have the same form.
        this.#dispatch(frame, text)
        this.#options.onNotice?.(frame.data.notification, ('code' in frame && frame.code) || null)
        return
      case 'error':
        this.#onError(session, frame.data, frame.code)
        return
      case 'replay':
        this.#entries.get(bodyKey(frame.data.subscription as SubscriptionBody))?.listener.replay?.(frame.data)
        return
      default:
        this.#dispatch(frame, text)
    }
  }

  #dispatch(frame: DataFrame, text: string): void {
    const type = typeOfFrame(frame.channel)
    if (type && canResume(type) && !this.#seen.isNew(type, text)) return
    for (const { listener } of this.#index.of(frame)) listener.frame(frame)
  }

  /**
   * Handles a reported height. It is ignored while there are bodies that this socket has not resumed yet, because it
   * does not cover them.
   */
  #onHeight(height: number): void {
    const entries = [...this.#entries.values()]
    if (entries.some((entry) => entry.isResuming)) return
    this.#seen.onHeight(height)
    for (const entry of entries) entry.isKnown = entry.phase === 'live'
  }

  /** Requests the height again if it is unknown. The sooner it is known, the fewer events an interruption can lose. */
  #requestHeight({ openedAt, receipts }: OpenSession): void {
    const isOld = this.#runtime.now() - openedAt > LIMITS.heightsMs
    const isUnknown = ({ phase, isKnown, body }: SubscriptionEntry) =>
      phase === 'live' && !isKnown && canResume(body.type)
    if (!isOld && [...this.#entries.values()].some(isUnknown)) receipts.resendPing()
  }

  #onAck(session: OpenSession, key: string): void {
    const entry = this.#entries.get(key)
    if (!entry || entry.phase === 'live' || session.pendingUnsubscribes.has(key)) return
    entry.stopAckTimer()
    this.#patience.onServed()
    entry.phase = 'live'
    entry.fromBlock = undefined
    this.#requestQueued()
    entry.isResuming = false
    entry.listener.live?.()
    // The pong of this ping reports the height.
    if (canResume(entry.body.type) && session.receipts.isPonged) session.receipts.ping()
  }

  #onError(session: OpenSession, text: string, code: string | undefined): void {
    if (code === 'gap' || code === 'replay_unavailable') this.#onGap(text)
    const entry = this.#entryOfError(text)
    const key = entry?.key ?? embeddedKey(text)
    if (code === 'already_unsubscribed') return onUnsubscribed(session, key)
    const isDuplicate = entry !== undefined && code === 'already_subscribed'
    // The gateway still has the earlier subscription. Further replies therefore belong to the new one.
    if (isDuplicate) session.pendingUnsubscribes.delete(key)
    if (session.pendingUnsubscribes.has(key)) return
    if (!entry || code === 'replay_unavailable') {
      if (code === 'rate_limited') {
        session.receipts.onRejected()
        this.#resendUnsubscribes(session)
      }
      this.#options.onNotice?.(text, code ?? null)
      return
    }
    if (isDuplicate) return this.#onAck(session, key)
    entry.stopAckTimer()
    if (code && LIMITS.passingCodes.has(code)) {
      const delayMs = backoffMs(RETRY, 3, this.#runtime.random()) + 200
      entry.stopAckTimer = this.#runtime.after(delayMs, () => this.#request(entry))
      return
    }
    this.#remove(entry)
    this.#requestQueued()
    entry.listener.refused(text, code)
  }

  /**
   * Returns the subscription to which an error refers. The error does not repeat a body that is too long. In that case,
   * the subscription is known only if no other one is waiting.
   */
  #entryOfError(text: string): SubscriptionEntry | undefined {
    const key = embeddedKey(text)
    if (key !== '') return this.#entries.get(key)
    if (!text.startsWith('Invalid subscription')) return undefined
    const waiting = [...this.#entries.values()].filter(({ phase }) => phase === 'requested')
    return waiting.length === 1 ? waiting[0] : undefined
  }

  /**
   * Handles missing events of the body in the message or, if it names none, of all bodies. These subscriptions restart.
   */
  #onGap(text: string): void {
    const named = embeddedBody(text)?.type
    const types = new Set<string>()
    for (const entry of [...this.#entries.values()]) {
      const { type } = entry.body
      if (entry.phase !== 'live' || !canResume(type) || type !== (named ?? type)) continue
      types.add(type)
      entry.isKnown = false
      entry.listener.lost?.(text)
      entry.listener.live?.()
    }
    this.#seen.forget(types)
  }

  /**
   * Repeats unsubscribe messages after the rate limit has rejected a frame. The error does not say which frame.
   */
  #resendUnsubscribes(session: OpenSession): void {
    if (session.pendingUnsubscribes.size === 0) return
    session.stopResend ??= this.#runtime.after(LIMITS.againMs, () => {
      session.stopResend = null
      for (const [key, { body }] of session.pendingUnsubscribes) {
        const entry = this.#entries.get(key)
        if (!entry) {
          this.#send({ method: 'unsubscribe', subscription: body })
          continue
        }
        session.pendingUnsubscribes.delete(key)
        // Its reply may have been mistaken for one that belongs to the earlier subscription.
        if (entry.phase === 'requested') this.#request(entry)
      }
    })
  }

  #onEnd(end: SocketEnd): void {
    const reason = describeEnd(end)
    this.#leaveSession(reason, IDLE)
    if (this.#isEnded()) return
    const fatal = (end.status && FATAL_STATUSES[end.status]) || (end.code && FATAL_CODES[end.code])
    if (fatal && !this.#options.onEnd)
      this.#finish({ state: 'fatal', reason: end.reason || fatal, status: end.status ?? end.code ?? 0 })
    else this.#retry(this.#options.onEnd?.(end) ?? reason)
  }

  #retry(reason: string, atLeastMs = 0): void {
    const retryMs = Math.max(
      atLeastMs,
      backoffMs(this.#options.retry ?? RETRY, this.#attempt++, this.#runtime.random()),
    )
    this.#session = { state: 'waiting', socket: null, stop: this.#runtime.after(retryMs, () => this.#connect()) }
    this.#notifyState({ state: 'waiting', retryMs, reason })
  }

  #leaveSession(reason: string, next: Session): void {
    const session = this.#session
    this.#session = next
    if (session.state === 'connecting' || session.state === 'waiting') session.stop()
    if (session.state === 'open') {
      session.stopWatch()
      session.receipts.stop()
      session.stopResend?.()
      if (this.#runtime.now() - session.openedAt >= LIMITS.steadyMs) this.#attempt = 0
    }
    const from = this.#seen.resume()
    this.#fromBlock = next === ENDED ? undefined : from
    this.#seen.forget(this.#resetEntries(reason, from))
  }

  /**
   * Resets all entries after their socket ended. Returns the types that restart on the next socket. Frames do not name
   * their body, so either all bodies of a type resume or none of them does.
   */
  #resetEntries(reason: string, from: number | undefined): Set<string> {
    const entries = [...this.#entries.values()]
    const resumes = ({ isKnown, body, replay }: SubscriptionEntry) => isKnown && !replay && canResume(body.type)
    const restarting = new Set(
      entries.filter((entry) => this.#fromBlock === undefined || !resumes(entry)).map(({ body }) => body.type),
    )
    for (const entry of entries) {
      entry.stopAckTimer()
      const wasLive = entry.phase === 'live' || entry.isResuming
      const first = entry.isKnown ? from : undefined
      entry.phase = 'queued'
      entry.isResuming = entry.isKnown = !restarting.has(entry.body.type)
      if (wasLive && !entry.isResuming) entry.listener.lost?.(reason, first)
    }
    return restarting
  }

  #finish(state: ConnectionStatus): void {
    if (this.#isEnded()) return
    const { socket } = this.#session
    this.#leaveSession(state.state === 'fatal' ? state.reason : 'closed', ENDED)
    socket?.drop()
    this.#notifyState(state)
  }

  #isEnded(): boolean {
    return this.#session.state === 'ended'
  }

  #notifyState(state: ConnectionStatus): void {
    this.#options.onState?.(state)
  }

  #send(message: object): void {
    this.#session.socket?.send(JSON.stringify(message))
  }
}

/** `key` is empty for a long body, because the gateway does not repeat it. */
function onUnsubscribed({ pendingUnsubscribes }: OpenSession, key: string): void {
  const matchingKey = key || [...pendingUnsubscribes.keys()].find(({ length }) => length > LIMITS.echoChars) || ''
  const pending = pendingUnsubscribes.get(matchingKey)
  if (pending && --pending.times === 0) pendingUnsubscribes.delete(matchingKey)
}
