// Relay: client sockets, their subscriptions and minutes. A thin shell: subscriptions.ts decides, book-fanout.ts and
// event-fanout.ts send, link.client.ts keeps the links to the log and the hubs.

import { DurableObject } from 'cloudflare:workers'
import type { BookHubApi, BookInterest } from '../book/hub-api.ts'
import { decodeHubFrame } from '../book/hub-link.ts'
import type { CreditMeterApi } from '../credit/meter-api.ts'
import type { BlockLogApi, LinkHeader, RelayFrame } from '../feed/log-api.ts'
import { LINK_HEADER } from '../feed/log-api.ts'
import { IDENTITY_HEADER, Identity } from '../key/identity.ts'
import type { Attachment } from './attachment.ts'
import { parseAttachment } from './attachment.ts'
import { BookFanout } from './book-fanout.ts'
import type { Clock } from './connection.ts'
import { Connection } from './connection.ts'
import { EventFanout } from './event-fanout.ts'
import { errorFrame, PONG } from './frames.ts'
import { attachmentOf, Links } from './links.client.ts'
import type { GatewayInternal } from './post.client.ts'
import { answerPost } from './post.client.ts'
import type { SubscribeFrame, UnsubscribeFrame } from './protocol.ts'
import { parseUpFrame, refusal } from './protocol.ts'
import { Settlement } from './settlement.ts'
import { SubscriptionStore } from './subscription.store.ts'
import { Subscriptions } from './subscriptions.ts'

/** How often links, minutes and idle sockets are looked at: while subscriptions run, and while there are only sockets. */
const WATCH_MS = 5000
const IDLE_WATCH_MS = 30_000
/** No frame in either direction. */
const IDLE_MS = 60_000

export class Relay extends DurableObject<Cloudflare.Env> {
  readonly #clock: Clock = {
    get nowMs() {
      return Date.now()
    },
  }
  readonly #name: string
  readonly #store: SubscriptionStore
  readonly #books: BookFanout<Connection>
  readonly #events = new EventFanout<Connection>()
  readonly #subscriptions: Subscriptions
  readonly #settlement: Settlement
  readonly #clients = new Map<WebSocket, Connection>()
  readonly #links: Links
  #lateTimer: ReturnType<typeof setTimeout> | null = null
  #alarmMs: number | null = null

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    if (!ctx.id.name) throw new Error('a relay is addressed by its name, by which log and hubs dial it')
    this.#name = ctx.id.name
    const shards = Number(env.BOOK_HUBS)
    this.#store = new SubscriptionStore(ctx.storage)
    this.#books = new BookFanout(shards)
    this.#links = new Links(
      {
        relay: this.#name,
        shards,
        log: () => env.BLOCK_LOG.getByName(env.CHAIN) as unknown as BlockLogApi,
        hub: (index) => env.BOOK_HUB.getByName(`${env.CHAIN}/${index}`) as unknown as BookHubApi,
        busy: () => this.#subscriptions.busy > 0,
      },
      this.#books,
      this.#events,
    )
    this.#subscriptions = this.#makeSubscriptions(shards)
    this.#settlement = new Settlement(
      {
        relay: this.#name,
        clock: this.#clock,
        chargeAll: (account, charges) => this.#meter(account).chargeAll(charges),
      },
      this.#subscriptions,
    )
    this.#wake()
  }

  override async fetch(request: Request): Promise<Response> {
    if (request.headers.get('upgrade') !== 'websocket') return new Response('send a WebSocket upgrade', { status: 426 })
    const link = request.headers.get(LINK_HEADER)
    if (link !== null) return this.#takeLink(JSON.parse(link) as LinkHeader)
    return this.#takeClient(request)
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    const client = this.#clients.get(socket)
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
    this.ctx.waitUntil(this.#settlement.run())
    for (const duty of [() => this.#endIdle(), () => this.#links.watch(this.#clock.nowMs)]) {
      try {
        duty()
      } catch (error) {
        console.error('relay duty failed', error)
      }
    }
  }

  /** Takes up sockets and subscriptions that outlived the object's memory. */
  #wake(): void {
    const clients = new Map<string, Connection>()
    for (const socket of this.ctx.getWebSockets()) {
      if (socket.readyState !== WebSocket.OPEN) continue
      const attachment = parseAttachment(socket.deserializeAttachment())
      if (attachment?.of === 'client') {
        clients.set(attachment.id, this.#connect(socket, attachment.id, attachment.identity))
      } else if (attachment) this.#links.of(attachment)?.restore(socket, this.#clock.nowMs)
    }
    for (const saved of this.#store.all()) {
      const connection = clients.get(saved.socket)
      if (connection) this.#subscriptions.restore(connection, saved)
      else this.#store.remove(saved.id)
    }
    // A link that did not outlive it leaves events unseen, and books that nobody can continue.
    if (!this.#links.log.up) this.#links.tellGap('The relay was restarted: some events may be missing.')
    this.#links.hubs.forEach(({ link }, index) => {
      if (!link.up) this.#links.breakDiffs(index)
    })
    if (this.#subscriptions.size > 0) this.#arm()
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

  #takeClient(request: Request): Response {
    const identity = Identity.safeParse(JSON.parse(request.headers.get(IDENTITY_HEADER) ?? 'null'))
    if (!identity.success) return new Response('no identity: connect through the gateway', { status: 401 })
    if (this.#clients.size >= Number(this.env.RELAY_SOCKETS)) return new Response('this relay is full', { status: 503 })
    const { 0: client, 1: server } = new WebSocketPair()
    this.ctx.acceptWebSocket(server)
    const attachment: Attachment = { of: 'client', id: crypto.randomUUID(), identity: identity.data }
    server.serializeAttachment(attachment)
    this.#connect(server, attachment.id, identity.data)
    this.#arm()
    return new Response(null, { status: 101, webSocket: client })
  }

  #connect(socket: WebSocket, id: string, identity: Identity): Connection {
    const connection = new Connection(id, identity, socket, this.#clock, (ended) => {
      this.#clients.delete(socket)
      this.#subscriptions.ended(ended)
    })
    this.#clients.set(socket, connection)
    return connection
  }

  #fromClient(client: Connection, message: string | ArrayBuffer): void {
    if (client.admit() === 'no') {
      return client.send(errorFrame('Too many messages: at most 2000 a minute; slow down.', 'rate_limited'))
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
        this.ctx.waitUntil(answerPost(client, frame.value, this.env.GATEWAY as unknown as GatewayInternal))
        return
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
        client.end(1011, 'internal', errorFrame('Something went wrong on our side: reconnect.', 'internal'))
      }
      this.#arm()
    })
    if (!isQueued) client.send(errorFrame('Too many requests wait on this connection: slow down.', 'rate_limited'))
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
    const client = this.#clients.get(socket)
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
    if (this.#clients.size === 0 && !this.#links.up) return
    const at = this.#clock.nowMs + (this.#subscriptions.size > 0 ? WATCH_MS : IDLE_WATCH_MS)
    if (this.#alarmMs !== null && this.#alarmMs <= at) return
    this.#alarmMs = at
    this.ctx.waitUntil(this.ctx.storage.setAlarm(at))
  }

  #endIdle(): void {
    for (const client of [...this.#clients.values()]) {
      if (this.#clock.nowMs - client.activeMs >= IDLE_MS) client.end(4408, 'idle: send pings')
    }
  }

  #makeSubscriptions(shards: number): Subscriptions {
    const { log, hubs } = this.#links
    const ports = {
      relay: this.#name,
      shards,
      clock: this.#clock,
      books: {
        ensure: (hub: number) => hubs[hub]!.link.ensure(),
        join: (hub: number, coins: readonly string[], withBooks: boolean) => hubs[hub]!.join(coins, withBooks),
        joinTypes: (hub: number, types: BookInterest['types']) => hubs[hub]!.joinTypes(types),
      },
      newId: () => crypto.randomUUID(),
      wait: (ms: number) => scheduler.wait(ms),
      ensureEvents: () => log.ensure(),
      charge: (account: string, charge: Parameters<CreditMeterApi['charge']>[0]) => this.#meter(account).charge(charge),
      saved: (subscription: Parameters<SubscriptionStore['save']>[0]) => this.#store.save(subscription),
      dropped: (subscription: { minutes: { id: string } }) => this.#store.remove(subscription.minutes.id),
    }
    return new Subscriptions(ports, this.#books, this.#events)
  }

  #meter(account: string): CreditMeterApi {
    return this.env.CREDIT_METER.getByName(account) as unknown as CreditMeterApi
  }
}
