// The checks of `weir deploy` before anything is created. They report all faults at once, each with its fix.
// Pure: the input is weir.toml as wrangler files, and the state of the account if someone is logged in.

import type * as z from 'zod'
import { ArchiveSettings } from '../../archive/archive/archive-settings.ts'
import { PayerSettings } from '../../billing/x402/settings.ts'
import { isWithin, ownDomains } from '../../core/egress.ts'
import { SECRET_MIN_LENGTH, secretFault } from '../../core/secret.ts'
import { parseWith } from '../../core/validation-errors.ts'
import { GatewaySettings, missingDependencies } from '../../http/gateway-settings.ts'
import { CATALOGUE } from '../../info/queries/catalogue.ts'
import { upstreamTypesOf, usesUpstream } from '../../info/query.ts'
import { RequestLogSettings } from '../../metering/request-log/log-settings.ts'
import { AlertSettings } from '../../monitor/alert-settings.ts'
import { SinkSettings } from '../../pipelines/sink/sink-settings.ts'
import { SqlSettings } from '../../pipelines/sql/sql-api.ts'
import { parseChains } from '../../rpc/chains.ts'
import { secretNames } from '../../upstream/secret-headers.ts'
import { LAG_TYPE } from '../../upstream/source-lag.ts'
import { parseSources, sourcesFor, type UpstreamSource } from '../../upstream/sources.ts'
import type { WeirSettings } from '../settings/weir-settings.ts'
import type { WorkerFiles } from './effective-file.ts'
import { locationOf, misplacedStores } from './store-location.ts'
import { type StoreState, storesOf, storeText } from './stores.ts'
import type { WorkerFile } from './worker-file.ts'
import { deployedRoles, ROLES, type WorkerRole } from './workers.ts'

/** All variables of the live Worker. */
const LIVE_SETTINGS = AlertSettings.extend(PayerSettings.shape).extend(RequestLogSettings.shape)

/** The Workers to deploy: all, the gateway, those of background work, or all when none of them exists yet. */
export type Scope = 'all' | 'routes' | 'jobs' | 'first'

export interface DeployFacts {
  readonly settings: WeirSettings
  readonly workers: WorkerFiles
  readonly scope: Scope
  /** Whether the folder is deleted after the deploy, as that of Cloudflare's builds is. */
  readonly isTemporary: boolean
  /** Secrets for the first deploy, from the environment or from .secrets.json. */
  readonly given: Readonly<Record<string, string | undefined>>
  /** Why .secrets.json cannot be used. Null if it can be used or does not exist. */
  readonly secretsFault: string | null
  /** Null if no one is logged in. */
  readonly account: AccountFacts | null
}

/** Names of the secrets of a Worker. Null if they could not be read. */
export type SecretNames = readonly string[] | 'no worker' | null

export interface AccountFacts {
  /** By Worker. */
  readonly secrets: Readonly<Record<WorkerRole, SecretNames>>
  /** Stores by their binding. */
  readonly stores: Readonly<Record<string, StoreState>>
  /** Names of the migrations that each database lacks, by its binding. Null if it could not be read. */
  readonly lacking: Readonly<Record<string, readonly string[] | null>>
  /** Faults of a schema whose migrations are all recorded as applied, as `BINDING/fault`. */
  readonly schemaFaults: readonly string[]
}

export interface Finding {
  readonly level: 'error' | 'warning' | 'note'
  readonly text: string
}

const error = (text: string): Finding => ({ level: 'error', text })
const warning = (text: string): Finding => ({ level: 'warning', text })
const note = (text: string): Finding => ({ level: 'note', text })

const PAID_PLAN = note('The account needs the Workers Paid plan. See docs/operators/reference/costs.md.')
/** Cloudflare rejects a larger variable. */
const VARIABLE_MAX_BYTES = 5 * 1024

export function deployFindings(facts: DeployFacts): Finding[] {
  const { gateway, live, jobs, sql } = facts.workers
  const roles = deployedRoles(gateway, jobs)
  return [
    ...variableFindings(GatewaySettings, gateway.vars),
    ...variableFindings(LIVE_SETTINGS, live.vars),
    ...(roles.includes('jobs') ? variableFindings(ArchiveSettings.extend(SinkSettings.shape), jobs.vars) : []),
    ...(roles.includes('sql') ? variableFindings(SqlSettings, sql.vars) : []),
    ...largeVariables(roles.map((role) => facts.workers[role])),
    ...ownHostFindings(gateway),
    ...sourceFindings(gateway.vars.UPSTREAMS),
    ...chainFindings(gateway.vars.RPC_CHAINS),
    ...sellingFindings(gateway.vars),
    ...accountFindings(facts),
    ...(facts.secretsFault === null ? [] : [error(facts.secretsFault)]),
    ...(facts.scope === 'first' ? [PAID_PLAN, ...regionFindings(gateway), ...givenSecrets(facts.given)] : []),
  ].filter((one, at, all) => all.findIndex(({ text }) => text === one.text) === at)
}

function largeVariables(workers: readonly WorkerFile[]): Finding[] {
  return workers
    .flatMap(({ vars }) => Object.entries(vars))
    .map(([name, value]) => [name, new TextEncoder().encode(value).length] as const)
    .filter(([, bytes]) => bytes > VARIABLE_MAX_BYTES)
    .map(([name, bytes]) =>
      error(
        `weir.toml: vars.${name} has ${bytes.toLocaleString('en')} bytes, and Cloudflare allows ${VARIABLE_MAX_BYTES.toLocaleString('en')}. Shorten it.`,
      ),
    )
}

/** Customers' pipelines must not send to the operator's own hosts, so PUBLIC_URL and OWN_ZONES must cover every route. */
function ownHostFindings({ vars, routes }: WorkerFile): Finding[] {
  const settings = GatewaySettings.safeParse(vars)
  if (!settings.success) return []
  const own = ownDomains(settings.data)
  const hosts = routes.map((route) => (typeof route === 'string' ? route : route.pattern).replace(/^\*\.?|\/.*$/g, ''))
  return hosts
    .filter((host) => !isWithin(host, own))
    .map((host) =>
      error(
        `routes: neither PUBLIC_URL nor OWN_ZONES covers ${host}, so customers' pipelines could send to its zone. Add the zone to vars.OWN_ZONES.`,
      ),
    )
}

function regionFindings({ vars }: WorkerFile): Finding[] {
  if (vars.FEED_REGION !== '') return []
  return [
    warning(
      'FEED_REGION is empty. Cloudflare creates the log and the hubs near the first request, and they stay there. See docs/operators/guides/choose-a-region.md.',
    ),
  ]
}

function variableFindings(schema: z.ZodObject, vars: object): Finding[] {
  const parsed = parseWith(schema.strict(), vars)
  if (parsed.ok) return []
  return parsed.error.map(({ path: name, message }) =>
    error(`weir.toml: ${message.startsWith(`${name} `) ? '' : `${name} `}${message}.`),
  )
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
    ...missingDependencies(settings.data).map((missing) => error(`weir.toml: ${missing}.`)),
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
  const { settings, workers, account } = facts
  const secrets = [
    ...(workers.gateway.secrets?.required ?? []),
    ...optionalSecrets('gateway', workers.gateway.vars),
    ...optionalSecrets('live', workers.live.vars),
  ]
  if (account === null)
    return [note(`Not logged in: stores, tables and the secrets ${secrets.join(', ')} were not checked.`)]
  return [
    ...secretFindings(facts, account.secrets.gateway),
    ...leftJobsFindings(facts, account.secrets.jobs),
    ...optionalSecretFindings(facts, account),
    ...storesOf(settings)
      .filter(({ binding }) => account.stores[binding]?.state === 'gone')
      .map(({ kind, setting, id }) =>
        error(
          `weir.toml: ids.${setting} is ${id}, but the account has no ${kind === 'D1' ? 'D1 database' : 'KV namespace'} with this id. If it was deleted, remove the line to create a new one. Otherwise correct account_id or the id.`,
        ),
      ),
    ...migrationFindings(account.lacking),
    ...account.schemaFaults.map(schemaFinding),
    ...misplacedStores(placesOf(settings, account), locationOf(settings)).map(warning),
  ]
}

function placesOf(settings: WeirSettings, { stores }: AccountFacts): Record<string, string> {
  const places = storesOf(settings).map((store) => {
    const found = stores[store.binding]
    return [storeText(store), found?.state === 'there' ? (found.location ?? '') : '']
  })
  return Object.fromEntries(places)
}

/** Without its bindings, the jobs Worker would still deliver and charge pipelines, and their owners could not stop them. */
function leftJobsFindings({ workers: { gateway, jobs } }: DeployFacts, set: SecretNames): Finding[] {
  const isLeft = Array.isArray(set) && !deployedRoles(gateway, jobs).includes('jobs')
  if (!isLeft) return []
  return [
    error(
      `weir.toml: jobs is false, but the Worker ${jobs.name} still exists. Delete it first. See "Run without background objects" in docs/operators/guides/update.md. If it belongs to another gateway, set another name in weir.toml.`,
    ),
  ]
}

/**
 * Secrets that variables of a Worker need: for alerts, or for headers of sources and nodes. Invalid variables are
 * reported by `variableFindings`.
 */
export function optionalSecrets(role: WorkerRole, vars: WorkerFile['vars']): string[] {
  if (role === 'live') return vars.ALERT_URL ? ['ALERT_SECRET'] : []
  const { UPSTREAMS: upstreams, RPC_CHAINS: chains } = vars
  const sources = upstreams === undefined ? null : parseSources(upstreams)
  const nodes = chains === undefined ? null : parseChains(chains)
  return secretNames([...(sources?.ok ? sources.value : []), ...(nodes?.ok ? nodes.value : [])])
}

/**
 * These secrets can be set once the Worker exists. Until then the gateway does not use sources that need one, and no alert is
 * sent. The jobs Worker needs those of nodes, for pipelines that read logs of contracts.
 */
function optionalSecretFindings({ workers, scope }: DeployFacts, { secrets }: AccountFacts): Finding[] {
  const isDeployed = {
    gateway: true,
    live: scope !== 'routes' && scope !== 'jobs',
    jobs: scope !== 'routes',
    sql: false,
  }
  const roles = deployedRoles(workers.gateway, workers.jobs).filter((role) => isDeployed[role])
  return ROLES.toReversed()
    .filter((role) => roles.includes(role))
    .flatMap((role) => {
      const { name: worker, vars } = workers[role]
      const set = secrets[role]
      return optionalSecrets(role, vars)
        .filter((name) => !Array.isArray(set) || !set.includes(name))
        .map((name) => {
          const put = `Run "npx weir deploy --secret ${name}"`
          if (set === null)
            return warning(`Whether the secret ${name} of ${worker} is set is unknown. ${put} if it is not.`)
          return scope === 'first' || (role === 'jobs' && set === 'no worker')
            ? note(`Variables of ${worker} need the secret ${name}. ${put} after the deploy.`)
            : error(`The secret ${name}, which variables of ${worker} need, is not set. ${put}.`)
        })
    })
}

function secretFindings(facts: DeployFacts, set: SecretNames): Finding[] {
  const { settings, scope, isTemporary, given, workers } = facts
  const { name, secrets, vars } = workers.gateway
  const required = secrets?.required ?? []
  const unread = 'The secrets of the account could not be read'
  if (set === null)
    return [scope === 'first' ? error(`${unread}. Try again.`) : warning(`${unread}, so they were not checked.`)]
  if (scope === 'first' && !hasSecrets(set, required)) {
    const lacking = required.filter((one) => given[one] === undefined)
    if (set !== 'no worker' && !settings.replace_worker)
      return [
        error(
          `The name is taken: the account has a Worker ${name} without the gateway's secrets, and this deploy would overwrite it. Set another name in weir.toml. To overwrite it, set replace_worker = true.`,
        ),
      ]
    if (isTemporary && lacking.length > 0)
      return [
        error(
          `The secrets ${lacking.join(', ')} are not set, and new ones would be lost with the folder of this build. Set them as secrets of the Worker ${name}, or as variables of the build, each with at least ${SECRET_MIN_LENGTH} characters.`,
        ),
      ]
    return []
  }
  if (set === 'no worker')
    return [error(`The Worker ${name} does not exist yet. Run "npx weir deploy" without --routes and --jobs first.`)]
  const missing = [...required, ...sellingSecrets(vars)].filter((one) => !set.includes(one))
  return missing.map((one) => error(`The secret ${one} is not set. Run "npx weir deploy --secret ${one}".`))
}

/** Whether the Worker is a gateway with secrets of its own. The first deploy then keeps them. */
export function hasSecrets(set: SecretNames, required: readonly string[]): boolean {
  return Array.isArray(set) && required.some((name) => set.includes(name))
}

function migrationFindings(lacking: AccountFacts['lacking']): Finding[] {
  const unread = Object.keys(lacking).filter((binding) => lacking[binding] === null)
  return unread.map((binding) => error(`The tables of the database ${binding} could not be read. Try again.`))
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
