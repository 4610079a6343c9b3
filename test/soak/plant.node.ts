// All processes of a soak in a folder and on ports of its own, under the launcher's supervisor: devnet, the gateway
// with both Workers, a feeder behind a proxy that can be cut, a second feeder, and the clients' proxies.

import { join } from 'node:path'
import { build } from '../../src/cli/launch/build.node.ts'
import { childrenOf, freePort } from '../../src/cli/launch/processes.node.ts'
import type { Json } from '../../src/client/subscription.ts'
import type { InfoRequest } from '../../src/relay/channel.ts'
import { type CutProxy, cutProxy } from '../kit/cut-proxy.ts'
import { Gateway } from '../kit/gateway.ts'
import { ROOT } from '../kit/program.ts'
import { until } from '../kit/until.ts'
import { Children } from './children.node.ts'

/** Below the ports that systems hand out, so that none is taken while its owner is away. */
const FIRST_PORT = 22_100
const CLIENT_PROXIES = 4

export interface Scale {
  readonly scale: 'small' | 'mainnet'
  readonly seed: number
  readonly fundingBlocks: number
}

export class Plant extends Gateway {
  readonly state: string
  readonly exchange: Gateway
  readonly inspector: string
  readonly feedWay: CutProxy
  readonly clientWays: readonly CutProxy[]
  readonly #children: Children

  private constructor(state: string, ports: readonly number[], ways: readonly CutProxy[], say: (line: string) => void) {
    const [gateway, devnet, inspector] = ports.map((port) => `http://127.0.0.1:${port}`)
    super(gateway!)
    this.state = state
    this.exchange = new Gateway(devnet!)
    this.inspector = inspector!
    this.feedWay = ways[0]!
    this.clientWays = ways.slice(1)
    this.#children = new Children(state, say)
  }

  /** Builds and starts all but the second feeder. */
  static async start(
    state: string,
    { scale, seed, fundingBlocks }: Scale,
    say: (line: string) => void,
  ): Promise<Plant> {
    await build(ROOT)
    const ports = await freePorts(3)
    const [gateway, devnet, inspector] = ports.map(String)
    const ways = await Promise.all(
      Array.from({ length: 1 + CLIENT_PROXIES }, () => cutProxy(`http://127.0.0.1:${gateway}`)),
    )
    const plant = new Plant(state, ports, ways, say)
    const size = ['--scale', scale, '--seed', String(seed), '--funding-blocks', String(fundingBlocks)]
    plant.#children.run('devnet', 'devnet', ['--data', join(state, 'node'), '--port', devnet!, ...size])
    const own = ['--state', join(state, 'gateway'), '--port', gateway!, '--node', plant.exchange.url]
    plant.#children.run('gateway', 'gateway', [...own, '--inspector', inspector!])
    plant.#runFeeder('feeder', ways[0]!.url)
    return plant
  }

  /** A second feeder beside the same node. True where it runs now. */
  async toggleSecondFeeder(): Promise<boolean> {
    const name = 'second feeder'
    const isRunning = await this.#children.stop(name)
    if (!isRunning) this.#runFeeder(name, this.url)
    return !isRunning
  }

  #runFeeder(name: string, gateway: string): void {
    const folder = join(this.state, name.replace(' ', '-'))
    // Snapshots are written by devnet, and only beside its own folder.
    const node = ['--data', join(this.state, 'node'), '--info', this.exchange.url]
    const own = ['--gateway', gateway, '--state', folder, '--name', name.replace(' ', '-')]
    this.#children.run(name, 'feed', [...node, ...own])
  }

  /** By name; workerd among them while it runs. */
  pids(): Record<string, number> {
    const { pids } = this.#children
    const [workerd] = childrenOf(pids.gateway ?? 0, 'workerd')
    return workerd ? { ...pids, workerd } : pids
  }

  signal(name: string, signal: NodeJS.Signals): void {
    const pid = this.pids()[name]
    if (pid !== undefined) process.kill(pid, signal)
  }

  /** Asks as the operator; tried again while the gateway comes back. Throws what it answers beyond that. */
  async operate<T>(method: string, path: string, body?: unknown): Promise<T> {
    let answer: { status: number; body: T } | null = null
    const isAnswered = async () => {
      answer = await this.admin<T>(method, path, body)
      return answer.status < 500
    }
    await until(isAnswered, `${method} ${path}: no answer`, { withinMs: 60_000, everyMs: 500 })
    const { status, body: found } = answer!
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(found)}`)
    return found
  }

  /** What `/info` of the exchange answers, or that of the gateway to a key. Throws what is no answer. */
  answerOf(whom: 'exchange' | 'gateway', question: InfoRequest, key = ''): Promise<Json> {
    return answerOf(whom === 'exchange' ? this.exchange : this, question, key)
  }

  /** What the feed and its readers say; null while nobody answers. */
  now(): Promise<(Record<string, unknown> & { height?: number | null; state?: string }) | null> {
    return this.status<Record<string, unknown>>().catch(() => null)
  }

  /** Orders a disturbance of the node; answers the height of the exchange. */
  async disturb(order: object): Promise<number> {
    const answer = await this.exchange.call('POST', '/disturb', null, order)
    if (!answer.ok) throw new Error(`/disturb ${JSON.stringify(order)}: ${answer.status} ${await answer.text()}`)
    return ((await answer.json()) as { height: number }).height
  }

  /** Hash of every book at a height, which is waited for; the present one where none is said. Null: it is past. */
  truth(height?: number): Promise<BookHashes | null> {
    return truthOf(this.exchange, height)
  }

  /** Ends the exchange and its feeder: no block comes any more. */
  async stopNode(): Promise<void> {
    await Promise.all(['feeder', 'devnet'].map((name) => this.#children.stop(name)))
  }

  async stop(): Promise<void> {
    for (const way of [this.feedWay, ...this.clientWays]) way.close()
    await this.#children.stopAll()
  }
}

/** Free ports, below those that systems hand out. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  for (let port = FIRST_PORT; ports.length < count; port++) {
    const free = await freePort(port, ports.at(-1))
    if (!ports.includes(free)) ports.push(free)
  }
  return ports
}

/** The response of `/info`. Throws if it is an error. */
export async function answerOf(of: Gateway, question: InfoRequest, key: string): Promise<Json> {
  const answer = await of.info(key, question)
  if (!answer.ok) throw new Error(`${JSON.stringify(question)}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Json
}

interface BookHashes {
  readonly height: number
  readonly books: Record<string, string>
}

/** Hash of every book of the exchange at a height, which is waited for; the present one by default. Null: it is past. */
export async function truthOf(exchange: Gateway, height?: number): Promise<BookHashes | null> {
  const answer = await exchange.call('GET', `/books${height === undefined ? '' : `?height=${height}`}`, null)
  return answer.ok ? ((await answer.json()) as BookHashes) : null
}
