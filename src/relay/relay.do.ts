// Relay: client sockets, their subscriptions and minutes. The shell that puts the parts together: client-frames.client.ts
// and subscriptions.ts decide, the fan-outs send, links.client.ts keeps the links to the log and the hubs.

import { DurableObject } from 'cloudflare:workers'
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws'
import { sha256 } from '../accounts/digest.client.ts'
import { IDENTITY_HEADER, Identity } from '../accounts/identity.ts'
import { RefusalBook } from '../accounts/refusal-book.client.ts'
import { archiveOf } from '../archive/archive/archive.store.ts'
import { filesOf } from '../archive/files/files.store.ts'
import { readRelayFrame } from '../block-log/segment.ts'
import { CoinNames } from '../core/coin-names.ts'
import { orReject } from '../core/deadline.ts'
import { gatewayOf, meterOf, Objects } from '../core/objects.client.ts'
import { after, sleep } from '../core/timers.client.ts'
import { LiveSettings, readVariables } from '../core/variables.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import { LINK_HEADER, type LinkHeader } from '../protocol/feed/log-api.ts'
import { decodeHubFrame } from '../protocol/hub/hub-link.ts'
import { missingBlocks } from '../protocol/relay/frames.ts'
import { CHANNELS } from './channels/catalogue.ts'
import { ClientFrames } from './client-frames.client.ts'
import { ClientSockets } from './client-sockets.client.ts'
import { EventFanout } from './events/event-fanout.ts'
import { GraphqlSockets } from './graphql/graphql-sockets.client.ts'
import { L4Fanout } from './l4/l4-fanout.ts'
import { WholeOrders } from './l4/whole-orders.client.ts'
import { attachmentOf, Links } from './links/links.client.ts'
import { Accounts } from './minutes/account.ts'
import { pastPorts } from './post.client.ts'
import type { Refusal } from './sockets/admission.ts'
import { parseAttachment } from './sockets/attachment.ts'
import { lookUpAnew } from './sockets/callers.client.ts'
import type { Clock, Connection } from './sockets/connection.ts'
import { GUEST_HEADER, poolOf } from './sockets/placement.ts'
import { HEAVY, LIGHT, RelayUnread } from './sockets/unread.ts'
import { StateFanout } from './states/state-fanout.ts'
import { SubscriptionStore } from './subscriptions/subscription.store.ts'
import type { Ports } from './subscriptions/subscription.ts'
import { Subscriptions } from './subscriptions/subscriptions.ts'
import { Watch } from './watch.client.ts'

/** Where accounts that are sent on stand over an end of the object by its own hand. */
const MOVED = 'moved'
/** How long a meter may take to answer a report. */
const METER_MS = 5000

const CLOCK: Clock = {
  get nowMs() {
    return Date.now()
  },
}

export class Relay extends DurableObject<Cloudflare.Env> {
  readonly #store: SubscriptionStore
  readonly #accounts: Accounts
  readonly #unread: RelayUnread
  readonly #links: Links
  readonly #subscriptions: Subscriptions
  readonly #clients: ClientSockets
  readonly #frames: ClientFrames
  readonly #graphql: GraphqlSockets
  readonly #watch: Watch
  /** A timer runs for a hub that is late. */
  #isLateAwaited = false

  /** Each part is made of those before it. */
  // biome-ignore lint/complexity/noExcessiveLinesPerFunction: a list of parts, without a decision.
  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    const { name } = ctx.id
    if (!name) throw new Error('a relay is addressed by its name, by which log and hubs dial it')
    const settings = readVariables(LiveSettings, env)
    const { BOOK_HUBS: shards, RELAY_SOCKETS: maxSockets } = settings
    const objects = new Objects(env, settings)
    const gateway = gatewayOf(env)
    const waitUntil: WaitUntil = (work) => ctx.waitUntil(work)
    const moved = ctx.storage.kv.get<[string, number][]>(MOVED)
    this.#unread = new RelayUnread(poolOf(name) === 'heavy' ? HEAVY : LIGHT, CLOCK.nowMs, moved)
    this.#accounts = new Accounts({
      relay: name,
      life: CLOCK.nowMs,
      clock: CLOCK,
      exchange: (account, report) => orReject(meterOf(env, account).stream(report), METER_MS, after),
      lookUp: (connections, terms) => waitUntil(lookUpAnew(gateway, connections, terms)),
    })
    const events = new EventFanout<Connection>(CHANNELS)
    const l4 = new L4Fanout<Connection>()
    const read = pastPorts(gateway)
    const states = new StateFanout<Connection>({ ...read, clock: CLOCK, waitUntil }, events)
    const log = () => objects.log()
    const linkPorts = { relay: name, shards, clock: CLOCK, log, hub: (index: number) => objects.hub(index) }
    this.#links = new Links(linkPorts, { events, states, l4 })
    this.#store = new SubscriptionStore(ctx.storage)
    const names = new CoinNames({ read: () => this.#links.coins(), nowMs: () => CLOCK.nowMs, after })
    const ports: Ports = {
      ...read,
      shards,
      clock: CLOCK,
      accounts: this.#accounts,
      waitUntil,
      blockHeight: () => this.#links.log.height,
      hasBook: async (coin) => (await names.has(coin)) || this.#links.hasBook(coin),
      nearestCoin: (coin) => names.nearest(coin),
      dexes: () => names.dexes(),
      digest: sha256,
      books: this.#links.source,
      l4: new WholeOrders((coin) => objects.orders(coin)),
      newId: () => crypto.randomUUID(),
      archive: archiveOf(env, settings.CHAIN),
      hadTrades: async (coin) => (await filesOf(env, settings.CHAIN)?.hasTrades(coin)) ?? true,
      withLinks: (run) => this.#links.during(run),
      ensureEvents: () => this.#links.log.ensure(),
      events: (from) => this.#links.eventsFrom(from),
      saved: (subscription) => this.#store.save(subscription),
      dropped: ({ minutes }) => this.#store.remove(minutes.id),
      failed: (client, error) => {
        console.error('subscription failed', error)
        client.fail({ kind: 'internal', hint: 'Something went wrong on our side: reconnect.' })
      },
    }
    this.#subscriptions = new Subscriptions(ports, { events, books: this.#links.books, states, l4 })
    const refusals = new RefusalBook({
      nowMs: () => CLOCK.nowMs,
      sleep,
      report: (error) => console.error('refusals could not be kept', error),
    })
    this.#clients = new ClientSockets({
      clock: CLOCK,
      accounts: this.#accounts,
      maxSockets,
      unread: this.#unread,
      subscriptions: this.#subscriptions,
      // A frame has no request id.
      refused: ({ identity: caller, product }, type, failure) => {
        const call = { caller, requestId: '', product, type, failure }
        refusals.note(call, (batch) => gateway.keepRefusals(batch), waitUntil)
      },
    })
    this.#watch = new Watch(ctx.storage, waitUntil, () => CLOCK.nowMs)
    const toldUpTo = (client: Connection) => (events.owes(client) ? -1 : this.#links.log.height)
    const requests = {
      gateway,
      subscriptions: this.#subscriptions,
      toldUpTo,
      waitUntil,
      changed: () => this.#watch.arm(),
    }
    this.#frames = new ClientFrames(requests)
    this.#graphql = new GraphqlSockets({ ...requests, clock: CLOCK, clients: this.#clients })
    this.#wake()
    ctx.blockConcurrencyWhile(() => this.#beginWatch())
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
    if (typeof message === 'string') this.#deliver(socket, message)
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

  /**
   * One line of the log or of a hub, to the clients that it concerns:
   *
   *   log line ─▶ decode ─▶ new? ─┬▶ events ─▶ states ─▶ orders ─▶ what is asked for: funding, outcomes, candles
   *                               └▶ gap: every subscriber of events is told
   *   hub line ─▶ decode ─▶ new? ─▶ views ─▶ wait for the other hubs of this height ─▶ books
   *
   * Each text is built once and sent to all who get it; then whoever leaves too much unread is cut.
   */
  #deliver(socket: WebSocket, text: string): void {
    const from = parseAttachment(socket.deserializeAttachment())
    const { nowMs } = CLOCK
    if (from?.of === 'log') {
      this.#watch.fed()
      const { frame, rows } = readRelayFrame(text)
      if (!this.#links.admitsOfLog(socket, frame, text.length, nowMs)) return
      this.#clients.blockCame()
      if (frame.t === 'gap') return this.#links.tellGap(missingBlocks(frame.from, frame.to))
      this.#subscriptions.deliver(frame, rows)
      this.#links.sent(frame.time)
      this.#unread.relieve()
    } else if (from?.of === 'hub') {
      this.#watch.fed()
      const frame = decodeHubFrame(text)
      if (!this.#links.hubs[from.index]?.admits(socket, frame, nowMs)) return
      this.#clients.blockCame()
      this.#links.books.push(from.index, frame, nowMs)
      this.#unread.relieve()
      this.#awaitLate()
    }
  }

  /** Lets the hubs that have told go on where another is late for long enough. */
  #awaitLate(): void {
    const { books } = this.#links
    const dueMs = this.#isLateAwaited ? null : books.dueMs()
    if (dueMs === null) return
    this.#isLateAwaited = true
    after(Math.max(0, dueMs - CLOCK.nowMs) + 1, () => {
      this.#isLateAwaited = false
      books.tick(CLOCK.nowMs)
      this.#awaitLate()
    })
  }

  #takeLink(header: LinkHeader): Response {
    const attachment = attachmentOf(header)
    const link = this.#links.of(attachment)
    if (!link?.isAsked) return new Response('no such hub, or nobody waits for it', { status: 404 })
    return this.#accept((server) => {
      server.serializeAttachment(attachment)
      link.accept(server, CLOCK.nowMs)
    })
  }

  async #takeClient(request: Request): Promise<Response> {
    const identity = Identity.safeParse(JSON.parse(request.headers.get(IDENTITY_HEADER) ?? 'null'))
    if (!identity.success) return new Response('no identity: connect through the gateway', { status: 401 })
    const refused = await this.#clients.admit(identity.data)
    if (refused !== null) return Response.json(refused, { status: 503 })
    return this.#accept((server) => {
      this.#clients.enter(server, crypto.randomUUID(), identity.data)
      this.#watch.arm()
    })
  }

  /** Of GraphQL: its key comes with its first message. */
  #takeGuest(address: string): Response {
    const why = this.#graphql.noRoom(address || null)
    if (why) return Response.json({ why, left: 0 } satisfies Refusal, { status: 503 })
    const headers = { 'sec-websocket-protocol': GRAPHQL_TRANSPORT_WS_PROTOCOL }
    return this.#accept((server) => this.#graphql.enter(server, address === '' ? null : address), headers)
  }

  #accept(enter: (server: WebSocket) => void, headers: Readonly<Record<string, string>> = {}): Response {
    const { 0: client, 1: server } = new WebSocketPair()
    this.ctx.acceptWebSocket(server)
    enter(server)
    return new Response(null, { status: 101, webSocket: client, headers })
  }

  #gone(socket: WebSocket): void {
    this.#graphql.gone(socket)
    if (this.#clients.gone(socket)) return
    const attachment = parseAttachment(socket.deserializeAttachment())
    if (attachment) this.#links.of(attachment)?.closed(socket)
  }

  /** Takes up what outlived the relay's memory: its sockets, by their attachments, and their subscriptions. */
  #wake(): void {
    const clients = new Map<string, Connection>()
    for (const socket of this.ctx.getWebSockets()) {
      const client = socket.readyState === WebSocket.OPEN ? this.#restored(socket) : null
      if (client && !client.ended) clients.set(client.id, client)
    }
    for (const saved of this.#store.all()) {
      const socket = clients.get(saved.socket)
      const client = socket && saved.operation !== '' ? this.#graphql.wake(socket, saved) : socket
      if (client) this.#subscriptions.restore(client, saved)
      else this.#store.remove(saved.id)
      // Its meter learns which minutes died with the sockets, so that whoever reconnects anywhere has their rests.
      if (!client && saved.account !== '') this.#accounts.of(saved.account).report()
    }
    // A link that did not outlive it leaves events unseen, and books that nobody can continue.
    if (!this.#links.log.up) this.#links.tellGap('The relay was restarted: some events may be missing.')
    this.#links.hubs.forEach(({ link }, index) => {
      if (!link.up) this.#links.breakDiffs(index)
    })
  }

  /** The client whose socket it is, if it is one's. */
  #restored(socket: WebSocket): Connection | null {
    const attachment = parseAttachment(socket.deserializeAttachment())
    if (attachment?.of === 'client') {
      const sockets = attachment.product === 'graphql' ? this.#graphql : this.#clients
      return sockets.restore(socket, attachment)
    }
    if (attachment?.of === 'guest') this.#graphql.restoreGuest(socket, attachment)
    else if (attachment) this.#links.of(attachment)?.restore(socket, CLOCK.nowMs)
    return null
  }

  #beginWatch(): Promise<void> {
    return this.#watch.begin(
      () => this.#state(),
      [
        () => this.#accounts.tick(),
        () => this.#clients.look(this.#links.isNeeded),
        () => this.#graphql.look(),
        () => this.#subscriptions.tick(),
        () => this.#links.watch(CLOCK.nowMs, this.#clients.size),
        () => this.#endIfLost(),
      ],
    )
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
    this.ctx.storage.kv.put(MOVED, this.#unread.toMove(CLOCK.nowMs))
    this.ctx.waitUntil(this.ctx.storage.sync().then(() => this.ctx.abort('too much is unread on closed sockets')))
  }
}

/** Which the protocol leaves for what never travels. */
const UNSENDABLE: ReadonlySet<number> = new Set([1004, 1005, 1006, 1015])

/**
 * The code to answer a client's close with; undefined: none, as the client's. One that may not be sent is an error of the
 * protocol. Invariant: every close is answered, so that the platform lets go of the socket: one that it cannot answer stays
 * open, uncounted.
 */
function answerTo(code: number): number | undefined {
  if (code === 1005 || code === 1006) return undefined
  return code >= 1000 && code < 5000 && !UNSENDABLE.has(code) ? code : 1002
}
