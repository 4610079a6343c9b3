// One hub as a relay sees it: its link and the relay's active interest. Invariant: the active interest always covers
// the subscriptions, and unneeded interest is released in time.

import type { MarketType } from '../../core/coin.ts'
import { orReject } from '../../core/deadline.ts'
import { after } from '../../core/timers.client.ts'
import type { Cursor } from '../../protocol/feed/log-api.ts'
import type { BookHubApi, BookInterest, JoinResponse, ViewsResponse } from '../../protocol/hub/hub-api.ts'
import { HUB_API_VERSION } from '../../protocol/hub/hub-api.ts'
import type { HubTick } from '../../protocol/hub/hub-link.ts'
import type { AttachOutcome, LinkPorts } from './link.client.ts'
import { Link } from './link.client.ts'

/**
 * Timeout of a call. It is longer than any stall of a live hub. After this time, clients that wait for books must
 * reconnect.
 */
const CALL_TIMEOUT_MS = 15_000

interface Interest {
  readonly coins: ReadonlySet<string>
  readonly types: ReadonlySet<MarketType>
  readonly views: ReadonlySet<string>
}

export interface HubPorts extends Pick<LinkPorts, 'isNeeded' | 'onLost' | 'onRestart'> {
  /** Name of the relay's object, by which the hub dials it. */
  readonly relay: string
  /** Returns a fresh stub. Calls on one stub arrive in order, and a failed stub stays broken. */
  stub(): BookHubApi
  /** Interest of all current subscriptions in this hub. */
  interest(): Interest
}

export class Hub {
  readonly link: Link
  readonly #ports: HubPorts
  readonly #sentHeights = new SentHeights()
  #api: BookHubApi
  #active: Interest = { coins: new Set(), types: new Set(), views: new Set() }

  constructor(ports: HubPorts) {
    this.#ports = ports
    this.#api = ports.stub()
    const restarted = () => {
      this.#sentHeights.clear()
      ports.onRestart()
    }
    this.link = new Link({ ...ports, onRestart: restarted, attach: (cursor) => this.#attach(cursor) })
  }

  /** True if a frame is new and may be used. */
  accepts(socket: WebSocket, { height, epoch }: Pick<HubTick, 'height' | 'epoch'>, nowMs: number): boolean {
    if (this.link.ownsSocket(socket) && this.#sentHeights.isLost(height, epoch)) this.#ports.onLost()
    if (!this.link.admit(socket, height, epoch, nowMs)) return false
    this.#sentHeights.record(height, epoch)
    return true
  }

  async join(coins: readonly string[], withBooks: boolean): Promise<JoinResponse> {
    if (!this.#activate({ coins })) return { v: HUB_API_VERSION, ready: false, snapshots: [], unknown: [], rest: coins }
    return this.#call((api) => orReject(api.join(this.#ports.relay, coins, withBooks), CALL_TIMEOUT_MS, after))
  }

  /** Rejects if the link is down. */
  async joinTypes(types: readonly MarketType[]): Promise<{ readonly coins: readonly string[] }> {
    if (!this.#activate({ types })) throw new Error('the link is down')
    return this.#call((api) => orReject(api.joinTypes(this.#ports.relay, types), CALL_TIMEOUT_MS, after))
  }

  /** Rejects if the link is down. */
  async joinViews(interests: readonly string[]): Promise<ViewsResponse> {
    if (!this.#activate({ views: interests })) throw new Error('the link is down')
    return this.#call((api) => orReject(api.joinViews(this.#ports.relay, interests), CALL_TIMEOUT_MS, after))
  }

  /**
   * Adds to the active interest. Returns false while the link is down: an attach request in flight would lack the new
   * interest, and the hub might add it to the old link.
   */
  #activate({ coins = [], types = [], views = [] }: Partial<BookInterest>): boolean {
    if (!this.link.isUp) return false
    this.#active = union(this.#active, { coins: new Set(coins), types: new Set(types), views: new Set(views) })
    return true
  }

  /** Sends the needed interest if it differs from the active one. Do not call it while a subscription starts. */
  async syncInterest(): Promise<void> {
    const needed = this.#ports.interest()
    const previous = this.#active
    if (same(needed.coins, previous.coins) && same(needed.types, previous.types) && same(needed.views, previous.views))
      return
    try {
      const interest = this.#setActive(needed)
      await this.#call((api) => api.setInterest(this.#ports.relay, interest))
    } catch (error) {
      // The active interest is unknown now. It is sent again while it differs from the needed interest.
      this.#active = union(previous, this.#active)
      throw error
    }
  }

  /**
   * A stub may break while the link, which is a separate connection, stays up. The next call then uses a fresh stub.
   */
  async #call<T>(call: (api: BookHubApi) => Promise<T>): Promise<T> {
    const api = this.#api
    try {
      return await call(api)
    } catch (error) {
      if (this.#api === api) this.#api = this.#ports.stub()
      throw error
    }
  }

  async #attach(cursor: Cursor | null): Promise<AttachOutcome> {
    this.#api = this.#ports.stub()
    // A starting subscription may have activated interest that no body has yet.
    const interest = this.#setActive(union(this.#ports.interest(), this.#active))
    const { lastSent } = this.#sentHeights
    const response = await this.#api.attach({ v: HUB_API_VERSION, relay: this.#ports.relay, interest, cursor })
    this.#sentHeights.onAttached(lastSent, response.epoch, response.height)
    return response
  }

  #setActive({ coins, types, views }: Interest): BookInterest {
    this.#active = { coins: new Set(coins), types: new Set(types), views: new Set(views) }
    return { coins: [...coins], types: [...types], views: [...views] }
  }
}

function union(a: Interest, b: Interest): Interest {
  const of = <T>(one: ReadonlySet<T>, other: ReadonlySet<T>) => new Set([...one, ...other])
  return { coins: of(a.coins, b.coins), types: of(a.types, b.types), views: of(a.views, b.views) }
}

function same<T>(a: ReadonlySet<T>, b: ReadonlySet<T>): boolean {
  return a.size === b.size && [...a].every((item) => b.has(item))
}

/**
 * How far a hub has sent its books. Invariant: a hub that restarts below the last sent height must reach it again in
 * the same epoch from the log's blocks. If its books end below that height, clients' books cannot continue.
 */
export class SentHeights {
  /** Height and epoch of the last sent books. */
  lastSent: Cursor | null = null
  /** Position that the hub must reach again. */
  #expected: Cursor | null = null

  /** The hub reports its position. `previous` is the last sent position at the time of the request. */
  onAttached(previous: Cursor | null, epoch: string | null, height: number | null): void {
    const isBelow = previous !== null && epoch === previous.epoch && (height ?? -1) < previous.height
    if (isBelow && previous === this.lastSent) this.#expected = previous
  }

  /**
   * The hub reports a height, possibly again; `epoch` is null if its books are unknown. Returns true if books that were
   * sent are lost.
   */
  isLost(height: number, epoch: string | null): boolean {
    const isElsewhere = this.#expected !== null && epoch !== this.#expected.epoch
    const isLost = isElsewhere || (epoch === null && height <= (this.lastSent?.height ?? -1))
    if (isLost) this.clear()
    else if (height >= (this.#expected?.height ?? -1)) this.#expected = null
    return isLost
  }

  /** Records a newly sent height. */
  record(height: number, epoch: string | null): void {
    if (epoch !== null) this.lastSent = { height, epoch }
  }

  clear(): void {
    this.lastSent = null
    this.#expected = null
  }
}
