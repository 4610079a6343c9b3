// The plan that `weir deploy` shows before it creates anything: Workers, stores, tables and secrets. Pure.

import { nameOf } from '../settings/weir-settings.ts'
import { type AccountFacts, type DeployFacts, hasSecrets, optionalSecrets, type Scope } from './deploy-checks.ts'
import { locationOf } from './store-location.ts'
import { type StoreState, storesOf, storeText } from './stores.ts'
import { deployedRoles, type WorkerRole } from './workers.ts'

export interface PlanFacts extends DeployFacts {
  /** Names of the migrations of each database, by its binding. */
  readonly files: Readonly<Record<string, readonly string[]>>
}

export function deployPlan(facts: PlanFacts): string[] {
  return ['', 'Workers, in this order:', ...workerLines(facts), '', 'Stores:', ...storeLines(facts)].concat(
    ...['', 'Tables:', ...Object.keys(facts.files).map((binding) => migrationLine(facts, binding))],
    ...['', `Secrets of ${nameOf(facts.settings)}:`, ...secretLines(facts), ...optionalSecretLines(facts, 'gateway')],
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

/** The scope of a deploy without `--routes` and `--jobs`. A new Worker may be bound only once it exists. */
export function scopeOf(account: AccountFacts | null): Scope {
  if (account === null) return 'first'
  const { gateway, live } = account.secrets
  return gateway === 'no worker' || live === 'no worker' ? 'first' : 'all'
}

/**
 * The deploys of a scope, in order. On the first deploy, live, jobs and gateway bind each other, and Cloudflare refuses a
 * binding to a Worker that does not exist. Therefore live and jobs are deployed twice, first without the bindings to later ones.
 * Where only the jobs Worker does not exist yet, it comes before live.
 */
export function deploySteps(scope: Scope, roles: readonly WorkerRole[], account: AccountFacts | null): DeployStep[] {
  const whole = roles.map((role) => ({ role, isPartial: false }))
  const objects = whole.filter(({ role }) => role === 'live' || role === 'jobs')
  const others = whole.filter((step) => !objects.includes(step))
  switch (scope) {
    case 'all': {
      const background = deploySteps('jobs', roles, account)
      const rest = whole.filter(({ role }) => !background.some((step) => step.role === role))
      return account?.secrets.jobs === 'no worker' ? [...background, ...rest] : whole
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

function workerLines({ workers, scope, account }: PlanFacts): string[] {
  const steps = deploySteps(scope, deployedRoles(workers.gateway, workers.jobs), account)
  const lines = steps.map(({ role, isPartial }, at) => {
    const missing = laterWorkers(role).map((later) => workers[later].name)
    return `  ${at + 1}. ${workers[role].name}${isPartial ? `, without its bindings to ${missing.join(' and ')}` : ''}`
  })
  const { name, routes, workers_dev: isAtWorkersDev } = workers.gateway
  const patterns = routes.map((route) => (typeof route === 'string' ? route : route.pattern))
  const addresses = [...patterns, ...(isAtWorkersDev ? [`https://${name}.<you>.workers.dev`] : [])]
  const answers =
    addresses.length === 0
      ? 'has no address: set routes or workers_dev in weir.toml'
      : `answers at ${addresses.join(' and ')}`
  return [...lines, `  ${name} ${answers}. The other Workers have no public address.`]
}

function storeLines({ settings, account }: PlanFacts): string[] {
  const location = locationOf(settings)
  const at = location === null ? 'where Cloudflare chooses' : `in ${location}`
  return storesOf(settings).map((store) => {
    const found = account?.stores[store.binding]
    const states: Readonly<Record<StoreState['state'], string>> = {
      there: 'exists',
      missing: `is created${store.kind === 'KV' ? '' : ` ${at}`}`,
      gone: 'is missing',
    }
    const state = found === undefined ? `not checked; if it does not exist, it ${states.missing}` : states[found.state]
    return `  ${storeText(store)}: ${state}`
  })
}

function migrationLine({ account, files }: PlanFacts, database: string): string {
  const names = files[database] ?? []
  const lacking = account?.lacking[database]
  if (!lacking) return `  ${database}: not checked`
  if (lacking.length === 0) return `  ${database}: all ${names.length} migrations are applied`
  return `  ${database}: ${lacking.length} of ${names.length} migrations are applied by this deploy`
}

function secretLines({ workers, scope, given, account }: PlanFacts): string[] {
  const set = account?.secrets.gateway
  const required = workers.gateway.secrets?.required ?? []
  const isScraped = Array.isArray(set) && set.includes('METRICS_TOKEN')
  const metrics = `  METRICS_TOKEN: ${isScraped ? 'set' : 'optional. Without it, GET /metrics does not exist'}`
  const lines = required.map((name) => {
    if (Array.isArray(set) && set.includes(name)) return `  ${name}: set`
    if (scope === 'first' && !hasSecrets(set ?? null, required))
      return `  ${name}: ${given[name] === undefined ? 'a new random value' : 'from the environment or .secrets.json'}`
    return `  ${name}: ${set == null ? 'not checked' : `not set. Run npx weir deploy --secret ${name}`}`
  })
  return [...lines, metrics]
}

/** Secrets that variables need, which can be set once the Worker exists. */
function optionalSecretLines({ workers, scope, account }: PlanFacts, role: WorkerRole): string[] {
  const set = account?.secrets[role] ?? null
  return optionalSecrets(role, workers[role].vars).map((name) => {
    if (Array.isArray(set) && set.includes(name)) return `  ${name}: set`
    const state = set === null ? 'not checked' : 'not set'
    return `  ${name}: ${state}. Run npx weir deploy --secret ${name}${scope === 'first' ? ' after the deploy' : ''}`
  })
}

function ownSecretLines(facts: PlanFacts, role: WorkerRole): string[] {
  const lines = optionalSecretLines(facts, role)
  return lines.length === 0 ? [] : ['', `Secrets of ${facts.workers[role].name}:`, ...lines]
}
