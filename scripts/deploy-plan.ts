// The plan that `npm run deploy -- --dry-run` prints: Workers, stores, tables and secrets.
// An id, secret or login that is missing is listed with the command that creates it. Pure.

import { type DeployFacts, type GatewayConfig, optionalSecrets, type Scope } from './deploy-checks.ts'
import { locationOption } from './store-location.ts'
import type { WorkerConfig } from './worker-agreement.ts'
import { deployedRoles, WORKERS, type WorkerRole } from './workers.ts'

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
    ...['', `Secrets of ${facts.gateway.name}:`, ...secretLines(facts), ...optionalSecretLines(facts, 'gateway')],
    ...(facts.scope === 'routes' || facts.scope === 'jobs' ? [] : ownSecretLines(facts, 'live')),
    ...(facts.scope === 'routes' ? [] : ownSecretLines(facts, 'jobs')),
    '',
  )
}

export interface DeployStep {
  readonly role: WorkerRole
  /** Without bindings to Workers that are deployed later. */
  readonly isPartial: boolean
}

/**
 * The deploys of a scope, in order. On the first deploy, live, jobs and gateway bind each other, and Cloudflare refuses a
 * binding to a Worker that does not exist. Therefore live and jobs are deployed twice, first without the bindings to later ones.
 * Where only the jobs Worker does not exist yet, it comes before live.
 */
export function deploySteps(scope: Scope, roles: readonly WorkerRole[], account: PlanFacts['account']): DeployStep[] {
  const whole = roles.map((role) => ({ role, isPartial: false }))
  const objects = whole.filter(({ role }) => role === 'live' || role === 'jobs')
  const others = whole.filter((step) => !objects.includes(step))
  switch (scope) {
    case 'all': {
      const background = deploySteps('jobs', roles, account)
      const rest = whole.filter(({ role }) => !background.some((step) => step.role === role))
      return account?.jobsSecrets === 'no worker' ? [...background, ...rest] : whole
    }
    case 'routes':
      return whole.filter(({ role }) => role === 'gateway')
    case 'jobs':
      return whole.filter(({ role }) => role === 'sql' || role === 'jobs')
    case 'first':
      return [
        ...others.filter(({ role }) => role !== 'gateway'),
        ...objects.map(({ role }) => ({ role, isPartial: true })),
        ...others.filter(({ role }) => role === 'gateway'),
        ...objects,
      ]
  }
}

/** Workers that a partial deploy of a role cannot bind yet. */
export function laterWorkers(role: WorkerRole): readonly WorkerRole[] {
  return role === 'live' ? ['gateway', 'jobs'] : ['gateway']
}

function workerLines({ workers, gateway, scope, account }: PlanFacts): string[] {
  const steps = deploySteps(scope, deployedRoles(gateway, workers.jobs), account)
  const lines = steps.map(({ role, isPartial }, at) => {
    const missing = laterWorkers(role).map((later) => workers[later].name)
    const note = isPartial ? `, without its bindings to ${missing.join(' and ')}` : ''
    return `  ${at + 1}. ${workers[role].name} (${WORKERS[role]})${note}`
  })
  const { name, routes } = workers.gateway
  const address = routes?.length ? JSON.stringify(routes) : `https://${name}.<you>.workers.dev`
  return [...lines, `  ${name} answers at ${address}. The other Workers have no public address.`]
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
  const isScraped = Array.isArray(set) && set.includes('METRICS_TOKEN')
  const metrics = `  METRICS_TOKEN: ${isScraped ? 'set' : 'optional. Without it, GET /metrics does not exist'}`
  const required = (gateway.secrets?.required ?? []).map((name) => {
    const isSet = Array.isArray(set) && set.includes(name)
    if (isSet) return `  ${name}: set`
    if (scope === 'first')
      return `  ${name}: ${given[name] === undefined ? 'a new random value' : 'from the environment or .secrets.json'}, unless it is already set`
    return `  ${name}: ${set === undefined || set === null ? 'not checked' : 'not set'}. Run npm run wrangler -- secret put ${name}`
  })
  return [...required, metrics]
}

/** Secrets that variables need, which wrangler sets once the Worker exists. */
function optionalSecretLines({ workers, scope, account }: PlanFacts, role: 'gateway' | 'live' | 'jobs'): string[] {
  const set = account?.[SECRETS_OF[role]] ?? null
  return optionalSecrets(role, workers[role].vars).map((name) => {
    if (Array.isArray(set) && set.includes(name)) return `  ${name}: set`
    const state = set === null ? 'not checked' : 'not set'
    const when = scope === 'first' ? ' after the deploy' : ''
    return `  ${name}: ${state}. Run npm run wrangler -- secret put ${name} -c ${WORKERS[role]}${when}`
  })
}

const SECRETS_OF = { gateway: 'secrets', live: 'liveSecrets', jobs: 'jobsSecrets' } as const

function ownSecretLines(facts: PlanFacts, role: 'live' | 'jobs'): string[] {
  const lines = optionalSecretLines(facts, role)
  return lines.length === 0 ? [] : ['', `Secrets of ${facts.workers[role].name}:`, ...lines]
}
