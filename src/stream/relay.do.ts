// Relay: client sockets, their subscriptions and minutes. A thin shell: client-frames.client.ts and subscriptions.ts
// decide, book-fanout.ts and event-fanout.ts send, link.client.ts keeps the links to the log and the hubs.

import { DurableObject } from 'cloudflare:workers'
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws'
import { decodeHubFrame } from '../book/hub-link.ts'
import { CoinNames } from '../core/coin-names.ts'
import { gatewayOf, Objects } from '../core/objects.client.ts'
import { after } from '../core/timers.client.ts'
import { LiveSettings, readVariables } from '../core/variables.ts'
import { LINK_HEADER, type LinkHeader } from '../feed/log-api.ts'
import { readRelayFrame } from '../feed/segment.ts'
import { archiveOf } from '../history/archive/archive.store.ts'
import { filesOf } from '../history/files/files.store.ts'
import { sha256 } from '../key/digest.client.ts'
import { IDENTITY_HEADER, Identity } from '../key/identity.ts'
import { BookFanout } from './books/book-fanout.ts'
import { LateHubs } from './books/late-hubs.ts'
import { CHANNELS } from './catalogue.ts'
import { ClientFrames } from './client-frames.client.ts'
import { ClientSockets } from './client-sockets.client.ts'
import { EventFanout } from './events/event-fanout.ts'
import { missingBlocks } from './frames.ts'
import { GraphqlSockets } from './graphql/graphql-sockets.client.ts'
import { L4Fanout } from './l4/l4-fanout.ts'
import { WholeOrders } from './l4/whole-orders.client.ts'
import { attachmentOf, Links } from './links/links.client.ts'
import { Accounts } from './minutes/accounts.ts'
import { askMeter } from './minutes/meter.client.ts'
import { pastPorts } from './post.client.ts'
import { refusing } from './refusing.client.ts'
import type { Refusal } from './sockets/admission.ts'
import { parseAttachment } from './sockets/attachment.ts'
import { answerTo } from './sockets/close-code.ts'
import type { Clock, Connection } from './sockets/connection.ts'
import { GUEST_HEADER, POOL_HEADER, poolOf } from './sockets/placement.ts'
import { HEAVY, LIGHT, RelayUnread } from './sockets/unread.ts'
import { SubscriptionStore } from './subscription.store.ts'
import { Subscriptions } from './subscriptions.ts'
import { wake } from './wake.client.ts'
import { Watch } from './watch.client.ts'

/** Where accounts that are sent on stand over an end of the object by its own hand. */
const MOVED = 'moved'

export class Relay extends DurableObject<Cloudflare.Env> {
  readonly #clock: Clock = {
    get nowMs() {
      return Date.now()
    },
  }
  readonly #name: string
  readonly #store: SubscriptionStore
  readonly #books: BookFanout<Connection>
  readonly #events = new EventFanout<Connection>(CHANNELS, () => this.#links.orders.changed())
  readonly #l4 = new L4Fanout<Connection>(
    () => this.#links.orders.changed(),
    (coin, connections) => this.#subscriptions.l4Again(coin, connections),
  )
  readonly #subscriptions: Subscriptions
  readonly #accounts: Accounts
  readonly #unread: RelayUnread
  readonly #clients: ClientSockets
  readonly #frames: ClientFrames
  readonly #graphql: GraphqlSockets
  readonly #links: Links
  readonly #watch: Watch
  readonly #late: LateHubs

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    if (!ctx.id.name) throw new Error('a relay is addressed by its name, by which log and hubs dial it')
    this.#name = ctx.id.name
    const settings = readVariables(LiveSettings, env)
    const { BOOK_HUBS: shards, RELAY_SOCKETS: maxSockets } = settings
    const objects = new Objects(env, settings)
    this.#store = new SubscriptionStore(ctx.storage)
    this.#books = new BookFanout(shards, {
      heightOf: (hub) => this.#links.hubs[hub]?.link.height ?? -1,
      sent: (time) => this.#links.sent(time, this.#clock.nowMs),
    })
    this.#late = new LateHubs(this.#books, this.#clock, after)
    this.#links = new Links(
      {
        relay: this.#name,
        shards,
        log: () => objects.log(),
        hub: (index) => objects.hub(index),
        busy: () => this.#subscriptions.busy > 0,
        needsBlocks: () => this.#subscriptions.needsBlocks,
        sockets: () => this.#clients.size,
      },
      this.#books,
      this.#events,
      this.#l4,
    )
    this.#accounts = this.#makeAccounts()
    const moved = ctx.storage.kv.get<[string, number][]>(MOVED)
    this.#unread = new RelayUnread(poolOf(this.#name) === 'heavy' ? HEAVY : LIGHT, this.#clock.nowMs, moved)
    this.#clients = new ClientSockets({
      clock: this.#clock,
      accounts: this.#accounts,
      maxSockets,
      isCrowded: () => this.#subscriptions.isCrowded,
      unread: this.#unread,
      callers: gatewayOf(env),
      ended: (connection) => this.#subscriptions.ended(connection),
      refused: refusing(this.#clock, gatewayOf(env), ctx),
    })
    this.#subscriptions = this.#makeSubscriptions(settings, objects)
    const waitUntil = (work: Promise<unknown>) => ctx.waitUntil(work)
    const requests = {
      gateway: gatewayOf(env),
      subscriptions: () => this.#subscriptions,
      toldUpTo: (client: Connection) => (this.#events.owes(client) ? -1 : this.#links.log.height),
      waitUntil,
      changed: () => this.#watch.arm(),
    }
    this.#frames = new ClientFrames(requests)
    this.#graphql = new GraphqlSockets({ ...requests, clock: this.#clock, clients: this.#clients })
    this.#watch = new Watch({
      storage: ctx.storage,
      waitUntil,
      nowMs: () => this.#clock.nowMs,
      state: () => this.#state(),
      duties: [
        () => this.#accounts.tick(),
        () => this.#clients.look(this.#links.isNeeded),
        () => this.#graphql.look(),
        () => this.#subscriptions.tick(),
        () => this.#links.watch(this.#clock.nowMs),
        () => this.#endIfLost(),
      ],
    })
    const { nowMs } = this.#clock
    const clients = this.#clients
    const graphql = this.#graphql
    const links = this.#links
    const accounts = this.#accounts
    const parts = { clients, graphql, links, accounts, store: this.#store, subscriptions: this.#subscriptions, nowMs }
    wake(ctx.getWebSockets(), parts)
    ctx.blockConcurrencyWhile(() => this.#watch.begin())
  }

  override async fetch(request: Request): Promise<Response> {
    if (request.headers.get('upgrade') !== 'websocket') return new Response('send a WebSocket upgrade', { status: 426 })
    const link = request.headers.get(LINK_HEADER)
    if (link !== null) return this.#takeLink(JSON.parse(link) as LinkHeader)
    const guest = request.headers.get(GUEST_HEADER)
    return guest === null ? this.#takeClient(request) : this.#takeGuest(guest)
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    if (this.#graphql.message(socket, message)) return
    const client = this.#clients.of(socket)
    if (client) return this.#frames.take(client, message)
    const attachment = parseAttachment(socket.deserializeAttachment())
    if (typeof message !== 'string' || attachment?.of === undefined) return
    if (attachment.of === 'log') this.#fromLog(socket, message)
    else if (attachment.of === 'hub') this.#fromHub(socket, attachment.index, message)
  }

  override async webSocketClose(socket: WebSocket, code: number, reason: string): Promise<void> {
    // The runtime does not answer the close of a hibernating socket.
    const answer = answerTo(code)
    try {
      if (answer === undefined) socket.close()
      else socket.close(answer, answer === code ? reason : 'no such close code')
    } catch {
      // Closed by us before.
    }
    this.#gone(socket)
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    this.#gone(socket)
  }

  override async alarm(): Promise<void> {
    this.#watch.alarm()
    this.ctx.waitUntil(this.#accounts.settled())
  }

  #state(): 'busy' | 'idle' | 'none' {
    if (this.#subscriptions.size > 0 || this.#accounts.isOwing) return 'busy'
    const isAlone = this.#clients.size + this.#accounts.size + this.#graphql.guests === 0 && !this.#links.up
    return isAlone ? 'none' : 'idle'
  }

  /** Only the object's end frees what clients leave unread on sockets that are closed: all others connect again. */
  #endIfLost(): void {
    if (!this.#unread.isLost) return
    console.error('relay begins again: too much is unread on closed sockets', this.#unread.leftBytes)
    this.ctx.storage.kv.put(MOVED, this.#unread.toMove(this.#clock.nowMs))
    this.ctx.waitUntil(this.ctx.storage.sync().then(() => this.ctx.abort('too much is unread on closed sockets')))
  }

  #takeLink(header: LinkHeader): Response {
    const { 0: client, 1: server } = new WebSocketPair()
    const attachment = attachmentOf(header)
    const link = this.#links.of(attachment)
    if (!link?.isAsked) return new Response('no such hub, or nobody waits for it', { status: 404 })
    this.ctx.acceptWebSocket(server)
    server.serializeAttachment(attachment)
    link.accept(server, this.#clock.nowMs)
    return new Response(null, { status: 101, webSocket: client })
  }

  async #takeClient(request: Request): Promise<Response> {
    const identity = Identity.safeParse(JSON.parse(request.headers.get(IDENTITY_HEADER) ?? 'null'))
    if (!identity.success) return new Response('no identity: connect through the gateway', { status: 401 })
    const refused = await this.#clients.admit(identity.data)
    // A gateway of the version before knows no heavy relays, and asks the next.
    const isOld = refused?.why === 'heavy' && !request.headers.has(POOL_HEADER)
    if (refused !== null) return Response.json(isOld ? { ...refused, why: 'full' } : refused, { status: 503 })
    const { 0: client, 1: server } = new WebSocketPair()
    this.ctx.acceptWebSocket(server)
    this.#clients.enter(server, crypto.randomUUID(), identity.data)
    this.#watch.arm()
    return new Response(null, { status: 101, webSocket: client })
  }

  /** Of GraphQL: its key comes with its first message. */
  #takeGuest(address: string): Response {
    const why = this.#graphql.noRoom(address || null)
    if (why) return Response.json({ why, left: 0 } satisfies Refusal, { status: 503 })
    const { 0: client, 1: server } = new WebSocketPair()
    this.ctx.acceptWebSocket(server)
    this.#graphql.enter(server, address === '' ? null : address)
    const headers = { 'sec-websocket-protocol': GRAPHQL_TRANSPORT_WS_PROTOCOL }
    return new Response(null, { status: 101, webSocket: client, headers })
  }

  #fromLog(socket: WebSocket, text: string): void {
    this.#watch.fed()
    const { frame, rows } = readRelayFrame(text)
    if (!this.#links.admitsOfLog(socket, frame, text.length, this.#clock.nowMs)) return
    this.#clients.blockCame()
    if (frame.t === 'events') {
      this.#subscriptions.deliver(frame, rows)
      this.#links.sent(frame.time, this.#clock.nowMs)
      this.#unread.relieve()
    } else this.#links.tellGap(missingBlocks(frame.from, frame.to))
  }

  #fromHub(socket: WebSocket, index: number, text: string): void {
    this.#watch.fed()
    const frame = decodeHubFrame(text)
    if (!this.#links.hubs[index]?.admits(socket, frame, this.#clock.nowMs)) return
    this.#clients.blockCame()
    this.#books.push(index, frame, this.#clock.nowMs)
    this.#unread.relieve()
    this.#late.arm()
  }

  #gone(socket: WebSocket): void {
    this.#graphql.gone(socket)
    if (this.#clients.gone(socket)) return
    const attachment = parseAttachment(socket.deserializeAttachment())
    if (attachment) this.#links.of(attachment)?.closed(socket)
  }

  #makeSubscriptions({ BOOK_HUBS: shards, CHAIN }: LiveSettings, objects: Objects): Subscriptions {
    const names = new CoinNames({ read: () => this.#links.coins(), nowMs: () => this.#clock.nowMs, after })
    const ports = {
      shards,
      hasBook: async (coin: string) => (await names.has(coin)) || this.#links.hasBook(coin),
      nearestCoin: (coin: string) => names.nearest(coin),
      dexes: () => names.dexes(),
      clock: this.#clock,
      accounts: this.#accounts,
      digest: sha256,
      books: this.#links.source,
      l4: new WholeOrders((coin) => objects.orders(coin)),
      newId: () => crypto.randomUUID(),
      archive: archiveOf(this.env, CHAIN),
      hadTrades: async (coin: string) => (await filesOf(this.env, CHAIN)?.hasTrades(coin)) ?? true,
      playing: (client: Connection, isPlaying: boolean) => this.#clients.playing(client, isPlaying),
      ensureEvents: () => this.#links.log.ensure(),
      ...pastPorts(gatewayOf(this.env), () => this.#links.log.height),
      events: (from: number) => this.#links.eventsFrom(from),
      waitUntil: (work: Promise<unknown>) => this.ctx.waitUntil(work),
      saved: (subscription: Parameters<SubscriptionStore['save']>[0]) => this.#store.save(subscription),
      failed: (client: Connection, error: unknown) => {
        console.error('subscription failed', error)
        client.fail({ kind: 'internal', hint: 'Something went wrong on our side: reconnect.' })
      },
      dropped: (subscription: { minutes: { id: string } }) => this.#store.remove(subscription.minutes.id),
    }
    return new Subscriptions(ports, this.#books, this.#events, this.#l4)
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
