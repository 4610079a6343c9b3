// A stand-in for a Cloudflare account: as much of the API as wrangler asks for, D1 over HTTP, and workers.dev, where the
// Workers run as they were uploaded.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type GatewayProcessOptions, startGatewayProcess } from '../../src/cli/launch/gateway-process.node.ts'
import { RemoteD1 } from '../remote-d1.ts'
import { type HttpServer, startServer } from './http-server.ts'
import { ROOT } from './program.ts'

interface Binding {
  readonly type: string
  readonly name: string
  readonly text?: string
  readonly script_name?: string
  readonly service?: string
}
export interface Upload {
  readonly worker: string
  readonly bindings: readonly Binding[]
  /** Text of each module by its name. */
  readonly modules: ReadonlyMap<string, string>
}
interface Share {
  readonly version_id: string
  readonly percentage: number
}
interface Metadata {
  readonly bindings: readonly Binding[]
  readonly keep_bindings?: readonly string[]
}
interface Received {
  readonly method: string
  readonly path: string
  readonly body: Buffer
  readonly type: string
}

/** Folders of bundles by Worker. */
const PARTS = { weir: 'gateway', 'weir-live': 'live', 'weir-jobs': 'jobs' } as const
const FIRST_MS = Date.parse('2026-01-01T00:00:00Z')
const idOf = (kind: number, number: number) =>
  `${String(kind).padStart(8, '0')}-0000-4000-8000-${String(number).padStart(12, '0')}`

interface CloudflareOptions {
  /** Origins that Workers reach instead of those of their settings. */
  readonly reach?: Readonly<Record<string, string>>
  /** Runs a Worker that is not one of the product's, and returns its URL. */
  readonly runOther?: (upload: Upload) => Promise<string>
}

interface Store {
  readonly kind: 'D1' | 'R2' | 'KV'
  readonly id: string
  readonly name: string
  readonly location: string | null
}
interface Refusal {
  readonly status: number
  readonly code: number
  readonly message: string
}
/** The only token that is accepted. */
export const API_TOKEN = 'token'

export class Cloudflare {
  /** In order. Tests clear it. */
  readonly uploads: Upload[] = []
  /** Paths of the static assets that were offered. */
  readonly pages: string[] = []
  /** Databases by id. */
  readonly databases = new Map<string, RemoteD1>()
  readonly created: Store[] = []
  accounts = [{ id: 'account', name: 'account' }]
  /** Called after each change of the account and before its response, with method, path and body. */
  onChange: (change: string) => void = () => undefined
  /** Shares of the versions of each Worker, the newest deployment first. */
  readonly deployments = new Map<string, Share[][]>()
  readonly deleted: string[] = []
  /** The next request whose method and path end like this is refused. */
  failing: { readonly request: string; readonly refusal: Refusal } | null = null
  readonly #versions = new Map<string, Upload>()
  readonly #others = new Map<Upload, Promise<string>>()
  readonly #options: CloudflareOptions
  readonly #folder = mkdtempSync(join(tmpdir(), 'weir-cloudflare-'))
  #server: HttpServer | null = null
  #running: { readonly versions: string; readonly url: string; readonly dispose: () => Promise<void> } | null = null
  #starting: Promise<unknown> = Promise.resolve()

  constructor(options: CloudflareOptions = {}) {
    this.#options = options
  }

  get url(): string {
    return this.#server?.url ?? ''
  }

  /** All stores, such as `D1 weir-usage`, sorted. */
  get stores(): string[] {
    return this.created.map(({ kind, name }) => `${kind} ${name}`).sort()
  }

  async start(): Promise<void> {
    this.#server = await startServer(async (request, response) => {
      const [, worker, path = '/'] = /^\/workers\.dev\/([\w-]+)(.*)$/.exec(request.url ?? '') ?? []
      const answer = await (worker === undefined ? this.#api(request) : this.#forward(worker, path, request)).catch(
        (error) => new Response(String(error), { status: 500 }),
      )
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      response.end(Buffer.from(await answer.arrayBuffer()))
    })
  }

  async stop(): Promise<void> {
    this.#server?.close()
    await this.#running?.dispose()
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }

  /** The upload that has the most objects or requests. Undefined if there is none. */
  current(worker: string): Upload | undefined {
    const [shares = []] = this.deployments.get(worker) ?? []
    const [most] = shares.toSorted((a, b) => b.percentage - a.percentage)
    return most && this.#versions.get(most.version_id)
  }

  async #api(request: IncomingMessage): Promise<Response> {
    const received = {
      method: request.method ?? '',
      path: request.url?.split('?')[0] ?? '',
      body: await buffer(request),
      type: request.headers['content-type'] ?? '',
    }
    const { failing } = this
    const { authorization, 'x-auth-key': key } = request.headers
    if (authorization !== `Bearer ${API_TOKEN}` && key === undefined)
      return refused({ status: 401, code: 10000, message: 'Authentication error' })
    if (failing !== null && `${received.method} ${received.path}`.endsWith(failing.request)) {
      this.failing = null
      return refused(failing.refusal)
    }
    const result = await this.#answer(received)
    const errors = result === null ? [{ code: 10007, message: 'This Worker does not exist.' }] : []
    const status = result === null ? 404 : 200
    if (received.method !== 'GET' && status === 200)
      this.onChange(`${received.method} ${received.path} ${received.body}`)
    return Response.json({ success: result !== null, errors, messages: [], result }, { status })
  }

  /** Null: the Worker does not exist. */
  async #answer(received: Received): Promise<unknown> {
    const { method, path, body } = received
    const [, kind, worker = '', part, version] =
      /\/workers\/(scripts|services|workers)\/([\w-]+)(?:\/([\w-]+)(?:\/([\w-]+))?)?$/.exec(path) ?? []
    if (kind !== undefined && method === 'DELETE') return this.deleted.push(worker)
    if (kind === 'scripts') return this.#answerScript(worker, part, version, received)
    if (kind === 'workers') return { subdomain: { enabled: true } }
    if (kind === 'services')
      return this.deployments.has(worker)
        ? { default_environment: { environment: 'production', script: { tag: 't', tags: [], migration_tag: 'v1' } } }
        : null
    if (path.endsWith('/query')) {
      const id = path.split('/').at(-2) ?? ''
      const database = this.databases.get(id)
      const served_by_region = this.created.find((store) => store.id === id)?.location?.toUpperCase() ?? 'WEUR'
      const { sql } = JSON.parse(String(body)) as { sql: string }
      return database?.query(sql).map((results) => ({ success: true, results, meta: { served_by_region } })) ?? null
    }
    if (method === 'POST' && path.endsWith('/d1/database')) return this.#create(body, 'D1')
    if (method === 'POST' && path.endsWith('/r2/buckets')) return this.#create(body, 'R2')
    if (method === 'POST' && path.endsWith('/kv/namespaces')) return this.#create(body, 'KV')
    const of = (kind: Store['kind']) => this.created.filter((store) => store.kind === kind)
    if (path.endsWith('/d1/database')) return of('D1').map(({ id, name }) => ({ uuid: id, name }))
    if (path.endsWith('/kv/namespaces')) return of('KV').map(({ id, name }) => ({ id, title: name }))
    const bucket = /\/r2\/buckets\/([\w-]+)$/.exec(path)?.[1]
    if (bucket !== undefined) {
      const found = of('R2').find(({ name }) => name === bucket)
      return found === undefined ? null : { name: bucket, location: found.location?.toUpperCase(), creation_date: '' }
    }
    if (path.endsWith('/graphql')) return { viewer: { accounts: [] } }
    if (path.endsWith('/workers/subdomain')) return { subdomain: 'me' }
    if (path.endsWith('/memberships')) return []
    if (path.endsWith('/accounts')) return this.accounts
    return { id: 'token', status: 'active', bindings: [] }
  }

  #create(body: Buffer, kind: Store['kind']): object {
    const order = JSON.parse(String(body)) as { name?: string; title?: string } & Record<string, string | undefined>
    const { name = order.title ?? '', primary_location_hint: near, locationHint: at } = order
    const uuid = idOf(1, this.created.length + 1)
    const id = kind === 'KV' ? uuid.replaceAll('-', '') : uuid
    this.created.push({ kind, id, name, location: near ?? at ?? null })
    if (kind === 'D1') this.databases.set(uuid, new RemoteD1())
    return kind === 'KV' ? { id, title: name } : { uuid, name }
  }

  /** Deletes a store, as an operator would in the dashboard. */
  remove(name: string): void {
    const at = this.created.findIndex((store) => store.name === name)
    for (const { id } of this.created.splice(at, 1)) this.databases.delete(id)
  }

  async #answerScript(
    worker: string,
    part: string | undefined,
    version: string | undefined,
    received: Received,
  ): Promise<unknown> {
    const { method, body } = received
    if (part === 'assets-upload-session') {
      this.pages.push(...Object.keys((JSON.parse(String(body)) as { manifest: object }).manifest))
      return { jwt: 'all of them are there', buckets: [] }
    }
    if (part === undefined && method === 'PUT') {
      const id = await this.#store(worker, received)
      if (id === null) return null
      this.#deploy(worker, [{ version_id: id, percentage: 100 }])
      return { id: worker, deployment_id: id.replaceAll('-', ''), startup_time_ms: 1 }
    }
    if (part === 'versions' && method === 'POST') {
      const id = await this.#store(worker, received)
      const resources = { script: { etag: 'e' } }
      return id && { id, startup_time_ms: 1, metadata: { has_preview: false }, resources }
    }
    if (part === 'subdomain') return { enabled: true }
    const current = this.current(worker)
    if (current === undefined) return null
    if (part === 'versions') return this.#view(version ?? '')
    if (part === 'secrets' && method === 'PUT') return this.#putSecret(worker, current, String(body))
    if (part === 'secrets') return current.bindings.filter(({ type }) => type === 'secret_text')
    if (part !== 'deployments') return { bindings: current.bindings }
    if (method === 'POST') this.#deploy(worker, (JSON.parse(String(body)) as { versions: Share[] }).versions)
    const all = this.deployments.get(worker) ?? []
    return { id: idOf(3, all.length), deployments: all.map((shares, at) => deploymentView(shares, all.length - at)) }
  }

  /** The id of the new version; null if it binds a Worker that does not exist. */
  async #store(worker: string, { body, type }: Received): Promise<string | null> {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
    const { bindings, keep_bindings: kept = [] } = JSON.parse(await textOf(form.get('metadata'))) as Metadata
    const exists = (name: string | undefined) => name === undefined || name === worker || this.deployments.has(name)
    if (!bindings.every(({ script_name: script, service }) => exists(script) && exists(service))) return null
    const modules = new Map<string, string>()
    for (const [name, part] of form) if (name !== 'metadata') modules.set(name, await textOf(part))
    const own = bindings.filter(({ type: kind }) => kind !== 'inherit')
    const isCarried = ({ name, type: kind }: Binding) =>
      !own.some((binding) => binding.name === name) &&
      (kept.includes(kind) || bindings.some((binding) => binding.name === name))
    const carried = (this.current(worker)?.bindings ?? []).filter(isCarried)
    this.uploads.push({ worker, bindings, modules })
    const id = idOf(2, this.#versions.size + 1)
    this.#versions.set(id, { worker, bindings: [...own, ...carried], modules })
    return id
  }

  #putSecret(worker: string, current: Upload, body: string): object {
    const { name, text } = JSON.parse(body) as { name: string; text: string }
    const id = idOf(2, this.#versions.size + 1)
    const others = current.bindings.filter((binding) => binding.name !== name)
    this.#versions.set(id, { ...current, bindings: [...others, { type: 'secret_text', name, text }] })
    this.#deploy(worker, [{ version_id: id, percentage: 100 }])
    return { name, type: 'secret_text' }
  }

  #deploy(worker: string, shares: Share[]): void {
    this.deployments.set(worker, [shares, ...(this.deployments.get(worker) ?? [])])
  }

  #view(id: string): object | null {
    const number = [...this.#versions.keys()].indexOf(id)
    if (number < 0) return null
    const created_on = new Date(FIRST_MS + number * 1000).toISOString()
    const metadata = { created_on, source: 'api', author_email: '' }
    return { id, number, metadata, annotations: {}, resources: { script: {}, script_runtime: {}, bindings: [] } }
  }

  async #forward(worker: string, path: string, request: IncomingMessage): Promise<Response> {
    const body = await buffer(request)
    const { host: _, connection, 'content-length': length, ...headers } = request.headers
    const url = await (worker === 'weir' ? this.#gateway() : this.#other(worker))
    const answer = await fetch(url + path, {
      method: request.method ?? '',
      headers: headers as Record<string, string>,
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    })
    if (request.method !== 'GET') this.onChange(`${request.method} ${path} ${body}`)
    // The body is no longer compressed.
    const kept = [...answer.headers].filter(
      ([name]) => !/^(?:content-encoding|content-length|transfer-encoding)$/.test(name),
    )
    return new Response(answer.body, { status: answer.status, headers: kept })
  }

  #other(worker: string): Promise<string> {
    const upload = this.current(worker)
    if (upload === undefined) return Promise.reject(new Error(`${worker} was not deployed`))
    const running = this.#others.get(upload) ?? this.#options.runOther?.(upload)
    if (running === undefined) return Promise.reject(new Error(`${worker} cannot run here`))
    this.#others.set(upload, running)
    return running
  }

  #reached({ UPSTREAMS: sources = '[]', ...vars }: Record<string, string>): Record<string, string> {
    const { reach = {} } = this.#options
    const reached = Object.entries(reach).reduce((text, [from, to]) => text.replaceAll(from, to), sources)
    return { ...vars, UPSTREAMS: reached }
  }

  /** The gateway and its objects as deployed, restarted after each deployment. Their storage stays. */
  #gateway(): Promise<string> {
    const started = this.#starting.then(async () => {
      const names = Object.keys(PARTS) as (keyof typeof PARTS)[]
      const versions = names.map((name) => JSON.stringify(this.deployments.get(name)?.[0])).join()
      if (this.#running?.versions === versions) return this.#running.url
      await this.#running?.dispose()
      for (const name of names) writeBundle(join(this.#folder, 'bundles', PARTS[name]), this.current(name))
      const { url, dispose } = await startGatewayProcess({
        root: ROOT,
        bundles: relative(ROOT, join(this.#folder, 'bundles')),
        state: join(this.#folder, 'state'),
        port: 0,
        secrets: textsOf(this.current('weir'), 'secret_text') as GatewayProcessOptions['secrets'],
        vars: this.#reached(textsOf(this.current('weir'), 'plain_text')),
        objectVars: textsOf(this.current('weir-live'), 'plain_text'),
      })
      this.#running = { versions, url, dispose }
      return url
    })
    this.#starting = started.catch(() => undefined)
    return started
  }
}

function refused({ status, code, message }: Refusal): Response {
  return Response.json({ success: false, errors: [{ code, message }], messages: [], result: null }, { status })
}

const deploymentView = (versions: readonly Share[], number: number) => ({
  id: idOf(3, number),
  source: 'wrangler',
  strategy: 'percentage',
  author_email: '',
  created_on: new Date(FIRST_MS + number * 1000).toISOString(),
  annotations: {},
  versions,
})

const textOf = async (part: File | string | null): Promise<string> =>
  part === null || typeof part === 'string' ? (part ?? '') : part.text()

/** The texts of the bindings of a kind by name. */
export function textsOf(upload: Upload | undefined, kind: 'secret_text' | 'plain_text'): Record<string, string> {
  const found = (upload?.bindings ?? []).filter(({ type }) => type === kind)
  return Object.fromEntries(found.map(({ name, text = '' }) => [name, text]))
}

function writeBundle(folder: string, upload: Upload | undefined): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of upload?.modules ?? []) writeFileSync(join(folder, name), text)
}
