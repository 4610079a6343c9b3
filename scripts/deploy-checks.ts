// The checks of `npm run deploy` before wrangler runs. They report all faults at once, each with its fix.
// Pure: the input is the wrangler files, and the state of the account if someone is logged in.

import type * as z from 'zod'
import { ArchiveSettings } from '../src/archive/archive/archive-settings.ts'
import { PayerSettings } from '../src/billing/x402/settings.ts'
import { isWithin, ownDomains } from '../src/core/egress.ts'
import { INVALID_TOKEN_MESSAGE, SECRET_MIN_LENGTH, TOKEN } from '../src/core/secret.ts'
import { parseWith } from '../src/core/validation-errors.ts'
import { GatewaySettings, missingDependencies } from '../src/env.ts'
import { CATALOGUE } from '../src/info/queries/catalogue.ts'
import { upstreamTypesOf, usesUpstream } from '../src/info/query.ts'
import { RequestLogSettings } from '../src/metering/request-log/log-settings.ts'
import { AlertSettings } from '../src/monitor/alert-settings.ts'
import { SinkSettings } from '../src/pipelines/sink/sink-settings.ts'
import { SqlSettings } from '../src/pipelines/sql/sql-api.ts'
import { parseChains } from '../src/rpc/chains.ts'
import { secretNames } from '../src/upstream/secret-headers.ts'
import { LAG_TYPE } from '../src/upstream/source-lag.ts'
import { parseSources, sourcesFor, type UpstreamSource } from '../src/upstream/sources.ts'
import { locationOption, misplacedStores } from './store-location.ts'
import { disagreements, largeVariables, openSettings, type WorkerConfig } from './worker-agreement.ts'
import { deployedRoles, WORKERS, type WorkerRole } from './workers.ts'

export interface GatewayConfig extends WorkerConfig {
  readonly kv_namespaces: readonly { readonly binding: string; readonly id?: string }[]
  readonly d1_databases: readonly {
    readonly binding: string
    readonly database_name?: string
    readonly database_id?: string
    readonly migrations_dir?: string
  }[]
  readonly secrets?: { readonly required?: readonly string[] } | undefined
  readonly routes?: readonly (string | { readonly pattern: string })[] | undefined
}

/** All variables of the live Worker. */
const LIVE_SETTINGS = AlertSettings.extend(PayerSettings.shape).extend(RequestLogSettings.shape)

/** The Workers to deploy: all, the gateway, those of background work, or all when none of them exists yet. */
export type Scope = 'all' | 'routes' | 'jobs' | 'first'

export interface DeployFacts {
  readonly gateway: GatewayConfig
  /** All Workers, by role. */
  readonly workers: Readonly<Record<WorkerRole, WorkerConfig>>
  readonly scope: Scope
  readonly isDryRun: boolean
  /** Secrets for the first deploy, from the environment or from .secrets.json. */
  readonly given: Readonly<Record<string, string | undefined>>
  /** Why .secrets.json cannot be used. Null if it can be used or does not exist. */
  readonly secretsFault: string | null
  /** Null if no one is logged in. */
  readonly account: AccountFacts | null
}

export interface AccountFacts {
  /** Names of the gateway's secrets. Null if they could not be read. */
  readonly secrets: readonly string[] | 'no worker' | null
  /** The same of the live Worker and of the jobs Worker. */
  readonly liveSecrets: readonly string[] | 'no worker' | null
  readonly jobsSecrets: readonly string[] | 'no worker' | null
  /** Migrations not yet applied, as `BINDING/file`. Null if the databases could not be read. */
  readonly migrations: readonly string[] | null
  /** Faults of a schema whose migrations are all recorded as applied, as `BINDING/fault`. */
  readonly schemaFaults: readonly string[]
  /** Locations of the stores that could be read, such as `{"D1 weir-accounts":"WEUR"}`. */
  readonly locations: Readonly<Record<string, string>>
}

export interface Finding {
  readonly level: 'error' | 'warning' | 'note'
  readonly text: string
}

const error = (text: string): Finding => ({ level: 'error', text })
const warning = (text: string): Finding => ({ level: 'warning', text })
const note = (text: string): Finding => ({ level: 'note', text })

const PAID_PLAN = note('The account needs the Workers Paid plan. See docs/operators/reference/costs.md.')
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/
const HEX_ID = /^[0-9a-f]{32}$/

export function deployFindings(facts: DeployFacts): Finding[] {
  const { gateway, workers } = facts
  const { live, jobs, sql } = workers
  const roles = deployedRoles(gateway, jobs)
  const isDeployed = (role: WorkerRole) => roles.includes(role)
  return [
    ...gateway.d1_databases.flatMap((database) => databaseFindings(database, gateway.vars.FEED_REGION)),
    ...gateway.kv_namespaces.flatMap(namespaceFindings),
    ...bindingFindings(gateway),
    ...archiveFindings(gateway, isDeployed('jobs')),
    ...variableFindings(WORKERS.gateway, GatewaySettings, gateway.vars),
    ...variableFindings(WORKERS.live, LIVE_SETTINGS, live.vars),
    ...(isDeployed('jobs')
      ? variableFindings(WORKERS.jobs, ArchiveSettings.extend(SinkSettings.shape), jobs.vars)
      : []),
    ...(isDeployed('sql') ? variableFindings(WORKERS.sql, SqlSettings, sql.vars) : []),
    ...disagreements({ ...workers, gateway }).map((line) => error(`${line}. Set the same value in all files.`)),
    ...roles
      .flatMap((role) => [
        ...openSettings(WORKERS[role], facts.workers[role]),
        ...largeVariables(WORKERS[role], facts.workers[role]),
      ])
      .map((line) => error(`${line}.`)),
    ...ownHostFindings(gateway),
    ...sourceFindings(gateway.vars.UPSTREAMS),
    ...chainFindings(gateway.vars.RPC_CHAINS),
    ...sellingFindings(gateway.vars),
    ...accountFindings(facts),
    ...(facts.secretsFault === null ? [] : [error(facts.secretsFault)]),
    ...(facts.scope === 'first' ? [PAID_PLAN, ...regionFindings(gateway), ...givenSecrets(facts.given)] : []),
  ]
}

/** Customers' pipelines must not send to the operator's own hosts, so PUBLIC_URL and OWN_ZONES must cover every route. */
function ownHostFindings({ vars, routes = [] }: GatewayConfig): Finding[] {
  const settings = GatewaySettings.safeParse(vars)
  if (!settings.success) return []
  const own = ownDomains(settings.data)
  const hosts = routes.map((route) => (typeof route === 'string' ? route : route.pattern).replace(/^\*\.?|\/.*$/g, ''))
  return hosts
    .filter((host) => !isWithin(host, own))
    .map((host) =>
      error(
        `routes: neither PUBLIC_URL nor OWN_ZONES covers ${host}, so customers' pipelines could send to its zone. Add the zone to OWN_ZONES in all files.`,
      ),
    )
}

function regionFindings({ vars }: GatewayConfig): Finding[] {
  if (vars.FEED_REGION !== '') return []
  return [
    warning(
      'FEED_REGION is empty. Cloudflare creates the log and the hubs near the first request, and they stay there. See docs/operators/guides/choose-a-region.md.',
    ),
  ]
}

function databaseFindings(
  { binding, database_name: name, database_id: id }: GatewayConfig['d1_databases'][number],
  feedRegion: unknown,
) {
  const fix = `Run "npm run wrangler -- d1 create ${name}${locationOption(feedRegion)}" and copy the id it prints to [[d1_databases]].`
  if (id === undefined)
    return [
      error(
        `${binding} has no database_id. Wrangler would use a database of that name or create one without tables. ${fix}`,
      ),
    ]
  return UUID.test(id) ? [] : [error(`database_id ${JSON.stringify(id)} of ${binding} is not a valid id. ${fix}`)]
}

function namespaceFindings({ binding, id }: GatewayConfig['kv_namespaces'][number]) {
  const fix = `Run "npm run wrangler -- kv namespace create ${binding}" and copy the id it prints to [[kv_namespaces]].`
  if (id === undefined) return [error(`${binding} has no id. Wrangler would create a new namespace. ${fix}`)]
  return HEX_ID.test(id) ? [] : [error(`id ${JSON.stringify(id)} of ${binding} is not a valid id. ${fix}`)]
}

function variableFindings(file: string, schema: z.ZodObject, vars: object): Finding[] {
  const parsed = parseWith(schema.strict(), vars)
  if (parsed.ok) return []
  return parsed.error.map(({ path: name, message }) => {
    if (!(name in schema.shape)) return warning(`${file}: ${name} is not a variable of Weir (${message}).`)
    const missing = name in vars ? '' : 'is missing: it '
    return error(`${file}: ${message.startsWith(`${name} `) ? '' : `${name} ${missing}`}${message}.`)
  })
}

/** The code uses these binding names. Wrangler proposes different names. */
function bindingFindings({ d1_databases: databases, kv_namespaces: namespaces }: GatewayConfig): Finding[] {
  const bindings = [
    { name: 'ACCOUNTS', of: databases, table: 'd1_databases' },
    { name: 'USAGE', of: databases, table: 'd1_databases' },
    { name: 'KEYS', of: namespaces, table: 'kv_namespaces' },
  ]
  const missing = bindings.filter(({ name, of }) => of.filter(({ binding }) => binding === name).length !== 1)
  return missing.map(({ name, of, table }) => {
    const has = of.map(({ binding }) => binding).join(', ') || 'none'
    return error(
      `wrangler.toml must have one [[${table}]] with binding = "${name}", but its bindings are: ${has}. Change only the ids, not the binding names.`,
    )
  })
}

/** With only one of the two bindings, or without the jobs Worker, nothing would be archived and no error would show. */
function archiveFindings(
  { d1_databases: databases, r2_buckets: buckets = [] }: GatewayConfig,
  hasJobs: boolean,
): Finding[] {
  const hasRows = databases.some(({ binding }) => binding === 'HISTORY')
  const hasObjects = buckets.some(({ binding }) => binding === 'ARCHIVE')
  if (!hasJobs && (hasRows || hasObjects))
    return [
      error(
        `The archive needs the bindings to the jobs Worker. Add them to ${WORKERS.gateway} and ${WORKERS.live}, or remove HISTORY and ARCHIVE from both.`,
      ),
    ]
  if (hasRows === hasObjects) return []
  const lacks = hasRows ? '[[r2_buckets]] with binding = "ARCHIVE"' : '[[d1_databases]] with binding = "HISTORY"'
  return [error(`The archive needs ${lacks}. Add both tables to every file, or remove them from every file.`)]
}

/** An invalid UPSTREAMS is reported by `variableFindings`. */
function sourceFindings(upstreams: unknown): Finding[] {
  const parsed = typeof upstreams === 'string' ? parseSources(upstreams) : null
  if (!parsed?.ok) return []
  const sources = parsed.value
  const upstreamQueries = CATALOGUE.filter(usesUpstream)
  if (sources.length === 0)
    return [
      warning(
        `UPSTREAMS is empty: only ${CATALOGUE.length - upstreamQueries.length} of ${CATALOGUE.length} info types work: those answered from Weir's own books and history.`,
      ),
    ]
  return [
    ...sources.flatMap(addressFindings),
    ...sources.flatMap(({ name, url, headers }) => plainTextFindings(name, [url], headers)),
    ...typeFindings(sources, upstreamQueries.flatMap(upstreamTypesOf)),
  ]
}

/** Cloudflare sends requests to `http` URLs unencrypted. */
function plainTextFindings(name: string, urls: readonly string[], headers: object | undefined): Finding[] {
  const isPlain = headers !== undefined && urls.some((url) => url.startsWith('http:'))
  return isPlain ? [error(`${JSON.stringify(name)} has headers with secrets, so its URLs must start with https.`)] : []
}

function addressFindings({ name, url }: UpstreamSource): Finding[] {
  const why = unreachableReason(new URL(url).hostname)
  const fix = 'Use a public host name, for example that of a tunnel.'
  if (why !== null) return [error(`Source ${JSON.stringify(name)}: a Worker cannot reach ${url}. ${why} ${fix}`)]
  const isBare = new URL(url).pathname === '/'
  return isBare ? [warning(`Source ${JSON.stringify(name)}: ${url} has no path. Nodes answer at /info.`)] : []
}

/** Invalid variables are reported by `variableFindings`. */
function sellingFindings(vars: object): Finding[] {
  const settings = GatewaySettings.safeParse(vars)
  if (!settings.success) return []
  const isLogged = settings.data.SIGNUP === 'log'
  return [
    ...missingDependencies(settings.data).map((missing) => error(`wrangler.toml: ${missing}.`)),
    ...(isLogged ? [warning('SIGNUP is "log": anyone who can read the log can sign in to customers\' accounts.')] : []),
  ]
}

/** Secrets that the variables require. */
function sellingSecrets(vars: Readonly<Record<string, unknown>>): string[] {
  const { CHECKOUT, SIGNUP, SIGNUP_SETTINGS } = vars
  const terms = GatewaySettings.shape.SIGNUP_SETTINGS.safeParse(SIGNUP_SETTINGS)
  const hasChallenge = SIGNUP !== 'off' && terms.data?.turnstileSiteKey !== undefined
  return [
    ...(CHECKOUT === 'stripe' ? ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'] : []),
    ...(SIGNUP === 'http' ? ['SIGNUP_MAILER_TOKEN'] : []),
    ...(hasChallenge ? ['SIGNUP_TURNSTILE_SECRET'] : []),
  ]
}

/** URLs of nodes can contain keys, so only their host is shown. */
function chainFindings(variable: unknown): Finding[] {
  const chains = typeof variable === 'string' ? parseChains(variable) : null
  if (!chains?.ok) return []
  const plain = chains.value.flatMap(({ name, urls, headers }) => plainTextFindings(name, urls, headers))
  const unreachable = chains.value.flatMap(({ name, urls, dataUrl }) =>
    [...urls, ...(dataUrl === undefined ? [] : [dataUrl])].flatMap((url) => {
      const { hostname } = new URL(url)
      const why = unreachableReason(hostname)
      return why === null
        ? []
        : [error(`RPC_CHAINS: a Worker cannot reach ${hostname} of ${JSON.stringify(name)}. ${why}`)]
    }),
  )
  return [...plain, ...unreachable]
}

/** Why a Worker cannot reach the host of a URL. Null if no reason is known. */
function unreachableReason(host: string): string | null {
  if (/^\[|^[\d.]+$/.test(host)) return 'It is an IP address, and Workers need a host name.'
  const isPrivate = !host.includes('.') || /\.(?:local|localhost|internal|lan|home\.arpa)\.?$/.test(host)
  return isPrivate ? 'It is a name on a private network.' : null
}

function typeFindings(sources: readonly UpstreamSource[], queriedTypes: readonly string[]): Finding[] {
  const known = new Set([...queriedTypes, LAG_TYPE, 'perpDexs'])
  const unknown = new Set(sources.flatMap(({ types = [] }) => types).filter((type) => !known.has(type)))
  const unserved = new Set(queriedTypes.filter((type) => sourcesFor(sources, type).length === 0))
  return [
    ...[...unknown].map((type) =>
      warning(`UPSTREAMS names ${JSON.stringify(type)}, a type that Weir never requests from a source.`),
    ),
    ...(unserved.size > 0
      ? [warning(`No source serves ${nameList([...unserved])}. A source without "types" serves every type.`)]
      : []),
  ]
}

function nameList(names: readonly string[]): string {
  return names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} others` : names.join(', ')
}

function accountFindings(facts: DeployFacts): Finding[] {
  const { gateway, workers, scope, isDryRun, account } = facts
  const secrets = [
    ...(gateway.secrets?.required ?? []),
    ...optionalSecrets('gateway', gateway.vars),
    ...optionalSecrets('live', workers.live.vars),
  ]
  if (account === null)
    return isDryRun
      ? [note(`Not logged in: migrations and the secrets ${secrets.join(', ')} were not checked.`)]
      : [error('Not logged in. Run "npm run wrangler -- login" or set a valid CLOUDFLARE_API_TOKEN.')]
  return [
    ...secretFindings(gateway, scope, account.secrets),
    ...leftJobsFindings(facts, account.jobsSecrets),
    ...optionalSecretFindings(facts),
    ...migrationFindings(account.migrations),
    ...account.schemaFaults.map(schemaFinding),
    ...misplacedStores(account.locations, gateway.vars.FEED_REGION).map(warning),
  ]
}

/** Without its bindings, the jobs Worker would still deliver and charge pipelines, and their owners could not stop them. */
function leftJobsFindings({ gateway, workers: { jobs } }: DeployFacts, set: AccountFacts['jobsSecrets']): Finding[] {
  const isLeft = Array.isArray(set) && !deployedRoles(gateway, jobs).includes('jobs')
  if (!isLeft) return []
  return [
    error(
      `${WORKERS.gateway} has no bindings to the Worker ${jobs.name}, which still exists. Delete it first. See "Run without background objects" in docs/operators/guides/update.md. If it belongs to another gateway, set another "name" in ${WORKERS.jobs}.`,
    ),
  ]
}

/**
 * Secrets that variables of a Worker need: for alerts, or for headers of sources and nodes. Invalid variables are
 * reported by `variableFindings`.
 */
export function optionalSecrets(role: WorkerRole, vars: WorkerConfig['vars']): string[] {
  if (role === 'live') return vars.ALERT_URL ? ['ALERT_SECRET'] : []
  const { UPSTREAMS: upstreams, RPC_CHAINS: chains } = vars
  const sources = typeof upstreams === 'string' ? parseSources(upstreams) : null
  const nodes = typeof chains === 'string' ? parseChains(chains) : null
  return secretNames([...(sources?.ok ? sources.value : []), ...(nodes?.ok ? nodes.value : [])])
}

/**
 * These secrets are set with wrangler, which needs an existing Worker. Until then the gateway does not use sources that
 * need one, and no alert is sent. The jobs Worker needs those of nodes, for pipelines that read logs of contracts.
 */
function optionalSecretFindings({ gateway, workers: { live, jobs }, scope, account }: DeployFacts): Finding[] {
  const hasJobs = deployedRoles(gateway, jobs).includes('jobs')
  const workers = [
    { file: WORKERS.gateway, needed: optionalSecrets('gateway', gateway.vars), set: account?.secrets ?? null },
    {
      file: WORKERS.live,
      needed: scope === 'routes' || scope === 'jobs' ? [] : optionalSecrets('live', live.vars),
      set: account?.liveSecrets ?? null,
    },
    {
      file: WORKERS.jobs,
      needed: scope === 'routes' || !hasJobs ? [] : optionalSecrets('jobs', jobs.vars),
      set: account?.jobsSecrets ?? null,
    },
  ]
  return workers.flatMap(({ file, needed, set }) =>
    needed
      .filter((name) => set === null || set === 'no worker' || !set.includes(name))
      .map((name) => {
        const put = `Run "npm run wrangler -- secret put ${name} -c ${file}"`
        if (set === null) return warning(`Whether the secret ${name} is set is unknown. ${put} if it is not.`)
        return scope === 'first' || (file === WORKERS.jobs && set === 'no worker')
          ? note(`Variables in ${file} need the secret ${name}. ${put} after the deploy.`)
          : error(`The secret ${name}, which variables in ${file} need, is not set. ${put}.`)
      }),
  )
}

function secretFindings(gateway: GatewayConfig, scope: Scope, set: AccountFacts['secrets']): Finding[] {
  const unread = 'The secrets of the account could not be read'
  if (set === null)
    return [scope === 'first' ? error(`${unread}. Try again.`) : warning(`${unread}, so they were not checked.`)]
  if (scope === 'first' && set === 'no worker') return []
  if (scope === 'first' && !hasSecrets(set))
    return [
      error(
        `The account already has a Worker ${gateway.name} without secrets, so an earlier "--first" did not create it, and this deploy would overwrite it. Delete it, or set another "name" in ${WORKERS.gateway} and in [[services]] of ${WORKERS.live} and ${WORKERS.jobs}.`,
      ),
    ]
  if (set === 'no worker')
    return [
      error(`The Worker ${gateway.name} does not exist yet. Run "npm run deploy -- --first" to create all Workers.`),
    ]
  const needed = [...(gateway.secrets?.required ?? []), ...sellingSecrets(gateway.vars)]
  const missing = needed.filter((name) => !set.includes(name))
  return missing.map((name) => error(`The secret ${name} is not set. Run "npm run wrangler -- secret put ${name}".`))
}

/** Whether the gateway has secrets of its own already. The first deploy then keeps them. */
export function hasSecrets(set: AccountFacts['secrets']): boolean {
  return set !== null && set !== 'no worker' && set.some((name) => !name.startsWith('SOURCE_'))
}

function migrationFindings(migrations: AccountFacts['migrations']): Finding[] {
  if (migrations === null)
    return [warning('The migrations of the databases could not be read, so they were not checked.')]
  const lacking = Map.groupBy(migrations, (one) => one.split('/')[0]!)
  return [...lacking].map(([database, names]) => {
    const fix = `Run "npm run wrangler -- d1 migrations apply ${database} --remote".`
    const files = names.map((name) => name.slice(database.length + 1)).join(', ')
    return error(`${database} needs the migrations ${files}. ${fix}`)
  })
}

function schemaFinding(fault: string): Finding {
  const database = fault.slice(0, fault.indexOf('/'))
  const schemaFault = fault.slice(fault.indexOf('/') + 1)
  return error(
    `${database} has ${schemaFault}, although all its migrations are recorded as applied. If it stores nothing yet, delete and create it again. Otherwise compare it with schemas/d1/${database.toLowerCase()}.`,
  )
}

function givenSecrets(given: DeployFacts['given']): Finding[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const why = value === undefined ? null : secretFault(value)
    return why === null ? [] : [error(`${name} from the environment or .secrets.json ${why}.`)]
  })
}

function secretFault(value: string): string | null {
  if (value.length < SECRET_MIN_LENGTH) return `has fewer than ${SECRET_MIN_LENGTH} characters`
  return TOKEN.test(value) ? null : INVALID_TOKEN_MESSAGE
}
