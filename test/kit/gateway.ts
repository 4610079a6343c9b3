// The built gateway on a real socket: in this process (`startWorld`), or as a separate process that a test can kill
// (`startGateway`). Both have the same interface.

import { cpSync, rmSync } from 'node:fs'
import { type GatewayProcessOptions, startGatewayProcess } from '../../src/cli/launch/gateway-process.node.ts'
import type { KeyHash } from '../../src/core/ids.ts'
import { type Rehearsal, rehearsalOf } from '../rehearsal/topology.ts'
import { childOf, type Program, ROOT, run, runCommand, scratch } from './program.ts'
import { until } from './until.ts'

export const ADMIN_TOKEN = 'admin-token-of-the-tests-of-weir-0001'
export const FEED_TOKEN = 'feed-token-of-the-tests-of-weir-00001'
export const KEY_SECRET = 'key-secret-of-the-tests-of-weir-00001'
export const SECRETS = { ADMIN_TOKEN, FEED_TOKEN, KEY_SECRET }

export interface IssuedKey {
  readonly key: string
  readonly hash: KeyHash
  readonly prefix: string
  readonly account: string
}

/** Requests by callers and the operator. */
export class Gateway {
  readonly url: string
  readonly #operator: string

  /** `operator`: token for `/admin`. */
  constructor(url: string, operator = ADMIN_TOKEN) {
    this.url = url
    this.#operator = operator
  }

  get ws(): string {
    return this.url.replace('http', 'ws')
  }

  /** A request with or without a key. Text is sent unchanged, other bodies as JSON. */
  call(method: string, path: string, key: string | null, body?: unknown, more: object = {}): Promise<Response> {
    const headers = {
      'content-type': 'application/json',
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...more,
    }
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    return fetch(this.url + path, { method, headers, ...(text !== undefined && { body: text }) })
  }

  async admin<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: Body }> {
    const answer = await this.call(method, `/admin${path}`, this.#operator, body)
    return { status: answer.status, body: (await answer.json()) as Body }
  }

  /** An operator request that must succeed. */
  async ask<Body = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await this.admin<Body>(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  /** A key of a new account with this balance. */
  issue(credits: string, more: object = {}): Promise<IssuedKey> {
    return this.ask<IssuedKey>('POST', '/keys', { credits, label: 'test', ...more })
  }

  async newKey(credits: string, more: object = {}): Promise<string> {
    return (await this.issue(credits, more)).key
  }

  info(key: string | null, body: unknown, headers: object = {}): Promise<Response> {
    return this.call('POST', '/info', key, body, headers)
  }

  async status<Status = { epoch: string | null; height: number | null }>(): Promise<Status> {
    return (await (await fetch(`${this.url}/status`)).json()) as Status
  }
}

export class World extends Gateway {
  /** Environment of every gateway Worker instance. */
  readonly urls: readonly string[]
  readonly state: string
  /** Null: the Workers run without the conditions of the platform. */
  readonly rehearsal: Rehearsal | null
  readonly #dispose: () => Promise<void>

  constructor(
    urls: readonly string[],
    state: string,
    dispose: () => Promise<void>,
    rehearsal: Rehearsal | null = null,
  ) {
    super(urls[0]!)
    this.urls = urls
    this.state = state
    this.rehearsal = rehearsal
    this.#dispose = dispose
  }

  /** How many isolates serve `url` in turn. Each has limits and leases of its own. */
  get isolates(): number {
    return this.rehearsal === null || this.urls.length > 1 ? 1 : this.rehearsal.gateways
  }

  /** `keep`: retains the storage for another `startWorld({ state })`. Rejects if a limit of the platform was exceeded. */
  async stop(keep = false): Promise<void> {
    await this.#dispose()
    if (!keep) rmSync(this.state, { recursive: true, force: true, maxRetries: 5 })
    const violations = this.rehearsal?.collector.violations ?? []
    if (violations.length > 0) throw new Error(violations.join('\n'))
  }
}

export interface WorldOptions
  extends Partial<Pick<GatewayProcessOptions, 'instances' | 'bundles' | 'isArchived' | 'state' | 'port'>> {
  /** Origin of a node whose `/info` is the only source. */
  readonly node?: string
  readonly vars?: Record<string, string>
  readonly objectVars?: Record<string, string>
  /** Default: a rehearsal with the scale in REHEARSAL, or none. */
  readonly rehearsal?: Rehearsal | null
}

/** Starts a gateway on a free port with its own storage. */
export async function startWorld({
  node,
  vars,
  objectVars,
  rehearsal = rehearsalOf(process.env),
  ...options
}: WorldOptions = {}): Promise<World> {
  const state = options.state ?? scratch().path
  const { MIGRATED_STATE } = process.env
  if (options.state === undefined && MIGRATED_STATE !== undefined) cpSync(MIGRATED_STATE, state, { recursive: true })
  // Miniflare ends the process on a signal; only this handler runs then.
  process.once('exit', () => rmSync(state, { recursive: true, force: true }))
  const { urls, dispose } = await startGatewayProcess({
    root: ROOT,
    port: 0,
    secrets: SECRETS,
    vars: {
      PATH_KEYS: 'on',
      TRUST_PROXY: 'off',
      PIPELINE_PRIVATE: 'on',
      UPSTREAMS: JSON.stringify(node === undefined ? [] : [{ name: 'node', url: `${node}/info` }]),
      ...vars,
    },
    objectVars: { PIPELINE_PRIVATE: 'on', ...objectVars },
    // Of a rehearsal with an earlier version.
    ...(process.env.REHEARSAL_BUNDLES !== undefined && { bundles: process.env.REHEARSAL_BUNDLES }),
    ...options,
    ...(rehearsal && { arrange: rehearsal.arrange }),
    state,
  })
  return new World(urls, state, dispose, rehearsal)
}

export class GatewayProcess extends Gateway {
  readonly program: Program

  constructor(url: string, program: Program) {
    super(url)
    this.program = program
  }

  /** Pid of its workerd; undefined during a restart. */
  workerd(): number | undefined {
    return childOf(this.program.process.pid, 'workerd')
  }

  get isolates(): number {
    return rehearsalOf(process.env)?.gateways ?? 1
  }

  /** Ends its process group. Rejects if a limit of the platform was exceeded. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.program.end(signal)
    const violations = this.program.log().match(/^rehearsal: .*/gm)
    if (violations !== null) throw new Error(violations.join('\n'))
  }
}

/** Starts the gateway as leader of a process group. `node`: origin of a node. */
export function startGateway(state: string, port: number, node: string): Promise<GatewayProcess> {
  const args = ['--state', state, '--port', String(port), '--node', node]
  return startGatewayProgram('src/cli/launch/gateway.node.ts', args)
}

/** Starts a program that prints `gateway at <url>` once it serves. */
export async function startGatewayProgram(file: string, args: readonly string[]): Promise<GatewayProcess> {
  const program = runCommand(process.execPath, [`${ROOT}/${file}`, ...args], SECRETS, { detached: true })
  let url: string | undefined
  const isServing = () => {
    url = /gateway at (\S+)\n/.exec(program.log())?.[1]
    return url !== undefined || program.process.exitCode !== null
  }
  await until(isServing, `${file} does not serve`, { withinMs: 60_000, everyMs: 20 })
  if (url === undefined) throw new Error(`${file} ended: ${program.log().slice(-2000)}`)
  return new GatewayProcess(url, program)
}

type Stoppable = Gateway & { stop(): Promise<void> }

/**
 * For tests that do not wait for rare events of wallets. Every block costs the exchange, the feeder and the objects CPU
 * time.
 */
export const SLOW_BLOCKS = ['--block-ms', '250']

interface ExchangeOptions<G> {
  readonly gateway: (node: string, folder: string) => Promise<G>
  /** Arguments of devnet. */
  readonly args?: (folder: string) => readonly string[]
}

/**
 * The simulated exchange, a gateway, and the feeder between them. `node`: origin of devnet, whose files are in
 * `folder`/node.
 */
export async function startExchange<G extends Stoppable>({ gateway: start, args = () => [] }: ExchangeOptions<G>) {
  const folder = scratch()
  const data = `${folder.path}/node`
  const devnet = run('devnet', ['--data', data, '--port', '0', '--json', ...args(folder.path)])
  const { url: node } = JSON.parse(await devnet.line((line) => line.startsWith('{'))) as { url: string }
  const gateway = await start(node, folder.path)
  const feeder = run('feed', ['--data', data, '--info', node, '--gateway', gateway.url], { FEED_TOKEN })
  const key = await gateway.newKey('1000000')
  const hasBooks = async () => (await gateway.info(key, { type: 'allMids' })).ok
  await until(hasBooks, 'there are no books', { withinMs: 60_000, everyMs: 100 })
  return {
    folder: folder.path,
    node,
    gateway,
    key,
    stop: async () => {
      await feeder.end()
      await devnet.end()
      await gateway.stop()
      folder.remove()
    },
  }
}

export type Exchange<G extends Stoppable = World> = Awaited<ReturnType<typeof startExchange<G>>>
