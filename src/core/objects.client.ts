// Stubs of the Durable Objects and of the gateway: the only file with their names and stub types. It lives in core so
// that every folder can import it, and imports none itself, because the binding types know the classes. The platform's
// stub type wraps return values so that they match no interface. Stubs are therefore typed as the async methods of
// their class, and the compiler checks those against the caller's interface.

import type { DurableObject } from 'cloudflare:workers'
import type { Coin } from './coin.ts'
import { hash32 } from './hash.ts'
import type { AccountId } from './ids.ts'
import { type LiveSettings, REGIONS } from './variables.ts'

type Env = Cloudflare.Env
type Internal = Env['GATEWAY'] extends Fetcher<infer Entrypoint> ? Entrypoint : never
type FetchStub = Pick<Fetcher, 'fetch'>
type LocationOptions = Pick<DurableObjectNamespaceGetDurableObjectOptions, 'locationHint'>

/** RPC methods of a class. */
type RpcMethods<Class> = {
  readonly [Name in keyof Class as Name extends keyof DurableObject
    ? never
    : Class[Name] extends (...args: never[]) => Promise<unknown>
      ? Name
      : never]: Class[Name]
}

/** A new stub per call: calls on one stub are ordered, and a failed stub stays broken. */
function stubOf<Class extends Rpc.DurableObjectBranded>(
  namespace: DurableObjectNamespace<Class>,
  name: string,
  place: LocationOptions = {},
) {
  return namespace.getByName(name, place) as RpcMethods<Class> & FetchStub
}

/** Objects of one chain. The first access determines where an object is created, so log and hubs pass a location. */
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

  /** Object that delivers a pipeline's rows. */
  sink(pipeline: string) {
    return stubOf(this.#env.SINK, `${this.#chain}/${pipeline}`, this.#feedLocation)
  }

  hub(index: number) {
    return stubOf(this.#env.BOOK_HUB, `${this.#chain}/${index}`, this.#feedLocation)
  }

  /** A hub that lost its link re-attaches on any call. */
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

  /** The log distinguishes readers by name, so a coin must not collide with a hub or relay. */
  orderBookName(coin: Coin): string {
    return `${this.#chain}/l4/${coin}`
  }

  /** Coin of an order-level book by object name. */
  coinOfOrderBook(name: string): string {
    return name.slice(this.orderBookName('').length)
  }

  /** Relay in a region, created there. `local` is wherever it is first accessed. */
  relay(region: DurableObjectLocationHint | 'local', index: number): FetchStub {
    return this.reader('relay', `${this.#chain}/${region}/${index}`)
  }

  /** Reader of the log or of a hub, by its own name. */
  reader(kind: 'hub' | 'relay' | 'l4', name: string): FetchStub {
    if (kind === 'hub') return this.#env.BOOK_HUB.getByName(name, this.#feedLocation)
    if (kind === 'l4') return this.#env.ORDER_BOOK.getByName(name, this.#feedLocation)
    return this.#env.RELAY.getByName(name, locationOptions(regionOfRelay(name)))
  }

  budget(source: string) {
    return stubOf(this.#env.SOURCE_BUDGET, `${this.#chain}/${source}`)
  }
}

/** Meter of an account, for all chains. */
export function meterOf(env: Pick<Env, 'CREDIT_METER'>, account: AccountId) {
  return stubOf(env.CREDIT_METER, account)
}

/** SQL runner of an account, always the same one. */
export function sqlRunnerOf(env: Pick<Env, 'SQL_RUNNER'>, account: AccountId, runners: number): FetchStub {
  return env.SQL_RUNNER.getByName(`${hash32(account) % runners}`)
}

/** Gateway entry point for objects; only the gateway has the account tables. */
export function gatewayOf(env: Pick<Env, 'GATEWAY'>) {
  return env.GATEWAY as RpcMethods<Internal>
}

/** Shard of a hub by name; NaN for other names. */
export function shardOfHub(name: string): number {
  return Number(/\/(\d+)$/.exec(name)?.[1])
}

/** Region of a relay, from its name `<chain>/<region>/<number>`. */
export function regionOfRelay(name: string): string {
  return name.split('/').at(-2) ?? ''
}

function locationOptions(region: string | null): LocationOptions {
  const locationHint = REGIONS.find((one) => one === region)
  return locationHint === undefined ? {} : { locationHint }
}
