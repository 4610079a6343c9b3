// The Durable Objects, and the gateway behind them, as all of Weir reaches them: the one place with their names and with
// the types of their stubs. It stands in the room that every room may import, and imports none itself: the bindings'
// own types know the classes. The platform's type of a stub wraps every answer until it fits no interface; a caller gets
// what the class promises, so a stub is shown as the asynchronous methods of its class, and the compiler holds those
// against the interface that the caller needs.

import type { DurableObject } from 'cloudflare:workers'

type Env = Cloudflare.Env
type Internal = Env['GATEWAY'] extends Fetcher<infer Entrypoint> ? Entrypoint : never
type Dialled = Pick<Fetcher, 'fetch'>

/** What a class answers over RPC. */
type Calls<Class> = {
  readonly [Name in keyof Class as Name extends keyof DurableObject
    ? never
    : Class[Name] extends (...args: never[]) => Promise<unknown>
      ? Name
      : never]: Class[Name]
}

/** Fresh with each call: calls on one stub arrive in order, and a stub that failed stays broken. */
function stubOf<Class extends Rpc.DurableObjectBranded>(namespace: DurableObjectNamespace<Class>, name: string) {
  return namespace.getByName(name) as unknown as Calls<Class> & Dialled
}

/** The objects of one chain. */
export class Objects {
  readonly #env: Env
  readonly #chain: string

  constructor(env: Env, chain: string) {
    this.#env = env
    this.#chain = chain
  }

  log() {
    return stubOf(this.#env.BLOCK_LOG, this.#chain)
  }

  /** The hub of a shard. */
  hub(index: number) {
    return stubOf(this.#env.BOOK_HUB, `${this.#chain}/${index}`)
  }

  /** A relay of a region, made there; `local` is wherever it is first asked for. */
  relay(region: DurableObjectLocationHint | 'local', index: number): Dialled {
    const place = region === 'local' ? {} : { locationHint: region }
    return this.#env.RELAY.getByName(`${this.#chain}/${region}/${index}`, place)
  }

  /** The budget of a source. */
  budget(source: string) {
    return stubOf(this.#env.SOURCE_BUDGET, `${this.#chain}/${source}`)
  }
}

/** A reader of the log or of a hub, under the name that it gave itself. */
export function readerOf(env: Pick<Env, 'BOOK_HUB' | 'RELAY'>, kind: 'hub' | 'relay', name: string): Dialled {
  return kind === 'hub' ? env.BOOK_HUB.getByName(name) : env.RELAY.getByName(name)
}

/** The meter of an account, whatever the chain. */
export function meterOf(env: Pick<Env, 'CREDIT_METER'>, account: string) {
  return stubOf(env.CREDIT_METER, account)
}

/** What objects may ask of the gateway, which alone has the tables of accounts. */
export function gatewayOf(env: Pick<Env, 'GATEWAY'>) {
  return env.GATEWAY as unknown as Calls<Internal>
}

/** The shard of the hub with this name; NaN for any other name. */
export function shardOfHub(name: string): number {
  return Number(/\/(\d+)$/.exec(name)?.[1])
}
