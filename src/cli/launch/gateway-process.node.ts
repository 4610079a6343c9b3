// Runs the gateway, live and jobs Workers in one workerd, and the SQL Worker in another, for `weir demo`, `weir serve` and
// tests of restarts and crashes. The SQL process starts with the first request, restarts after it has ended, and ends with its parent.

import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  convertV4MiniflareOptions,
  fetch,
  Miniflare,
  type Request,
  Response,
  type V4WorkerOptionsShape,
} from 'miniflare'
import { unstable_getMiniflareWorkerOptions, unstable_splitSqlQuery } from 'wrangler'
import { MIGRATIONS_TABLE } from '../../core/migrations-table.ts'
import { programUrl } from '../../core/program-url.node.ts'
import { SQL_TOKEN_HEADER } from '../../pipelines/sql/sql-api.ts'
import { bundledModules, commonOptions } from './miniflare-options.node.ts'

export interface GatewayProcessOptions {
  /** Repository root with a built `dist`. */
  readonly root: string
  /** Folder below `root` with bundles to use instead of `dist`. */
  readonly bundles?: string
  /** Folder of all persistent state. */
  readonly state: string
  /** Address to listen at. Default: 127.0.0.1. */
  readonly host?: string
  /** 0: any free port. */
  readonly port: number
  readonly secrets: { readonly ADMIN_TOKEN: string; readonly FEED_TOKEN: string; readonly KEY_SECRET: string }
  /** Overrides variables of wrangler.toml. */
  readonly vars: Readonly<Record<string, string>>
  /** Overrides variables of wrangler.live.toml and wrangler.jobs.toml. */
  readonly objectVars?: Readonly<Record<string, string>>
  /**
   * Number of gateway Workers that share the objects and stores, as isolates in different places do. The first one uses
   * `port`. Default: 1.
   */
  readonly instances?: number
  /** False: a deployment without an archive. */
  readonly isArchived?: boolean
  /** Port of the workerd inspector; omitted: none. */
  readonly inspectorPort?: number
  /** Receives the lines of the Workers' logs. Default: standard error. */
  readonly log?: (line: string) => void
  /** Changes the Workers before they start. The gateway is where those with `unsafeDirectSockets` listen. */
  readonly arrange?: (workers: readonly WorkerOptions[]) => readonly WorkerOptions[]
}

type Variables = Readonly<Record<string, string>>

// wrangler would print which variables and secrets it found.
process.env.WRANGLER_LOG ??= 'error'

const PAGES_WORKER = 'weir-pages'

interface GatewayProcess {
  readonly url: string
  /** URLs of all instances. */
  readonly urls: readonly string[]
  /** Stops both workerd processes. */
  readonly dispose: () => Promise<void>
}

/** Migrates, starts and returns the URLs. Rejects if the port is in use. */
export async function startGatewayProcess(options: GatewayProcessOptions): Promise<GatewayProcess> {
  // wrangler reads required secrets from the environment.
  Object.assign(process.env, options.secrets)
  await migrate(options)
  const { assets, ...gateway } = workerOptions(options, 'wrangler.toml', 'gateway')
  // A separate Worker, because assets on the gateway would route every request through a router and cut throughput to a third.
  const pages = {
    name: PAGES_WORKER,
    ...(gateway.compatibilityDate && { compatibilityDate: gateway.compatibilityDate }),
    modules: true as const,
    script: 'export default { fetch: (request, env) => env.FILES.fetch(request) }',
    ...(assets && { assets: { ...assets, binding: 'FILES' } }),
  }
  const names = Array.from({ length: options.instances ?? 1 }, (_, i) => (i === 0 ? 'weir' : `weir-${i + 1}`))
  const live = workerOptions(options, 'wrangler.live.toml', 'live')
  const jobs = workerOptions(options, 'wrangler.jobs.toml', 'jobs')
  const sql = new SqlProcess(options)
  const log = options.log ?? ((line: string) => void process.stderr.write(`${line}\n`))
  const workers: readonly WorkerOptions[] = [
    ...names.map((name, i) => ({
      ...gateway,
      name,
      bindings: { ...gateway.bindings, ...options.vars },
      serviceBindings: { ...gateway.serviceBindings, ASSETS: PAGES_WORKER },
      unsafeDirectSockets: [{ host: options.host ?? '127.0.0.1', port: i === 0 ? options.port : 0 }],
    })),
    { ...live, bindings: { ...live.bindings, ...options.objectVars } },
    {
      ...jobs,
      bindings: { ...jobs.bindings, ...options.objectVars },
      serviceBindings: { ...jobs.serviceBindings, SQL: (request: Request) => sql.fetch(request) },
    },
    pages,
  ]
  const arranged = options.arrange?.(workers) ?? workers
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      workers: [...arranged],
      ...commonOptions(options.state, options.log),
      ...(options.inspectorPort === undefined ? {} : { inspectorPort: options.inspectorPort }),
      handleStructuredLogs: ({ level, message }) => log(`${level} ${message}`),
    }),
  )
  await miniflare.ready
  const listening = arranged.filter(({ unsafeDirectSockets }) => unsafeDirectSockets !== undefined)
  const urls = await Promise.all(listening.map(async ({ name }) => (await miniflare.unsafeGetDirectURL(name)).origin))
  const dispose = async () => void (await Promise.all([miniflare.dispose(), sql.stop()]))
  return { url: urls[0] ?? '', urls, dispose }
}

const SECRETS = ['ADMIN_TOKEN', 'FEED_TOKEN', 'KEY_SECRET']

/** The variables that the wrangler files declare, with their defaults. */
export function declaredVariables(root: string): { readonly gateway: Variables; readonly objects: Variables } {
  const variablesOf = (config: string) => {
    const { workerOptions } = unstable_getMiniflareWorkerOptions(join(root, config))
    const { bindings = {} } = workerOptions as V4WorkerOptionsShape
    return Object.fromEntries(Object.entries(bindings).filter(([name]) => !SECRETS.includes(name))) as Variables
  }
  const objects = { ...variablesOf('wrangler.live.toml'), ...variablesOf('wrangler.jobs.toml') }
  return { gateway: variablesOf('wrangler.toml'), objects }
}

/** The options of a Worker from its wrangler file, with the modules of its bundle. */
function workerOptions(
  { root, bundles = 'dist', isArchived = true }: Pick<GatewayProcessOptions, 'root' | 'bundles' | 'isArchived'>,
  config: string,
  part: 'gateway' | 'live' | 'jobs' | 'sql',
) {
  const { workerOptions } = unstable_getMiniflareWorkerOptions(join(root, config))
  const { modulesRules: _, ...worker } = workerOptions as V4WorkerOptionsShape
  const folder = join(root, bundles, part)
  return {
    ...worker,
    ...(isArchived ? {} : { r2Buckets: {} }),
    // Without a name, storage folders of objects would start with a dash.
    name: part === 'gateway' ? 'weir' : `weir-${part}`,
    ...bundledModules(folder),
  }
}

/**
 * Applies new migrations before anything is served, in a separate workerd. Each is atomic and recorded in wrangler's own table.
 * A marker file skips this when there are no new ones.
 */
export async function migrate({ root, state }: Pick<GatewayProcessOptions, 'root' | 'state'>): Promise<void> {
  const files = globSync('schemas/d1/*/*.sql', { cwd: root }).sort()
  const marker = join(state, 'migrated')
  if (existsSync(marker) && readFileSync(marker, 'utf8') === files.join()) return
  const d1Databases = ['ACCOUNTS', 'USAGE', 'HISTORY']
  const bare = { name: 'weir', modules: true, script: 'export default {}', d1Databases }
  const miniflare = new Miniflare(convertV4MiniflareOptions({ workers: [bare], ...commonOptions(state) }))
  try {
    for (const file of files) {
      // The folder is named after the binding.
      const database = await miniflare.getD1Database(basename(dirname(file)).toUpperCase())
      await database.prepare(MIGRATIONS_TABLE).run()
      const name = basename(file)
      if (await database.prepare('SELECT 1 FROM d1_migrations WHERE name = ?').bind(name).first()) continue
      const statements = unstable_splitSqlQuery(readFileSync(join(root, file), 'utf8'))
      const record = database.prepare('INSERT INTO d1_migrations (name) VALUES (?)').bind(name)
      await database.batch([...statements.map((statement) => database.prepare(statement)), record])
    }
  } finally {
    await miniflare.dispose()
  }
  writeFileSync(marker, files.join())
}

export type WorkerOptions = Extract<
  Parameters<typeof convertV4MiniflareOptions>[0],
  { workers: unknown }
>['workers'][number]

/** The input of the SQL process, sent over IPC; it replies with its URL and ends with the channel. */
export interface SqlProcessInput {
  readonly worker: WorkerOptions
  readonly state: string
}

const SQL_PROGRAM = programUrl(import.meta, 'sql')
const START_MS = 30_000
/** Prevents a busy loop if the process ends while starting. */
const RESTART_MS = 1_000
const STOP_MS = 3_000

class SqlProcess {
  readonly #options: GatewayProcessOptions
  readonly #token = randomBytes(16).toString('hex')
  #child: ChildProcess | null = null
  #url: Promise<string> | null = null
  #startedMs = Number.NEGATIVE_INFINITY

  constructor(options: GatewayProcessOptions) {
    this.#options = options
  }

  /** Forwards a request. Rejects if the process cannot start, or ends before it responds. */
  async fetch(request: Request): Promise<Response> {
    const url = await this.#running()
    const headers = { ...Object.fromEntries(request.headers), [SQL_TOKEN_HEADER]: this.#token }
    const { method, body } = request
    const answer = await fetch(url, { method, headers, ...(body && { body, duplex: 'half' as const }) })
    const { status } = answer
    return new Response(status === 204 ? null : await answer.arrayBuffer(), { status })
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (child === null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await Promise.race([ended, sleep(STOP_MS, undefined, { ref: false })])
    child.kill('SIGKILL')
  }

  #running(): Promise<string> {
    this.#url ??= this.#start().catch((error) => {
      this.#url = null
      throw error
    })
    return this.#url
  }

  async #start(): Promise<string> {
    await sleep(Math.max(0, this.#startedMs + RESTART_MS - performance.now()))
    this.#startedMs = performance.now()
    const child = fork(SQL_PROGRAM, [], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    this.#child = child
    child.once('exit', () => {
      if (this.#child === child) this.#child = this.#url = null
    })
    const { root, state } = this.#options
    const worker = workerOptions({ root }, 'wrangler.sql.toml', 'sql')
    child.send({ state, worker: { ...worker, bindings: { ...worker.bindings, SQL_TOKEN: this.#token } } })
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), START_MS)
      child.once('message', (url) => {
        clearTimeout(timer)
        resolve(String(url))
      })
      child.once('exit', () => reject(new Error('the SQL process ended while starting')))
    })
  }
}
