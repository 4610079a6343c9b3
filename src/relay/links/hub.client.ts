// One hub as a relay sees it: the link with its frames, and the coins that are in force on it.
// Law: what is in force is never less than what subscriptions need; what is no longer needed is given back in time.

import type { MarketType } from '../../core/coin.ts'
import { orReject } from '../../core/deadline.ts'
import { after } from '../../core/timers.client.ts'
import type { Cursor } from '../../protocol/feed/log-api.ts'
import type { BookHubApi, BookInterest, JoinResponse, ViewsResponse } from '../../protocol/hub/hub-api.ts'
import { HUB_API_VERSION } from '../../protocol/hub/hub-api.ts'
import type { HubTick } from '../../protocol/hub/hub-link.ts'
import type { AttachOutcome, LinkPorts } from './link.client.ts'
import { Link } from './link.client.ts'

/** Longer than a hub stalls that still lives: who waits for its books would have to connect again. */
const CALL_TIMEOUT_MS = 15_000

interface Interest {
  readonly coins: ReadonlySet<string>
  readonly types: ReadonlySet<MarketType>
  readonly views: ReadonlySet<string>
}

export interface HubPorts extends Pick<LinkPorts, 'isNeeded' | 'onLost' | 'onRestart'> {
  /** Name of the relay's object, by which the hub dials it. */
  readonly relay: string
  /** A fresh stub: calls on one stub arrive in order, and a stub that failed stays broken. */
  stub(): BookHubApi
  /** What present subscriptions need of this hub. */
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

  /** True where a frame is new and its content may be used. */
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

  /** Rejects where the link is down. */
  async joinTypes(types: readonly MarketType[]): Promise<{ readonly coins: readonly string[] }> {
    if (!this.#activate({ types })) throw new Error('the link is down')
    return this.#call((api) => orReject(api.joinTypes(this.#ports.relay, types), CALL_TIMEOUT_MS, after))
  }

  /** Rejects where the link is down. */
  async joinViews(wants: readonly string[]): Promise<ViewsResponse> {
    if (!this.#activate({ views: wants })) throw new Error('the link is down')
    return this.#call((api) => orReject(api.joinViews(this.#ports.relay, wants), CALL_TIMEOUT_MS, after))
  }

  /**
   * False while the link is down: one that is being taken up anew was asked for without these, and the hub may put them
   * to the one that it replaces.
   */
  #activate({ coins = [], types = [], views = [] }: Partial<BookInterest>): boolean {
    if (!this.link.isUp) return false
    this.#active = union(this.#active, { coins: new Set(coins), types: new Set(types), views: new Set(views) })
    return true
  }

  /** Tells the hub what is needed where that differs from what is in force. Not while a subscription begins. */
  async syncInterest(): Promise<void> {
    const needed = this.#ports.interest()
    const before = this.#active
    if (same(needed.coins, before.coins) && same(needed.types, before.types) && same(needed.views, before.views)) return
    try {
      const interest = this.#setActive(needed)
      await this.#call((api) => api.setInterest(this.#ports.relay, interest))
    } catch (error) {
      // What is in force is not known now: as long as it differs from what is needed, the hub is told again.
      this.#active = union(before, this.#active)
      throw error
    }
  }

  /** A stub may break while the link, a connection of its own, lives on: the next call is made on a fresh one. */
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
    // A subscription that is beginning has brought into force what no body names yet.
    const interest = this.#setActive(union(this.#ports.interest(), this.#active))
    const { lastSent } = this.#sentHeights
    const answer = await this.#api.attach({ v: HUB_API_VERSION, relay: this.#ports.relay, interest, cursor })
    this.#sentHeights.onAttached(lastSent, answer.epoch, answer.height)
    return answer
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
 * How far a hub has told its books. Invariant: a hub that begins anew below what it told must come there again in the same
 * epoch, by the blocks that the log held; where its books end before that, what clients hold is not what it goes on from.
 */
export class SentHeights {
  /** The last height and epoch of which books were told. */
  lastSent: Cursor | null = null
  /** Where the hub has to come again. */
  #expected: Cursor | null = null

  /** The hub answers where it stands; `told` is what had been told when it was asked. */
  onAttached(told: Cursor | null, epoch: string | null, height: number | null): void {
    const isBelow = told !== null && epoch === told.epoch && (height ?? -1) < told.height
    if (isBelow && told === this.lastSent) this.#expected = told
  }

  /** The hub tells a height, again or anew, `epoch` null where its books are not known. True: what was told is lost. */
  isLost(height: number, epoch: string | null): boolean {
    const isElsewhere = this.#expected !== null && epoch !== this.#expected.epoch
    const isLost = isElsewhere || (epoch === null && height <= (this.lastSent?.height ?? -1))
    if (isLost) this.clear()
    else if (height >= (this.#expected?.height ?? -1)) this.#expected = null
    return isLost
  }

  /** A new height was told. */
  record(height: number, epoch: string | null): void {
    if (epoch !== null) this.lastSent = { height, epoch }
  }

  clear(): void {
    this.lastSent = null
    this.#expected = null
  }
}
