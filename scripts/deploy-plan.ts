// The plan that `npm run deploy -- --dry-run` prints: Workers, stores, tables and secrets.
// An id, secret or login that is missing is listed with the command that creates it. Pure.

import { type AccountFacts, type DeployFacts, type GatewayConfig, headerSecrets } from './deploy-checks.ts'
import { locationOption } from './store-location.ts'
import type { WorkerConfig } from './worker-agreement.ts'
import { ROLES, WORKERS, type WorkerRole } from './workers.ts'

export interface PlannedWorker extends WorkerConfig {
  readonly routes?: readonly unknown[] | undefined
  readonly workers_dev?: boolean | undefined
}
export interface PlanFacts extends DeployFacts {
  readonly workers: Readonly<Record<WorkerRole, PlannedWorker>>
  /** Names of the migrations of each database, by its binding. */
  readonly files: Readonly<Record<string, readonly string[]>>
}

export function deployPlan(facts: PlanFacts): string[] {
  return ['', 'Workers, in this order:', ...workerLines(facts), '', 'Stores:', ...storeLines(facts.gateway)].concat(
    ...['', 'Tables:', ...facts.gateway.d1_databases.map(({ binding }) => migrationLine(facts, binding))],
    ...['', `Secrets of ${facts.gateway.name}:`, ...secretLines(facts), ...sourceSecretLines(facts, 'gateway')],
    ...liveSecretLines(facts),
    '',
  )
}

/** The first deploy sends the live Worker twice, because it and the gateway bind each other. */
function workerLines({ workers, scope }: PlanFacts): string[] {
  const { gateway, live } = workers
  const all = ROLES.map((role) => ({ role, note: '' }))
  const first = { role: 'live' as const, note: `, without its binding to ${gateway.name}` }
  const steps = {
    routes: [{ role: 'gateway' as const, note: '' }],
    both: all,
    first: [
      ...all.filter(({ role }) => role !== 'gateway' && role !== 'live'),
      first,
      all.at(-1)!,
      ...all.filter(({ role }) => role === 'live'),
    ],
  }[scope]
  const lines = steps.map(({ role, note }, at) => `  ${at + 1}. ${workers[role].name} (${WORKERS[role]})${note}`)
  const address = gateway.routes?.length ? JSON.stringify(gateway.routes) : `https://${gateway.name}.<you>.workers.dev`
  return [...lines, `  ${gateway.name} answers at ${address}. ${live.name} has no public address.`]
}

function storeLines({
  d1_databases: databases,
  kv_namespaces: namespaces,
  r2_buckets: buckets = [],
  vars,
}: GatewayConfig) {
  const at = locationOption(vars.FEED_REGION)
  return [
    ...databases.map(({ binding, database_name: name, database_id: id }) =>
      storeLine(`D1 ${name} (${binding})`, id, `d1 create ${name}${at}`),
    ),
    ...namespaces.map(({ binding, id }) => storeLine(`KV ${binding}`, id, `kv namespace create ${binding}`)),
    ...buckets.map(
      ({ binding, bucket_name: name }) =>
        `  R2 ${name} (${binding}): if it does not exist, run npm run wrangler -- r2 bucket create ${name}${at}`,
    ),
  ]
}

function storeLine(store: string, id: string | undefined, command: string): string {
  return `  ${store}: ${id === undefined ? `no id. Run npm run wrangler -- ${command}` : `id ${id}`}`
}

function migrationLine({ gateway, account, files }: PlanFacts, database: string): string {
  const names = files[database] ?? []
  const apply = `npm run wrangler -- d1 migrations apply ${database} --remote`
  const exists = gateway.d1_databases.some(({ binding, database_id: id }) => binding === database && id !== undefined)
  const lacking = exists && account?.migrations?.filter((one) => one.startsWith(`${database}/`))
  if (!lacking) return `  ${database}: not checked. To apply ${names.join(', ')}, run ${apply}`
  if (lacking.length === 0) return `  ${database}: all ${names.length} migrations are applied`
  const missing = lacking.map((one) => one.slice(database.length + 1))
  return `  ${database}: ${missing.join(', ')} not applied. Run ${apply}`
}

function secretLines({ gateway, scope, given, account }: PlanFacts): string[] {
  const set = account?.secrets
  return (gateway.secrets?.required ?? []).map((name) => {
    const isSet = Array.isArray(set) && set.includes(name)
    if (isSet) return `  ${name}: set`
    if (scope === 'first')
      return `  ${name}: ${given[name] === undefined ? 'a new random value' : 'from the environment or .secrets.json'}, unless it is already set`
    return `  ${name}: ${set === undefined || set === null ? 'not checked' : 'not set'}. Run npm run wrangler -- secret put ${name}`
  })
}

/** Secrets of sources and nodes, which wrangler sets once the Worker exists. */
function sourceSecretLines({ workers, scope, account }: PlanFacts, role: 'gateway' | 'live'): string[] {
  const set: AccountFacts['secrets'] = (role === 'gateway' ? account?.secrets : account?.liveSecrets) ?? null
  return headerSecrets(workers[role].vars).map((name) => {
    if (Array.isArray(set) && set.includes(name)) return `  ${name}: set`
    const state = set === null ? 'not checked' : 'not set'
    const when = scope === 'first' ? ' after the deploy' : ''
    return `  ${name}: ${state}. Run npm run wrangler -- secret put ${name} -c ${WORKERS[role]}${when}`
  })
}

function liveSecretLines(facts: PlanFacts): string[] {
  const lines = facts.scope === 'routes' ? [] : sourceSecretLines(facts, 'live')
  return lines.length === 0 ? [] : ['', `Secrets of ${facts.workers.live.name}:`, ...lines]
}
