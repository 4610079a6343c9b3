// The Durable Objects, and the gateway behind them, as all of Weir reaches them: the one place with their names and with
// the types of their stubs. It stands in the room that every room may import, and imports none itself: the bindings'
// own types know the classes. The platform's type of a stub wraps every answer until it fits no interface; a caller gets
// what the class promises, so a stub is shown as the asynchronous methods of its class, and the compiler holds those
// against the interface that the caller needs.

import type { DurableObject } from 'cloudflare:workers'
import type { Coin } from './coin.ts'
import { hash32 } from './hash.ts'
import type { AccountId } from './ids.ts'
import { type LiveSettings, REGIONS } from './variables.ts'

type Env = Cloudflare.Env
type Internal = Env['GATEWAY'] extends Fetcher<infer Entrypoint> ? Entrypoint : never
type FetchStub = Pick<Fetcher, 'fetch'>
type LocationOptions = Pick<DurableObjectNamespaceGetDurableObjectOptions, 'locationHint'>

/** What a class answers over RPC. */
type RpcMethods<Class> = {
  readonly [Name in keyof Class as Name extends keyof DurableObject
    ? never
    : Class[Name] extends (...args: never[]) => Promise<unknown>
      ? Name
      : never]: Class[Name]
}

/** Fresh with each call: calls on one stub arrive in order, and a stub that failed stays broken. */
function stubOf<Class extends Rpc.DurableObjectBranded>(
  namespace: DurableObjectNamespace<Class>,
  name: string,
  place: LocationOptions = {},
) {
  return namespace.getByName(name, place) as RpcMethods<Class> & FetchStub
}

/** The objects of one chain. Who asks first for one decides where it is made: who asks for log or hubs says where. */
export class Objects {
  readonly #env: Env
  readonly #chain: string
  readonly #feedLocation: LocationOptions

  constructor(env: Env, { CHAIN, FEED_REGION }: Pick<LiveSettings, 'CHAIN' | 'FEED_REGION'>) {
    this.#env = env
    this.#chain = CHAIN
    this.#feedLocation = locationOptions(FEED_REGION)
  }

  log() {
    return stubOf(this.#env.BLOCK_LOG, this.#chain, this.#feedLocation)
  }

  archiver() {
    return stubOf(this.#env.ARCHIVER, this.#chain, this.#feedLocation)
  }

  compactor() {
    return stubOf(this.#env.COMPACTOR, this.#chain, this.#feedLocation)
  }

  /** What brings a pipeline's rows to their destination. */
  sink(pipeline: string) {
    return stubOf(this.#env.SINK, `${this.#chain}/${pipeline}`, this.#feedLocation)
  }

  hub(index: number) {
    return stubOf(this.#env.BOOK_HUB, `${this.#chain}/${index}`, this.#feedLocation)
  }

  /** A hub whose link is gone attaches again when it is spoken to. */
  async wakeHub(index: number): Promise<void> {
    await this.hub(index)
      .wake()
      .catch(() => undefined)
  }

  wakeHubs(count: number): Promise<unknown> {
    return Promise.all(Array.from({ length: count }, (_, index) => this.wakeHub(index)))
  }

  orderBook(coin: Coin) {
    return stubOf(this.#env.ORDER_BOOK, this.orderBookName(coin), this.#feedLocation)
  }

  /** The log tells its readers apart by their names: no coin may be called like a hub or a relay. */
  orderBookName(coin: Coin): string {
    return `${this.#chain}/l4/${coin}`
  }

  /** The coin of the order-level book with this name. */
  coinOfOrderBook(name: string): string {
    return name.slice(this.orderBookName('').length)
  }

  /** A relay of a region, made there; `local` is wherever it is first asked for. */
  relay(region: DurableObjectLocationHint | 'local', index: number): FetchStub {
    return this.reader('relay', `${this.#chain}/${region}/${index}`)
  }

  /** A reader of the log or of a hub, under the name that it gave itself. */
  reader(kind: 'hub' | 'relay' | 'l4', name: string): FetchStub {
    if (kind === 'hub') return this.#env.BOOK_HUB.getByName(name, this.#feedLocation)
    if (kind === 'l4') return this.#env.ORDER_BOOK.getByName(name, this.#feedLocation)
    return this.#env.RELAY.getByName(name, locationOptions(regionOfRelay(name)))
  }

  budget(source: string) {
    return stubOf(this.#env.SOURCE_BUDGET, `${this.#chain}/${source}`)
  }
}

/** The meter of an account, whatever the chain. */
export function meterOf(env: Pick<Env, 'CREDIT_METER'>, account: AccountId) {
  return stubOf(env.CREDIT_METER, account)
}

/** What runs the SQL of an account: always the same of so many. */
export function sqlRunnerOf(env: Pick<Env, 'SQL_RUNNER'>, account: AccountId, runners: number): FetchStub {
  return env.SQL_RUNNER.getByName(`${hash32(account) % runners}`)
}

/** What objects may ask of the gateway, which alone has the tables of accounts. */
export function gatewayOf(env: Pick<Env, 'GATEWAY'>) {
  return env.GATEWAY as RpcMethods<Internal>
}

/** The shard of the hub with this name; NaN for any other name. */
export function shardOfHub(name: string): number {
  return Number(/\/(\d+)$/.exec(name)?.[1])
}

/** The region of the relay with this name, which stands before its number. */
export function regionOfRelay(name: string): string {
  return name.split('/').at(-2) ?? ''
}

function locationOptions(region: string | null): LocationOptions {
  const locationHint = REGIONS.find((one) => one === region)
  return locationHint === undefined ? {} : { locationHint }
}
