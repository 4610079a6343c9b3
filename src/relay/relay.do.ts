// Relay: the Durable Object that holds client sockets, their subscriptions and minutes. It wires the parts:
// client-frames.client.ts and subscriptions.ts decide, the fan-outs send, and links.client.ts manages the links to the
// log and the hubs.

import { DurableObject } from 'cloudflare:workers'
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws'
import { sha256 } from '../accounts/digest.client.ts'
import { IDENTITY_HEADER, Identity } from '../accounts/identity.ts'
import { RefusalLog } from '../accounts/refusal-log.client.ts'
import { archiveOf } from '../archive/archive/archive.store.ts'
import { filesOf } from '../archive/files/files.store.ts'
import { readRelayFrame } from '../block-log/segment.ts'
import { CoinNames } from '../core/coin-names.ts'
import { countStart, reportCounters } from '../core/counter-reports.client.ts'
import { orReject } from '../core/deadline.ts'
import { logEvent } from '../core/log.client.ts'
import { objectName } from '../core/object-name.store.ts'
import { gatewayOf, meterOf, Objects, regionOfRelay } from '../core/objects.client.ts'
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
import { OrdersFetcher } from './l4/orders-fetcher.client.ts'
import { attachmentOf, Links } from './links/links.client.ts'
import { MaintenanceTimer } from './maintenance-timer.client.ts'
import { Accounts } from './minutes/account.ts'
import { infoPorts } from './post.client.ts'
import type { Refusal } from './sockets/admission.ts'
import { parseAttachment } from './sockets/attachment.ts'
import { refreshCallers } from './sockets/callers.client.ts'
import type { Clock, Connection } from './sockets/connection.ts'
import { GUEST_HEADER, poolOf } from './sockets/placement.ts'
import { HEAVY, IsolateRelays, LIGHT, RelayUnread } from './sockets/unread.ts'
import { StateFanout } from './states/state-fanout.ts'
import { SubscriptionStore } from './subscriptions/subscription.store.ts'
import type { Ports } from './subscriptions/subscription.ts'
import { Subscriptions } from './subscriptions/subscriptions.ts'

/** Storage key of the accounts to redirect. They survive a restart that the object triggers itself. */
const MOVED = 'moved'
/** Timeout of a meter report. */
const METER_TIMEOUT_MS = 5000

/** Relays in this isolate. */
const ISOLATE = new IsolateRelays()
const CLOCK: Clock = {
  get nowMs() {
    return Date.now()
  },
}

export class Relay extends DurableObject<Cloudflare.Env> {
  readonly #name: string
  readonly #store: SubscriptionStore
  readonly #accounts: Accounts
  readonly #unread: RelayUnread
  readonly #links: Links
  readonly #subscriptions: Subscriptions
  readonly #clients: ClientSockets
  readonly #frames: ClientFrames
  readonly #graphql: GraphqlSockets
  readonly #maintenance: MaintenanceTimer
  /** A timer runs for a late hub. */
  #hasLateTimer = false

  /** Each part depends on the parts above it. */
  // biome-ignore lint/complexity/noExcessiveLinesPerFunction: a list of parts, without a decision.
  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    countStart('Relay')
    const name = objectName(ctx)
    this.#name = name
    const settings = readVariables(LiveSettings, env)
    const { BOOK_HUBS: shards, RELAY_SOCKETS: maxSockets } = settings
    const objects = new Objects(env, settings)
    const gateway = gatewayOf(env)
    const waitUntil: WaitUntil = (work) => ctx.waitUntil(work)
    const moved = ctx.storage.kv.get<[string, number][]>(MOVED)
    this.#unread = new RelayUnread(poolOf(name) === 'heavy' ? HEAVY : LIGHT, CLOCK.nowMs, moved, ISOLATE)
    ISOLATE.add(name, this.#unread)
    this.#accounts = new Accounts({
      relay: name,
      life: CLOCK.nowMs,
      clock: CLOCK,
      exchange: (account, report) =>
        orReject(meterOf(env, account, regionOfRelay(name)).stream(report), METER_TIMEOUT_MS, after),
      refreshCallers: (connections, terms) => waitUntil(refreshCallers(gateway, connections, terms)),
    })
    const events = new EventFanout<Connection>(CHANNELS)
    const l4 = new L4Fanout<Connection>()
    const read = infoPorts(gateway)
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
      l4: objects.hasJobs ? new OrdersFetcher((coin) => objects.orderBook(coin)) : null,
      newId: () => crypto.randomUUID(),
      archive: archiveOf(env, settings.CHAIN),
      hadTrades: async (coin) => (await filesOf(env, settings.CHAIN)?.hasTrades(coin)) ?? true,
      withLinks: (run) => this.#links.withLinksUp(run),
      ensureLog: () => this.#links.log.ensure(),
      events: (from) => this.#links.eventsFrom(from),
      save: (subscription) => this.#store.save(subscription),
      forget: ({ minutes }) => this.#store.remove(minutes.id),
      onError: (client, error) => {
        logEvent('subscription_failed', { error })
        client.fail({ kind: 'internal', hint: 'Internal error. Reconnect.' })
      },
    }
    this.#subscriptions = new Subscriptions(ports, { events, books: this.#links.books, states, l4 })
    const refusals = new RefusalLog({
      nowMs: () => CLOCK.nowMs,
      sleep,
      report: (error) => logEvent('refusals_lost', { error }),
    })
    this.#clients = new ClientSockets({
      clock: CLOCK,
      accounts: this.#accounts,
      maxSockets,
      unread: this.#unread,
      subscriptions: this.#subscriptions,
      // A frame has no request id.
      onRejected: ({ identity: caller, product }, type, failure) => {
        const call = { caller, requestId: '', product, type, failure }
        refusals.record(call, (batch) => gateway.storeRefusals(batch), waitUntil)
      },
    })
    this.#maintenance = new MaintenanceTimer(ctx.storage, waitUntil, () => CLOCK.nowMs)
    const sentHeight = (client: Connection) => (events.hasPending(client) ? -1 : this.#links.log.height)
    const requests = {
      gateway,
      subscriptions: this.#subscriptions,
      sentHeight,
      waitUntil,
      onChange: () => this.#maintenance.schedule(),
    }
    this.#frames = new ClientFrames(requests)
    this.#graphql = new GraphqlSockets({ ...requests, clock: CLOCK, clients: this.#clients })
    this.#restore()
    ctx.blockConcurrencyWhile(() => this.#startMaintenance())
  }

  override async fetch(request: Request): Promise<Response> {
    // The log and the hubs dial a relay by its name.
    if (this.#name === '') return new Response('this relay has no name', { status: 404 })
    if (request.headers.get('upgrade') !== 'websocket') return new Response('send a WebSocket upgrade', { status: 426 })
    const link = request.headers.get(LINK_HEADER)
    if (link !== null) return this.#acceptLink(JSON.parse(link) as LinkHeader)
    const guest = request.headers.get(GUEST_HEADER)
    return guest === null ? this.#acceptClient(request) : this.#acceptGuest(guest)
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    if (this.#graphql.onMessage(socket, message)) return
    const client = this.#clients.of(socket)
    if (client) return this.#frames.handle(client, message)
    if (typeof message === 'string') this.#deliver(socket, message)
  }

  override async webSocketClose(socket: WebSocket, code: number, reason: string): Promise<void> {
    // The runtime does not answer when a hibernating socket closes.
    const replyCode = closeReplyCode(code)
    try {
      if (replyCode === undefined) socket.close()
      else socket.close(replyCode, replyCode === code ? reason : 'invalid close code')
    } catch {
      // Already closed on our side.
    }
    this.#onClosed(socket, code)
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    this.#onClosed(socket)
  }

  override async alarm(): Promise<void> {
    this.#maintenance.onAlarm()
    reportCounters(this.ctx, this.env)
    this.ctx.waitUntil(this.#accounts.settled())
  }

  /**
   * Routes one line of the log or of a hub to the clients that it concerns:
   *
   *   log line ─▶ decode ─▶ new? ─┬▶ events ─▶ states ─▶ orders ─▶ fetched data: funding, outcomes, candles
   *                               └▶ gap: notify every subscriber of events
   *   hub line ─▶ decode ─▶ new? ─▶ views ─▶ wait for the other hubs of this height ─▶ books
   *
   * Each frame is built once for all receivers. Then sockets with too much unread data are closed.
   */
  #deliver(socket: WebSocket, text: string): void {
    const from = parseAttachment(socket.deserializeAttachment())
    const { nowMs } = CLOCK
    if (from?.of === 'log') {
      this.#maintenance.onFrame()
      const { frame, rows } = readRelayFrame(text)
      if (!this.#links.acceptsFromLog(socket, frame, text.length, nowMs)) return
      this.#clients.onBlock()
      if (frame.t === 'gap') return this.#links.notifyGap(missingBlocks(frame.from, frame.to))
      this.#subscriptions.deliver(frame, rows)
      this.#links.onSent(frame.time)
      this.#unread.enforceWatermark(nowMs)
    } else if (from?.of === 'hub') {
      this.#maintenance.onFrame()
      const frame = decodeHubFrame(text)
      if (!this.#links.hubs[from.index]?.accepts(socket, frame, nowMs)) return
      this.#clients.onBlock()
      this.#links.books.push(from.index, frame, nowMs)
      this.#unread.enforceWatermark(nowMs)
      this.#scheduleLateTick()
    }
  }

  /** Stops waiting for a late hub after its deadline. */
  #scheduleLateTick(): void {
    const { books } = this.#links
    const dueMs = this.#hasLateTimer ? null : books.dueMs()
    if (dueMs === null) return
    this.#hasLateTimer = true
    after(Math.max(0, dueMs - CLOCK.nowMs) + 1, () => {
      this.#hasLateTimer = false
      books.tick(CLOCK.nowMs)
      this.#scheduleLateTick()
    })
  }

  #acceptLink(header: LinkHeader): Response {
    const attachment = attachmentOf(header)
    const link = this.#links.linkOf(attachment)
    if (!link?.isDialing) return new Response('unknown or unexpected hub', { status: 404 })
    return this.#accept((server) => {
      server.serializeAttachment(attachment)
      link.accept(server, CLOCK.nowMs)
    })
  }

  async #acceptClient(request: Request): Promise<Response> {
    const identity = Identity.safeParse(JSON.parse(request.headers.get(IDENTITY_HEADER) ?? 'null'))
    if (!identity.success) return new Response('missing identity, connect through the gateway', { status: 401 })
    const refused = await this.#clients.admit(identity.data)
    if (refused !== null) return Response.json(refused, { status: 503 })
    return this.#accept((server) => {
      this.#clients.add(server, crypto.randomUUID(), identity.data)
      this.#maintenance.schedule()
    })
  }

  /** A GraphQL client, whose key comes in its first message. */
  #acceptGuest(address: string): Response {
    const why = this.#graphql.noRoomReason(address || null)
    if (why) return Response.json({ why, left: 0 } satisfies Refusal, { status: 503 })
    const headers = { 'sec-websocket-protocol': GRAPHQL_TRANSPORT_WS_PROTOCOL }
    return this.#accept((server) => this.#graphql.addGuest(server, address === '' ? null : address), headers)
  }

  #accept(enter: (server: WebSocket) => void, headers: Readonly<Record<string, string>> = {}): Response {
    const { 0: client, 1: server } = new WebSocketPair()
    this.ctx.acceptWebSocket(server)
    enter(server)
    return new Response(null, { status: 101, webSocket: client, headers })
  }

  #onClosed(socket: WebSocket, code?: number): void {
    this.#graphql.onClosed(socket)
    if (this.#clients.onClosed(socket, code)) return
    const attachment = parseAttachment(socket.deserializeAttachment())
    if (attachment) this.#links.linkOf(attachment)?.onClosed(socket)
  }

  /** Restores sockets from their attachments, and their subscriptions. */
  #restore(): void {
    const clients = new Map<string, Connection>()
    for (const socket of this.ctx.getWebSockets()) {
      const client = socket.readyState === WebSocket.OPEN ? this.#restoreSocket(socket) : null
      if (client && !client.isEnded) clients.set(client.id, client)
    }
    for (const saved of this.#store.all()) {
      const socket = clients.get(saved.socket)
      const client = socket && saved.operation !== '' ? this.#graphql.restoreOperation(socket, saved) : socket
      if (client) this.#subscriptions.restore(client, saved)
      else this.#store.remove(saved.id)
      // Reports to the meter which minutes ended with the sockets, so that clients can resume the paid rest elsewhere.
      if (!client && saved.account !== '') this.#accounts.of(saved.account).report()
    }
    // A link that did not survive means missed events, and books that cannot continue.
    if (!this.#links.log.isUp) this.#links.notifyGap('The relay restarted. Some events may be missing.')
    this.#links.hubs.forEach(({ link }, index) => {
      if (!link.isUp) this.#links.breakDiffs(index)
    })
  }

  /** Returns the client of the socket, if it is a client's. */
  #restoreSocket(socket: WebSocket): Connection | null {
    const attachment = parseAttachment(socket.deserializeAttachment())
    if (attachment?.of === 'client') {
      const sockets = attachment.product === 'graphql' ? this.#graphql : this.#clients
      return sockets.restore(socket, attachment)
    }
    if (attachment?.of === 'guest') this.#graphql.restoreGuest(socket, attachment)
    else if (attachment) this.#links.linkOf(attachment)?.restore(socket, CLOCK.nowMs)
    return null
  }

  #startMaintenance(): Promise<void> {
    return this.#maintenance.start(
      () => this.#state(),
      [
        () => this.#accounts.tick(),
        () => this.#clients.check(this.#links.isNeeded),
        () => this.#graphql.check(),
        () => this.#subscriptions.tick(),
        () => this.#links.check(CLOCK.nowMs, { sockets: this.#clients.size, subscriptions: this.#subscriptions.size }),
        () => this.#restartIfOverfull(),
      ],
    )
  }

  #state(): 'busy' | 'idle' | 'none' {
    if (this.#subscriptions.size > 0 || this.#accounts.hasPendingEvents) return 'busy'
    const isAlone = this.#clients.size + this.#accounts.size + this.#graphql.guests === 0 && !this.#links.isUp
    return isAlone ? 'none' : 'idle'
  }

  /** Only a restart frees unread data on sockets that we closed. All other clients reconnect. */
  #restartIfOverfull(): void {
    if (!this.#unread.isOverfull) return
    logEvent('relay_restarted', { stranded_bytes: this.#unread.strandedBytes })
    this.ctx.storage.kv.put(MOVED, this.#unread.movedAccounts(CLOCK.nowMs))
    this.ctx.waitUntil(this.ctx.storage.sync().then(() => this.ctx.abort('too much unread data on closed sockets')))
  }
}

/** Close codes that the protocol reserves and that must never be sent. */
const RESERVED_CODES: ReadonlySet<number> = new Set([1004, 1005, 1006, 1015])

/**
 * Returns the close code that answers a client's close; undefined if the answer has no code. A reserved or invalid code
 * is a protocol error. Invariant: every close is answered, because the platform keeps an unanswered socket open and
 * uncounted.
 */
function closeReplyCode(code: number): number | undefined {
  if (code === 1005 || code === 1006) return undefined
  return code >= 1000 && code < 5000 && !RESERVED_CODES.has(code) ? code : 1002
}
