// Stubs of the Durable Objects and of the gateway. No other file has their names and stub types. This file is in core
// so that every folder can import it. It imports no other folder, because the binding types know the classes.
//
// The stub type of the platform wraps return values so that they match no interface. Stubs are therefore typed as the
// async methods of their class, which the compiler checks against the caller's interface.

import type { DurableObject } from 'cloudflare:workers'
import type { Coin } from './coin.ts'
import { hash32 } from './hash.ts'
import type { AccountId } from './ids.ts'
import { type LiveSettings, REGIONS } from './variables.ts'

type Env = Cloudflare.Env
type Internal = Env['GATEWAY'] extends Fetcher<infer Entrypoint> ? Entrypoint : never
type FetchStub = Pick<Fetcher, 'fetch'>
type LocationOptions = Pick<DurableObjectNamespaceGetDurableObjectOptions, 'locationHint'>

/** The RPC methods of a class. */
type RpcMethods<Class> = {
  readonly [Name in keyof Class as Name extends keyof DurableObject
    ? never
    : Class[Name] extends (...args: never[]) => Promise<unknown>
      ? Name
      : never]: Class[Name]
}

/** Creates a new stub for each call, because calls on one stub are ordered and a failed stub remains broken. */
function stubOf<Class extends Rpc.DurableObjectBranded>(
  namespace: DurableObjectNamespace<Class>,
  name: string,
  options: LocationOptions = {},
) {
  return namespace.getByName(name, options) as RpcMethods<Class> & FetchStub
}

/**
 * The objects of one chain. An object is created where it is first accessed, so the log and the hubs are accessed with
 * a location.
 */
export class Objects {
  readonly #env: Env
  readonly #chain: string
  readonly #feedLocation: LocationOptions

  constructor(env: Env, { CHAIN, FEED_REGION }: Pick<LiveSettings, 'CHAIN' | 'FEED_REGION'>) {
    this.#env = env
    this.#chain = CHAIN
    this.#feedLocation = locationOptions(FEED_REGION)
  }

  /** False without the jobs Worker. There are then no archive, no pipelines and no order-level books. */
  get hasJobs(): boolean {
    const { SINK: sinks }: Partial<Env> = this.#env
    return sinks !== undefined
  }

  log() {
    return stubOf(this.#env.BLOCK_LOG, this.#chain, this.#feedLocation)
  }

  /** Answers for the log when its status is requested. */
  statusCache() {
    return stubOf(this.#env.STATUS_CACHE, this.#chain, this.#feedLocation)
  }

  archiver() {
    return stubOf(this.#env.ARCHIVER, this.#chain, this.#feedLocation)
  }

  compactor() {
    return stubOf(this.#env.COMPACTOR, this.#chain, this.#feedLocation)
  }

  /** The object that delivers the rows of a pipeline. */
  sink(pipeline: string) {
    return stubOf(this.#env.SINK, `${this.#chain}/${pipeline}`, this.#feedLocation)
  }

  /** The object that reads new blocks for all pipelines. */
  follower() {
    return stubOf(this.#env.PIPELINE_FOLLOWER, this.#chain, this.#feedLocation)
  }

  hub(index: number) {
    return stubOf(this.#env.BOOK_HUB, `${this.#chain}/${index}`, this.#feedLocation)
  }

  /** Calls a hub. On any call, a hub without a link attaches again. */
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

  /**
   * Name of a coin's order-level book. The log distinguishes readers by name, so this name must differ from those of
   * hubs and relays.
   */
  orderBookName(coin: Coin): string {
    return `${this.#chain}/l4/${coin}`
  }

  /** The coin of an order-level book, from the name of its object. */
  coinOfOrderBook(name: string): string {
    return name.slice(this.orderBookName('').length)
  }

  /** A relay, which is created in its region. A `local` relay is created wherever it is first accessed. */
  relay(region: DurableObjectLocationHint | 'local', index: number): FetchStub {
    return this.reader('relay', `${this.#chain}/${region}/${index}`)
  }

  /** A reader of the log or of a hub, by the reader's name. */
  reader(kind: 'hub' | 'relay' | 'l4', name: string): FetchStub {
    if (kind === 'hub') return this.#env.BOOK_HUB.getByName(name, this.#feedLocation)
    if (kind === 'l4') return this.#env.ORDER_BOOK.getByName(name, this.#feedLocation)
    return this.#env.RELAY.getByName(name, locationOptions(regionOfRelay(name)))
  }

  budget(source: string) {
    return stubOf(this.#env.SOURCE_BUDGET, `${this.#chain}/${source}`, this.#feedLocation)
  }
}

/** The meter of an account, which all chains share. The region matters only for the first access, which creates it. */
export function meterOf(env: Pick<Env, 'CREDIT_METER'>, account: AccountId, region: string | null) {
  return stubOf(env.CREDIT_METER, account, locationOptions(region))
}

/** The object that owns the payments of a wallet on a network. It is created near the first payment. */
export function payerOf(env: Pick<Env, 'PAYER'>, network: string, address: string) {
  return stubOf(env.PAYER, `${network}:${address}`)
}

/** The object that sums the counters of all isolates and sends alerts. */
export function monitorOf(env: Partial<Pick<Env, 'MONITOR'>>) {
  if (env.MONITOR === undefined) throw new Error('MONITOR is not bound')
  return stubOf(env.MONITOR, 'monitor')
}

/** The SQL runner of an account, which is always the same one. */
export function sqlRunnerOf(env: Pick<Env, 'SQL_RUNNER'>, account: AccountId, runners: number): FetchStub {
  return env.SQL_RUNNER.getByName(`${hash32(account) % runners}`)
}

/** The gateway's entry point for objects. Only the gateway has the account tables. */
export function gatewayOf(env: Pick<Env, 'GATEWAY'>) {
  return env.GATEWAY as RpcMethods<Internal>
}

/** The shard of a hub, from its name; NaN for other names. */
export function shardOfHub(name: string): number {
  return Number(/\/(\d+)$/.exec(name)?.[1])
}

/** The region of a relay, from its name `<chain>/<region>/<number>`. */
export function regionOfRelay(name: string): string {
  return name.split('/').at(-2) ?? ''
}

function locationOptions(region: string | null): LocationOptions {
  const locationHint = REGIONS.find((one) => one === region)
  return locationHint === undefined ? {} : { locationHint }
}
