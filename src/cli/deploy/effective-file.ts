// The wrangler files of one gateway: those of this version with the settings of weir.toml. Invariant: paths are absolute, and
// each Worker is the one that is built in `dist`, so that nothing is read from the operator's folder.

import { DEFAULT_NAME, hasArchive, nameOf, variablesFor, type WeirSettings } from '../settings/weir-settings.ts'
import { storesOf } from './stores.ts'
import type { WorkerFile } from './worker-file.ts'
import { ROLES, type WorkerRole } from './workers.ts'

export type WorkerFiles = Readonly<Record<WorkerRole, WorkerFile>>

/** The wrangler files of all Workers. `root`: the folder with `dist` and `schemas`. */
export function effectiveFiles(templates: WorkerFiles, settings: WeirSettings, root: string): WorkerFiles {
  const files = ROLES.map((role) => [role, effectiveFile(templates[role], role, settings, root)])
  return Object.fromEntries(files)
}

function effectiveFile(template: WorkerFile, role: WorkerRole, settings: WeirSettings, root: string): WorkerFile {
  const { account_id, jobs, hyperdrive, metrics, routes = [] } = settings
  const isGateway = role === 'gateway'
  const own = (name: string) => name.replace(new RegExp(`^${DEFAULT_NAME}(?=-|$)`), nameOf(settings))
  const objects = template.durable_objects.bindings
    .filter(({ script_name: script }) => jobs || script !== `${DEFAULT_NAME}-jobs`)
    .map((one) => (one.script_name === undefined ? one : { ...one, script_name: own(one.script_name) }))
  return {
    ...template,
    ...(account_id === undefined ? {} : { account_id }),
    name: own(template.name),
    main: `${root}/dist/${role}/${role}.js`,
    no_bundle: true,
    vars: variablesFor(settings, template.vars),
    durable_objects: { ...template.durable_objects, bindings: objects },
    services: template.services.map((one) => ({ ...one, service: own(one.service) })),
    ...storeBindings(template, settings, root),
    ratelimits: template.ratelimits.map((one) => ({
      ...one,
      namespace_id: ownNumber(one.namespace_id, nameOf(settings)),
    })),
    ...(template.assets && { assets: { ...template.assets, directory: `${root}/${template.assets.directory}` } }),
    routes: isGateway ? routes : [],
    workers_dev: isGateway && (settings.workers_dev ?? template.workers_dev),
    ...(isGateway &&
      metrics !== undefined && { analytics_engine_datasets: [{ binding: 'METRICS', dataset: metrics }] }),
    ...(role === 'jobs' && hyperdrive.length > 0 && { hyperdrive }),
  }
}

function storeBindings(template: WorkerFile, settings: WeirSettings, root: string) {
  const stores = new Map(storesOf(settings).map((store) => [store.binding, store]))
  const isKept = ({ binding }: { readonly binding: string }) =>
    hasArchive(settings) || !/^(?:HISTORY|ARCHIVE)$/.test(binding)
  const idOf = (binding: string, field: 'database_id' | 'id') => {
    const id = stores.get(binding)?.id
    return id === undefined ? {} : { [field]: id }
  }
  const nameIn = (binding: string, otherwise: string) => stores.get(binding)?.name ?? otherwise
  return {
    d1_databases: template.d1_databases.filter(isKept).map((one) => ({
      ...one,
      ...idOf(one.binding, 'database_id'),
      database_name: nameIn(one.binding, one.database_name),
      migrations_dir: `${root}/${one.migrations_dir}`,
    })),
    kv_namespaces: template.kv_namespaces.map((one) => ({ ...one, ...idOf(one.binding, 'id') })),
    r2_buckets: template.r2_buckets
      .filter(isKept)
      .map((one) => ({ ...one, bucket_name: nameIn(one.binding, one.bucket_name) })),
  }
}

/** Limits of different gateways of one account must not share a counter. */
function ownNumber(number: string, name: string): string {
  if (name === DEFAULT_NAME) return number
  let hash = Number(number)
  for (const letter of name) hash = (hash * 31 + letter.charCodeAt(0)) % 1_000_000_007
  return String(hash)
}

/** The file without its services and objects of these Workers, which do not exist yet. */
export function withoutWorkers(file: WorkerFile, workers: readonly string[]): WorkerFile {
  const isThere = (name: string | undefined) => name === undefined || !workers.includes(name)
  const bindings = file.durable_objects.bindings.filter(({ script_name: script }) => isThere(script))
  return {
    ...file,
    durable_objects: { ...file.durable_objects, bindings },
    services: file.services.filter(({ service }) => isThere(service)),
  }
}
