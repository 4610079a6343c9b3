// The Workers of a rehearsal: eight gateways in four places behind a front that sends each request to the next one, and
// the Workers with objects, all of them with the shim around their unchanged bundles.

import { readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import type { WorkerOptions } from '../../src/cli/launch/gateway-process.node.ts'
import { Collector } from './collector.ts'
import { LIMITS, type Limits } from './limits.ts'
import type { Place } from './places.ts'
import { COLLECTOR, type RehearsalSettings, SETTINGS } from './settings.ts'

const GATEWAYS = 8
const PLACES: readonly Place[] = ['weur', 'apac-ne', 'enam', 'sam']
/** Where the operator made its stores. */
const STORE_PLACE: Place = 'weur'
const KV_STALE_MS = 60_000

export interface RehearsalOptions {
  /** Multiplies latencies and replication times. Default: 1. */
  readonly scale?: number
  /** False: writes are replicated at once. */
  readonly hasOutputGate?: boolean
  readonly limits?: Partial<Limits>
  readonly gateways?: number
}

export class Rehearsal {
  readonly collector = new Collector()
  readonly #options: Required<RehearsalOptions>

  constructor({ scale = 1, limits = {}, gateways = GATEWAYS, hasOutputGate = true }: RehearsalOptions = {}) {
    this.#options = { scale, limits, gateways, hasOutputGate }
  }

  get gateways(): number {
    return this.#options.gateways
  }

  /** The Workers of a gateway as a rehearsal. Several gateways with ports of their own keep them. */
  arrange = (workers: readonly WorkerOptions[]): WorkerOptions[] => {
    const gateways = workers.filter(({ unsafeDirectSockets }) => unsafeDirectSockets !== undefined)
    const others = workers.filter(({ unsafeDirectSockets }) => unsafeDirectSockets === undefined)
    const [first] = gateways
    if (first === undefined) throw new Error('there is no gateway')
    const isSpread = gateways.length === 1
    const copies = isSpread ? Array.from({ length: this.#options.gateways }, (_, at) => copyOf(first, at)) : gateways
    const hosts = others.filter(({ durableObjects }) => durableObjects !== undefined)
    return [
      ...copies.map((worker, at) => this.wrap(worker, PLACES[at % PLACES.length])),
      ...others.map((worker) => {
        if (!hosts.includes(worker)) return worker
        const serviceBindings = isSpread ? servicesFor(worker.serviceBindings, first.name!) : worker.serviceBindings
        return this.wrap({ ...worker, ...(serviceBindings && { serviceBindings }) })
      }),
      ...(isSpread ? [front(first, copies, hosts)] : []),
    ]
  }

  /** A Worker with the shim around its bundle. */
  wrap(worker: WorkerOptions, place: Place = STORE_PLACE): WorkerOptions {
    const { scale, limits, hasOutputGate } = this.#options
    const settings: RehearsalSettings = {
      place,
      storePlace: STORE_PLACE,
      scale,
      commitScale: hasOutputGate ? scale : 0,
      limits: { ...LIMITS, ...limits },
      kvStaleMs: KV_STALE_MS,
      bindings: bindingsOf(worker),
    }
    return {
      ...worker,
      ...wrappedModules(worker),
      bindings: { ...worker.bindings, [SETTINGS]: JSON.stringify(settings) },
      serviceBindings: { ...worker.serviceBindings, [COLLECTOR]: this.collector.fetch },
    }
  }
}

/** A rehearsal at the scale that the variable REHEARSAL has; null without it. */
export function rehearsalOf({ REHEARSAL: scale }: NodeJS.ProcessEnv): Rehearsal | null {
  return scale ? new Rehearsal({ scale: Number(scale) }) : null
}

function copyOf({ unsafeDirectSockets: _, ...worker }: WorkerOptions, at: number): WorkerOptions {
  return { ...worker, name: `${worker.name}-${at + 1}` } as WorkerOptions
}

type Services = NonNullable<WorkerOptions['serviceBindings']>

/** Objects call the entry point of the first copy, because the front has its name. */
function servicesFor(services: Services | undefined, gateway: string): Services {
  return Object.fromEntries(
    Object.entries(services ?? {}).map(([binding, service]) => [
      binding,
      typeof service === 'object' && 'name' in service && service.name === gateway
        ? { ...service, name: `${gateway}-1` }
        : service,
    ]),
  )
}

const FRONT = `let next = 0
export default {
  async fetch(request, env) {
    if (!new URL(request.url).pathname.startsWith('/rehearsal/')) return env['GATEWAY_' + (next++ % env.GATEWAYS)].fetch(request)
    const answers = []
    for (let at = 0; at < env.HOSTS; at++) answers.push(await (await env['HOST_' + at].fetch(request.url)).json())
    return Response.json(answers)
  },
}`

function front(
  { name, unsafeDirectSockets, compatibilityDate }: WorkerOptions,
  gateways: readonly WorkerOptions[],
  hosts: readonly WorkerOptions[],
): WorkerOptions {
  const bound = (prefix: string, workers: readonly WorkerOptions[]) =>
    workers.map((worker, at) => [`${prefix}_${at}`, worker.name])
  return {
    name: name!,
    modules: true,
    script: FRONT,
    bindings: { GATEWAYS: gateways.length, HOSTS: hosts.length },
    serviceBindings: Object.fromEntries([...bound('GATEWAY', gateways), ...bound('HOST', hosts)]),
    ...(compatibilityDate && { compatibilityDate }),
    ...(unsafeDirectSockets && { unsafeDirectSockets }),
  }
}

function bindingsOf({ durableObjects }: WorkerOptions): Record<string, string> {
  return Object.fromEntries(
    Object.entries(durableObjects ?? {}).map(([binding, object]) => [
      typeof object === 'string' ? object : object.className,
      binding,
    ]),
  )
}

const ENTRY = 'rehearsal.js'

/** The entry imports the shim before the bundle, whose global scope then already has the replaced globals. */
function wrappedModules({ modulesRoot = '', modules }: WorkerOptions) {
  const bundle = Array.isArray(modules) ? modules[0] : undefined
  if (bundle === undefined || !Array.isArray(modules)) throw new Error('a Worker of the rehearsal needs a bundle')
  const names = exportsOf(String(bundle.contents))
  const entry = [
    "import { rehearsed } from './rehearsal/shim.worker.ts'",
    `import * as product from './${bundle.path.slice(modulesRoot.length + 1)}'`,
    'const all = rehearsed(product)',
    'export default all.default',
    ...names.filter((name) => name !== 'default').map((name) => `export const ${name} = all.${name}`),
  ]
  const module = (path: string, contents: string) => ({
    type: 'ESModule' as const,
    path: join(modulesRoot, path),
    contents,
  })
  return { modulesRoot, modules: [module(ENTRY, entry.join('\n')), ...shimModules(module), ...modules] }
}

/** Names that a bundle of wrangler exports. */
function exportsOf(text: string): string[] {
  const [, list = ''] = /^export \{([^}]*)\};?$/m.exec(text) ?? []
  return list.split(',').flatMap(
    (one) =>
      one
        .trim()
        .split(/\s+as\s+/)
        .at(-1) || [],
  )
}

const NODE_ONLY = /^(?:topology|collector|reset-run|gate-run|faulty\.worker|.*\.test|.*\.node)\.ts$|\.d\.ts$/

function shimModules<Module>(module: (path: string, contents: string) => Module): Module[] {
  const { emitWarning } = process
  // Node warns that type stripping is experimental.
  process.emitWarning = () => {}
  try {
    return readdirSync(import.meta.dirname, { withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !NODE_ONLY.test(entry.name))
      .map(({ name }) =>
        module(`rehearsal/${name}`, stripTypeScriptTypes(readFileSync(join(import.meta.dirname, name), 'utf8'))),
      )
  } finally {
    process.emitWarning = emitWarning
  }
}
