// Relay: client sockets, their subscriptions and minutes. A thin shell: subscriptions.ts decides, book-fanout.ts and
// event-fanout.ts send, link.client.ts keeps the links to the log and the hubs.

import { DurableObject } from 'cloudflare:workers'
import { decodeHubFrame } from '../book/hub-link.ts'
import { CoinNames } from '../core/coin-names.ts'
import { gatewayOf, Objects } from '../core/objects.client.ts'
import { after } from '../core/timers.client.ts'
import { LiveSettings, readVariables } from '../core/variables.ts'
import type { LinkHeader, RelayFrame } from '../feed/log-api.ts'
import { LINK_HEADER } from '../feed/log-api.ts'
import { sha256 } from '../key/digest.client.ts'
import { IDENTITY_HEADER, Identity } from '../key/identity.ts'
import { LIMIT_FIELDS } from '../key/limits.ts'
import { BookFanout } from './books/book-fanout.ts'
import { CHANNELS } from './catalogue.ts'
import { ClientSockets } from './client-sockets.client.ts'
import { EventFanout } from './events/event-fanout.ts'
import { failureFrame } from './failure-frame.ts'
import { PONG } from './frames.ts'
import { attachmentOf, Links } from './links/links.client.ts'
import { Accounts } from './minutes/accounts.ts'
import { askMeter } from './minutes/meter.client.ts'
import { answerPost } from './post.client.ts'
import type { SubscribeFrame, UnsubscribeFrame } from './protocol.ts'
import { parseUpFrame, refusal } from './protocol.ts'
import { parseAttachment } from './sockets/attachment.ts'
import type { Clock, Connection } from './sockets/connection.ts'
import { SubscriptionStore } from './subscription.store.ts'
import { Subscriptions } from './subscriptions.ts'

/** How often links, minutes and idle sockets are looked at: while subscriptions run, and while there are only sockets. */
const WATCH_MS = 5000
const IDLE_WATCH_MS = 10_000

export class Relay extends DurableObject<Cloudflare.Env> {
  readonly #clock: Clock = {
    get nowMs() {
      return Date.now()
    },
  }
  readonly #name: string
  readonly #store: SubscriptionStore
  readonly #books: BookFanout<Connection>
  readonly #events = new EventFanout<Connection>(CHANNELS)
  readonly #subscriptions: Subscriptions
  readonly #accounts: Accounts
  readonly #clients: ClientSockets
  readonly #links: Links
  #lateTimer: ReturnType<typeof setTimeout> | null = null
  #alarmMs: number | null = null

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    if (!ctx.id.name) throw new Error('a relay is addressed by its name, by which log and hubs dial it')
    this.#name = ctx.id.name
    const { CHAIN, BOOK_HUBS: shards, RELAY_SOCKETS: maxSockets } = readVariables(LiveSettings, env)
    const objects = new Objects(env, CHAIN)
    this.#store = new SubscriptionStore(ctx.storage)
    this.#books = new BookFanout(shards)
    this.#links = new Links(
      {
        relay: this.#name,
        shards,
        log: () => objects.log(),
        hub: (index) => objects.hub(index),
        busy: () => this.#subscriptions.busy > 0,
      },
      this.#books,
      this.#events,
    )
    this.#accounts = this.#makeAccounts()
    this.#clients = new ClientSockets({
      clock: this.#clock,
      accounts: this.#accounts,
      maxSockets,
      callers: gatewayOf(env),
      ended: (connection) => this.#subscriptions.ended(connection),
    })
    this.#subscriptions = this.#makeSubscriptions(shards)
    this.#wake()
    ctx.blockConcurrencyWhile(async () => {
      // One that was set before stays: to set it anew with every waking would put it off for ever.
      this.#alarmMs = await ctx.storage.getAlarm()
      this.#arm()
    })
  }

  override async fetch(request: Request): Promise<Response> {
    if (request.headers.get('upgrade') !== 'websocket') return new Response('send a WebSocket upgrade', { status: 426 })
    const link = request.headers.get(LINK_HEADER)
    if (link !== null) return this.#takeLink(JSON.parse(link) as LinkHeader)
    return this.#takeClient(request)
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    const client = this.#clients.of(socket)
    if (client) return this.#fromClient(client, message)
    const attachment = parseAttachment(socket.deserializeAttachment())
    if (typeof message !== 'string' || attachment?.of === undefined) return
    if (attachment.of === 'log') this.#fromLog(socket, message)
    else if (attachment.of === 'hub') this.#fromHub(socket, attachment.index, message)
  }

  override async webSocketClose(socket: WebSocket, code: number, reason: string): Promise<void> {
    // The runtime does not answer the close of a hibernating socket; 1005 and 1006 may not be sent.
    try {
      if (code === 1005 || code === 1006) socket.close()
      else socket.close(code, reason)
    } catch {
      // Closed by us before.
    }
    this.#gone(socket)
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    this.#gone(socket)
  }

  override async alarm(): Promise<void> {
    this.#alarmMs = null
    // First of all the next one: an alarm that fails too often is dropped for good.
    this.#arm()
    const duties = [
      () => this.#accounts.tick(),
      () => this.#clients.endIdle(),
      () => this.#links.watch(this.#clock.nowMs),
    ]
    for (const duty of duties) {
      try {
        duty()
      } catch (error) {
        console.error('relay duty failed', error)
      }
    }
    this.ctx.waitUntil(this.#accounts.settled())
  }

  /** Takes up sockets and subscriptions that outlived the object's memory. */
  #wake(): void {
    const clients = new Map<string, Connection>()
    for (const socket of this.ctx.getWebSockets()) {
      if (socket.readyState !== WebSocket.OPEN) continue
      const attachment = parseAttachment(socket.deserializeAttachment())
      if (attachment?.of === 'client') {
        clients.set(attachment.id, this.#clients.restore(socket, attachment))
      } else if (attachment) this.#links.of(attachment)?.restore(socket, this.#clock.nowMs)
    }
    for (const saved of this.#store.all()) {
      const connection = clients.get(saved.socket)
      if (connection) this.#subscriptions.restore(connection, saved)
      else this.#store.remove(saved.id)
      // Its meter learns which minutes died with the sockets, so that whoever reconnects anywhere has their rests.
      if (!connection && saved.account !== '') this.#accounts.of(saved.account).report()
    }
    // A link that did not outlive it leaves events unseen, and books that nobody can continue.
    if (!this.#links.log.up) this.#links.tellGap('The relay was restarted: some events may be missing.')
    this.#links.hubs.forEach(({ link }, index) => {
      if (!link.up) this.#links.breakDiffs(index)
    })
  }

  #takeLink(header: LinkHeader): Response {
    const { 0: client, 1: server } = new WebSocketPair()
    const attachment = attachmentOf(header)
    const link = this.#links.of(attachment)
    if (!link) return new Response('no such hub', { status: 404 })
    this.ctx.acceptWebSocket(server)
    server.serializeAttachment(attachment)
    link.accept(server, this.#clock.nowMs)
    return new Response(null, { status: 101, webSocket: client })
  }

  async #takeClient(request: Request): Promise<Response> {
    const identity = Identity.safeParse(JSON.parse(request.headers.get(IDENTITY_HEADER) ?? 'null'))
    if (!identity.success) return new Response('no identity: connect through the gateway', { status: 401 })
    const refused = await this.#clients.admit(identity.data)
    if (refused !== null) return Response.json(refused, { status: 503 })
    const { 0: client, 1: server } = new WebSocketPair()
    this.ctx.acceptWebSocket(server)
    this.#clients.enter(server, crypto.randomUUID(), identity.data)
    this.#arm()
    return new Response(null, { status: 101, webSocket: client })
  }

  #fromClient(client: Connection, message: string | ArrayBuffer): void {
    if (client.admit() === 'no') {
      const most = `at most ${client.messagesPerMinute} a minute (${LIMIT_FIELDS.streamMessagesPerMinute})`
      const hint = `Too many messages: this account's plan allows ${most}; slow down.`
      return client.send(failureFrame({ kind: 'rate_limited', retryAfterMs: 1000, hint }))
    }
    if (typeof message !== 'string') {
      return client.send(refusal('<binary>', { path: 'frame', message: 'send text frames of JSON' }))
    }
    const frame = parseUpFrame(message)
    if (!frame.ok) return client.send(frame.error)
    switch (frame.value.method) {
      case 'ping':
        client.pinged()
        return client.send(PONG)
      case 'post':
        return this.ctx.waitUntil(answerPost(client, frame.value, gatewayOf(this.env)))
      default:
        this.#enqueue(client, frame.value)
    }
  }

  /** Requests of one socket run one after another: the platform does not wait for async handlers. */
  #enqueue(client: Connection, frame: SubscribeFrame | UnsubscribeFrame): void {
    const isQueued = client.enqueue(async () => {
      if (client.ended) return
      try {
        if (frame.method === 'unsubscribe') this.#subscriptions.unsubscribe(client, frame)
        else await this.#subscriptions.subscribe(client, frame)
      } catch (error) {
        console.error('subscription failed', error)
        client.fail({ kind: 'internal', hint: 'Something went wrong on our side: reconnect.' })
      }
      this.#arm()
    })
    const hint = 'Too many requests wait on this connection: slow down.'
    if (!isQueued) client.send(failureFrame({ kind: 'rate_limited', retryAfterMs: 1000, hint }))
    this.ctx.waitUntil(client.drained())
  }

  #fromLog(socket: WebSocket, text: string): void {
    const frame = JSON.parse(text) as RelayFrame
    const height = frame.t === 'gap' ? frame.to : frame.height
    if (!this.#links.log.admit(socket, height, null, this.#clock.nowMs)) return
    if (frame.t === 'events') this.#events.deliver(frame)
    else this.#links.tellGap(`Blocks ${frame.from} to ${frame.to} never came: their events are missing.`)
  }

  #fromHub(socket: WebSocket, index: number, text: string): void {
    const frame = decodeHubFrame(text)
    if (!this.#links.hubs[index]?.link.admit(socket, frame.height, frame.epoch, this.#clock.nowMs)) return
    this.#books.push(index, frame, this.#clock.nowMs)
    this.#armLate()
  }

  #gone(socket: WebSocket): void {
    const client = this.#clients.of(socket)
    if (client) return client.gone()
    const attachment = parseAttachment(socket.deserializeAttachment())
    if (attachment) this.#links.of(attachment)?.closed(socket)
  }

  /** Wakes up when a late hub has been waited for long enough. */
  #armLate(): void {
    if (this.#lateTimer !== null) return
    const due = this.#books.dueMs()
    if (due === null) return
    this.#lateTimer = setTimeout(
      () => {
        this.#lateTimer = null
        this.#books.tick(this.#clock.nowMs)
        this.#armLate()
      },
      Math.max(0, due - this.#clock.nowMs) + 1,
    )
  }

  #arm(): void {
    if (this.#clients.size + this.#accounts.size === 0 && !this.#links.up) return
    const at = this.#clock.nowMs + (this.#subscriptions.size > 0 ? WATCH_MS : IDLE_WATCH_MS)
    if (this.#alarmMs !== null && this.#alarmMs <= at) return
    this.#alarmMs = at
    this.ctx.waitUntil(this.ctx.storage.setAlarm(at))
  }

  #makeSubscriptions(shards: number): Subscriptions {
    const names = new CoinNames({ read: () => this.#links.coins(), nowMs: () => this.#clock.nowMs, after })
    const ports = {
      shards,
      hasBook: async (coin: string) => (await names.has(coin)) || this.#links.hasBook(coin),
      nearestCoin: (coin: string) => names.nearest(coin),
      clock: this.#clock,
      accounts: this.#accounts,
      digest: sha256,
      books: this.#links.source,
      newId: () => crypto.randomUUID(),
      wait: (ms: number) => scheduler.wait(ms),
      ensureEvents: () => this.#links.log.ensure(),
      saved: (subscription: Parameters<SubscriptionStore['save']>[0]) => this.#store.save(subscription),
      dropped: (subscription: { minutes: { id: string } }) => this.#store.remove(subscription.minutes.id),
    }
    return new Subscriptions(ports, this.#books, this.#events)
  }

  #makeAccounts(): Accounts {
    return new Accounts({
      relay: this.#name,
      life: this.#clock.nowMs,
      clock: this.#clock,
      exchange: (account, report) => askMeter(this.env, account, report),
      lookUp: (connections, terms) => this.ctx.waitUntil(this.#clients.lookUp(connections, terms)),
    })
  }
}
