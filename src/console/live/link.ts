// The page's one socket to the gateway: it comes back by itself with a fresh token, subscribes everything again, and asks
// questions over the same way. Of the client library the machines without schemas, so that the page stays small. Laws:
// what waits for an answer never waits for ever; a socket that is gone tells nothing; who is refused is not tried again.

import { Proofs } from '../../client/proofs.ts'
import type { ClientRuntime, ClientSocket, SocketEnd } from '../../client/runtime.ts'
import { type Backoff, backoffMs } from '../../core/backoff.ts'

export type LinkRuntime = Pick<ClientRuntime, 'now' | 'random' | 'after' | 'open'>

/** Where to connect; or why not, whether that may pass, and how soon at the earliest. */
export type Pass =
  | { readonly ok: true; readonly url: string }
  | { readonly ok: false; readonly reason: string; readonly mayPass: boolean; readonly waitMs?: number }

export type LinkState =
  | { readonly state: 'connecting' | 'open' | 'closed' }
  /** `isBusy`: the gateway said when to come back; otherwise the link is only broken. */
  | { readonly state: 'waiting'; readonly reason: string; readonly retryMs: number; readonly isBusy: boolean }
  | { readonly state: 'refused'; readonly reason: string }

export type Body = { readonly type: string } & Readonly<Record<string, unknown>>
// biome-ignore lint/suspicious/noExplicitAny: what reads a frame checks what it takes of it.
export type Frame = { readonly channel: string; readonly data?: any; readonly code?: string; readonly nonce?: string }

export interface Hearer {
  /** The body is acknowledged on the present socket. */
  acked?(): void
  frame(frame: Frame): void
  lost?(): void
  refused(reason: string): void
}

/** What a question came to: `value`, or why there is none; `lost`: it may be asked again. */
export type Answer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string; readonly lost: boolean }

interface Entry extends Hearer {
  readonly body: Body
  readonly more: object
}

const RETRY: Backoff = { firstMs: 250, capMs: 8_000, jitter: 0.5 }
const PING_MS = 15_000
/** A socket without a frame for so long is dead. */
const DEAD_MS = 25_000
const ANSWER_MS = 15_000
const AGAIN_MS = 2_000
const STEADY_MS = 10_000
const PASSING = new Set(['rate_limited', 'unavailable', 'internal', 'upstream_failed', 'upstream_timeout'])

export class Link {
  readonly #runtime: LinkRuntime
  /** `isFresh`: a token that was used before did not do. */
  readonly #pass: (isFresh: boolean) => Promise<Pass>
  readonly #onState: (state: LinkState) => void
  /** What the gateway says of its own accord: blocks that stay away, credits that run low. */
  readonly #onNotice: (text: string) => void
  readonly #entries = new Map<string, Entry>()
  readonly #questions = new Map<number, (answer: Answer) => void>()
  #socket: ClientSocket | null = null
  #isOpen = false
  /** Counts sockets: what is said of an earlier one is ignored. */
  #run = 0
  #attempt = 0
  #openedMs = 0
  #heardMs = 0
  #isFresh = false
  #nextId = 1
  #proofs: Proofs
  #stop: () => void = () => {}

  constructor(
    runtime: LinkRuntime,
    pass: (isFresh: boolean) => Promise<Pass>,
    onState: (state: LinkState) => void = () => {},
    onNotice: (text: string) => void = () => {},
  ) {
    this.#onNotice = onNotice
    this.#runtime = runtime
    this.#pass = pass
    this.#onState = onState
    this.#proofs = this.#newProofs()
  }

  /** Connects now, whatever it waited for. */
  start(): void {
    this.#stop()
    void this.#connect()
  }

  close(): void {
    this.#leave('closed')
    this.#run++
    this.#onState({ state: 'closed' })
  }

  /** Ends the socket as a lost network would, to see it come back. */
  break(): void {
    if (this.#socket) this.#lost({ status: null, code: null, reason: 'the link was broken here' })
  }

  /** A body is subscribed to once; the answer ends that. `more` stands beside it in the frame. */
  subscribe(body: Body, hearer: Hearer, more: object = {}): () => void {
    const key = JSON.stringify(body)
    const entry: Entry = { ...hearer, body, more }
    this.#entries.set(key, entry)
    this.#say(entry)
    return () => {
      if (this.#entries.get(key) !== entry) return
      this.#entries.delete(key)
      this.#send({ method: 'unsubscribe', subscription: body })
    }
  }

  /** Steers a replay. */
  steer(body: Body, action: 'pause' | 'resume' | 'seek', to: object = {}): void {
    this.#send({ method: 'replay', action, subscription: body, ...to })
  }

  /** An info question. */
  ask(request: object): Promise<Answer> {
    if (!this.#isOpen) return Promise.resolve({ ok: false, reason: 'not connected', lost: true })
    const id = this.#nextId++
    return new Promise((resolve) => {
      const stop = this.#runtime.after(ANSWER_MS, () => settle({ ok: false, reason: 'no answer in time', lost: true }))
      const settle = (answer: Answer) => {
        stop()
        this.#questions.delete(id)
        resolve(answer)
      }
      this.#questions.set(id, settle)
      this.#send({ method: 'post', id, request: { type: 'info', payload: request } })
    })
  }

  async #connect(): Promise<void> {
    this.#leave('connecting again')
    const run = ++this.#run
    this.#onState({ state: 'connecting' })
    const pass = await this.#pass(this.#isFresh)
    if (run !== this.#run) return
    if (!pass.ok)
      return pass.mayPass
        ? this.#retry(pass.reason, pass.waitMs)
        : this.#onState({ state: 'refused', reason: pass.reason })
    // Until it opens nobody knows whether the token did; the status of a refusal is hidden from pages.
    this.#isFresh = true
    this.#socket = this.#runtime.open(pass.url, {
      opened: () => run === this.#run && this.#opened(),
      text: (text) => run === this.#run && this.#text(text),
      ended: (end) => run === this.#run && this.#lost(end),
    })
    this.#stop = this.#runtime.after(ANSWER_MS, () =>
      this.#lost({ status: null, code: null, reason: 'no connection in time' }),
    )
  }

  #opened(): void {
    this.#stop()
    this.#isOpen = true
    this.#isFresh = false
    this.#openedMs = this.#heardMs = this.#runtime.now()
    this.#proofs = this.#newProofs()
    this.#proofs.every(PING_MS)
    this.#watch(DEAD_MS)
    this.#onState({ state: 'open' })
    for (const entry of this.#entries.values()) this.#say(entry)
  }

  #text(text: string): void {
    this.#heardMs = this.#runtime.now()
    this.#proofs.came(text.length)
    let frame: Frame | null = null
    try {
      frame = JSON.parse(text)
    } catch {
      return this.#lost({ status: null, code: null, reason: 'a frame is not JSON' })
    }
    if (typeof frame?.channel === 'string') this.#frame(frame)
    if (this.#isOpen) this.#proofs.prove()
  }

  #frame(frame: Frame): void {
    switch (frame.channel) {
      case 'pong':
        return this.#proofs.ponged(frame.nonce)
      case 'subscriptionResponse': {
        if (frame.data?.method === 'subscribe') this.#entries.get(JSON.stringify(frame.data.subscription))?.acked?.()
        return
      }
      case 'error':
        return this.#refusal(String(frame.data), frame.code)
      case 'notification':
        return this.#onNotice(String(frame.data?.notification))
      case 'post':
        return this.#answer(frame.data)
      case 'replay':
        return this.#entries.get(JSON.stringify(frame.data?.subscription))?.frame(frame)
      default: {
        const type = frame.channel === 'activeSpotAssetCtx' ? 'activeAssetCtx' : frame.channel
        for (const entry of [...this.#entries.values()]) if (entry.body.type === type) entry.frame(frame)
      }
    }
  }

  #answer(data: Frame['data']): void {
    const { type, payload } = data?.response ?? {}
    const settle = this.#questions.get(data?.id)
    if (type === 'info') settle?.({ ok: true, value: payload?.data })
    else settle?.({ ok: false, reason: String(payload), lost: /^(429|5\d\d)/.test(String(payload)) })
  }

  #refusal(text: string, code: string | undefined): void {
    if (text.startsWith('Already unsubscribed')) return
    const id = Number(/ id=(\d+)$/.exec(text)?.[1])
    this.#questions.get(id)?.({ ok: false, reason: text, lost: code === 'rate_limited' })
    const [key, entry] = [...this.#entries].find(([one]) => text.includes(one)) ?? []
    if (key === undefined || entry === undefined) return Number.isNaN(id) ? this.#onNotice(text) : undefined
    if (text.startsWith('Already subscribed')) return entry.acked?.()
    const run = this.#run
    if (code !== undefined && PASSING.has(code)) {
      this.#runtime.after(AGAIN_MS, () => {
        if (run === this.#run && this.#entries.get(key) === entry) this.#say(entry)
      })
      return
    }
    this.#entries.delete(key)
    entry.refused(text.slice(text.indexOf(key) + key.length).replace(/^: ?/, '') || text)
  }

  #lost({ code, reason }: SocketEnd): void {
    // 1008: among others, visitors have spent what they may, which whoever gives tokens knows.
    const isToken = code === 4410 || code === 4401 || code === 1008
    if (isToken) this.#isFresh = true
    this.#leave(reason)
    this.#retry(
      code === 4410 ? 'the token ended, another one is fetched' : reason || `closed with ${code ?? 'nothing'}`,
    )
  }

  #retry(reason: string, waitMs = 0): void {
    const { random } = this.#runtime
    // Half as long again at most: all who were told to wait do not come at once.
    const retryMs = Math.max(backoffMs(RETRY, this.#attempt++, random()), waitMs * (1 + random() / 2))
    this.#onState({ state: 'waiting', reason, retryMs, isBusy: waitMs > 0 })
    this.#stop = this.#runtime.after(retryMs, () => void this.#connect())
  }

  #leave(reason: string): void {
    this.#stop()
    this.#proofs.stop()
    const socket = this.#socket
    const wasOpen = this.#isOpen
    if (wasOpen && this.#runtime.now() - this.#openedMs > STEADY_MS) this.#attempt = 0
    this.#socket = null
    this.#isOpen = false
    this.#run++
    socket?.drop()
    for (const settle of [...this.#questions.values()]) settle({ ok: false, reason, lost: true })
    if (wasOpen) for (const entry of this.#entries.values()) entry.lost?.()
  }

  #watch(inMs: number): void {
    this.#stop = this.#runtime.after(inMs, () => {
      const left = DEAD_MS - (this.#runtime.now() - this.#heardMs)
      if (left > 0) this.#watch(left)
      else this.#lost({ status: null, code: null, reason: `nothing came for ${DEAD_MS / 1_000} s` })
    })
  }

  #newProofs(): Proofs {
    return new Proofs(this.#runtime.after.bind(this.#runtime), (ping) => this.#send(ping))
  }

  #say({ body, more }: Entry): void {
    this.#send({ method: 'subscribe', subscription: body, ...more })
  }

  #send(frame: object): void {
    if (this.#isOpen) this.#socket?.send(JSON.stringify(frame))
  }
}
