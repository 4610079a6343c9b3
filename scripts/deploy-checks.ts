// What `npm run deploy` knows to be wrong before wrangler runs: all of it at once, each with what to do. Pure: it judges
// the two wrangler files, and what the account said where somebody is logged in.

import type * as z from 'zod'
import { ArchiveSettings } from '../src/archive/archive/archive-settings.ts'
import { isWithin, ownDomains } from '../src/core/egress.ts'
import { INVALID_TOKEN_MESSAGE, SECRET_MIN_LENGTH, TOKEN } from '../src/core/secret.ts'
import { parseWith } from '../src/core/validation-errors.ts'
import { GatewaySettings, missingDependencies } from '../src/env.ts'
import { CATALOGUE } from '../src/info/queries/catalogue.ts'
import { upstreamTypesOf, usesUpstream } from '../src/info/query.ts'
import { SinkSettings } from '../src/pipelines/sink/sink-settings.ts'
import { SqlSettings } from '../src/pipelines/sql/sql-api.ts'
import { parseChains } from '../src/rpc/chains.ts'
import { LAG_TYPE } from '../src/upstream/source-lag.ts'
import { parseSources, sourcesFor, type UpstreamSource } from '../src/upstream/sources.ts'
import { disagreements, openSettings, type WorkerConfig } from './worker-agreement.ts'
import { ROLES, WORKERS, type WorkerRole } from './workers.ts'

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

/** What is deployed: `first` is both where neither exists yet. */
export type Scope = 'both' | 'routes' | 'first'

export interface DeployFacts {
  readonly gateway: GatewayConfig
  readonly live: WorkerConfig
  /** All of them, by role. */
  readonly workers: Readonly<Record<WorkerRole, WorkerConfig>>
  readonly scope: Scope
  readonly isDryRun: boolean
  /** Secrets of the environment, or of an earlier try, for the first deploy. */
  readonly given: Readonly<Record<string, string | undefined>>
  /** Why the secrets that an earlier try kept cannot be used; null: they can, or there are none. */
  readonly secretsFault: string | null
  /** Null: nobody is logged in. */
  readonly account: AccountFacts | null
}

export interface AccountFacts {
  /** Names of the gateway's secrets; null where it does not exist yet, or where that could not be read. */
  readonly secrets: readonly string[] | 'no worker' | null
  /** Migrations that databases lack, behind the name of the binding and a slash; null where that could not be read. */
  readonly migrations: readonly string[] | null
  /** What databases lack although their migrations are noted as applied, behind the name of the binding and a slash. */
  readonly schemaFaults: readonly string[]
}

export interface Finding {
  readonly level: 'error' | 'warning' | 'note'
  readonly text: string
}

const error = (text: string): Finding => ({ level: 'error', text })
const warning = (text: string): Finding => ({ level: 'warning', text })
const note = (text: string): Finding => ({ level: 'note', text })

const PAID_PLAN = note('The account needs the Workers Paid plan: docs/operators/reference/costs.md.')
/** Cloudflare takes no larger variable. */
const VARIABLE_MAX_BYTES = 5 * 1024
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/
const HEX_ID = /^[0-9a-f]{32}$/

export function deployFindings(facts: DeployFacts): Finding[] {
  const {
    gateway,
    live,
    workers: { sql },
  } = facts
  return [
    ...gateway.d1_databases.flatMap(databaseFindings),
    ...gateway.kv_namespaces.flatMap(namespaceFindings),
    ...bindingFindings(gateway),
    ...archiveFindings(gateway),
    ...variableFindings('wrangler.toml', GatewaySettings, gateway.vars),
    ...variableFindings('wrangler.live.toml', ArchiveSettings.extend(SinkSettings.shape), live.vars),
    ...variableFindings(WORKERS.sql, SqlSettings, sql.vars),
    ...disagreements(gateway, live, sql).map((line) => error(`${line}. Write the same into both files.`)),
    ...ROLES.flatMap((role) => openSettings(WORKERS[role], facts.workers[role])).map((line) => error(`${line}.`)),
    ...ownHostFindings(gateway),
    ...sourceFindings(gateway.vars.UPSTREAMS),
    ...chainFindings(gateway.vars.RPC_CHAINS),
    ...sellingFindings(gateway.vars),
    ...accountFindings(facts),
    ...(facts.secretsFault === null ? [] : [error(facts.secretsFault)]),
    ...(facts.scope === 'first' ? [PAID_PLAN, ...regionFindings(gateway), ...givenSecrets(facts.given)] : []),
  ]
}

/** Pipelines of customers send to hosts that the objects do not know for the operator's. */
function ownHostFindings({ vars, routes = [] }: GatewayConfig): Finding[] {
  const settings = GatewaySettings.safeParse(vars)
  if (!settings.success) return []
  const own = ownDomains(settings.data)
  const hosts = routes.map((route) => (typeof route === 'string' ? route : route.pattern).replace(/^\*\.?|\/.*$/g, ''))
  return hosts
    .filter((host) => !isWithin(host, own))
    .map((host) =>
      error(
        `routes: ${host} is of no domain that PUBLIC_URL or OWN_ZONES names, and pipelines of customers would reach its zone. Write the zone into OWN_ZONES of both files.`,
      ),
    )
}

function regionFindings({ vars }: GatewayConfig): Finding[] {
  if (vars.FEED_REGION !== '') return []
  return [
    warning(
      'FEED_REGION is empty: log and hubs stay wherever they are first asked for: docs/operators/guides/choose-a-region.md.',
    ),
  ]
}

function databaseFindings({ binding, database_name: name, database_id: id }: GatewayConfig['d1_databases'][number]) {
  const fix = `run "npm run wrangler -- d1 create ${name}" and write the id that it prints under [[d1_databases]].`
  if (id === undefined)
    return [
      error(`${binding} has no database_id; wrangler would take one of that name, or make one without tables: ${fix}`),
    ]
  return UUID.test(id) ? [] : [error(`database_id ${JSON.stringify(id)} of ${binding} is no id: ${fix}`)]
}

function namespaceFindings({ binding, id }: GatewayConfig['kv_namespaces'][number]) {
  const fix = `run "npm run wrangler -- kv namespace create ${binding}" and write the id that it prints under [[kv_namespaces]].`
  if (id === undefined) return [error(`${binding} has no id; wrangler would make a new namespace: ${fix}`)]
  return HEX_ID.test(id) ? [] : [error(`id ${JSON.stringify(id)} of ${binding} is no id: ${fix}`)]
}

function variableFindings(file: string, schema: z.ZodObject, vars: object): Finding[] {
  const parsed = parseWith(schema.strict(), vars)
  if (parsed.ok) return []
  return parsed.error.map(({ path: name, message }) => {
    if (!(name in schema.shape)) return warning(`${file}: ${name} is no variable of Weir (${message}).`)
    const missing = name in vars ? '' : 'is missing: it '
    return error(`${file}: ${message.startsWith(`${name} `) ? '' : `${name} ${missing}`}${message}.`)
  })
}

/** The code knows what it is bound to by these names; wrangler's own proposals have others. */
function bindingFindings({ d1_databases: databases, kv_namespaces: namespaces }: GatewayConfig): Finding[] {
  const wanted = [
    { name: 'ACCOUNTS', of: databases, table: 'd1_databases' },
    { name: 'KEYS', of: namespaces, table: 'kv_namespaces' },
  ]
  const missing = wanted.filter(({ name, of }) => of.filter(({ binding }) => binding === name).length !== 1)
  return missing.map(({ name, of, table }) => {
    const has = of.map(({ binding }) => binding).join(', ') || 'none'
    return error(
      `wrangler.toml must have one [[${table}]] with binding = "${name}", and has ${has}: only ids are yours.`,
    )
  })
}

/** Half of it would archive nothing, and say nothing. */
function archiveFindings({ d1_databases: databases, r2_buckets: buckets = [] }: GatewayConfig): Finding[] {
  const hasRows = databases.some(({ binding }) => binding === 'HISTORY')
  const hasObjects = buckets.some(({ binding }) => binding === 'ARCHIVE')
  if (hasRows === hasObjects) return []
  const lacks = hasRows ? '[[r2_buckets]] with binding = "ARCHIVE"' : '[[d1_databases]] with binding = "HISTORY"'
  return [error(`The archive lacks its ${lacks}: write both tables into both files, or none of the four.`)]
}

/** What is no list of sources was already found wrong as a variable. */
function sourceFindings(upstreams: unknown): Finding[] {
  const parsed = typeof upstreams === 'string' ? parseSources(upstreams) : null
  if (!parsed?.ok) return []
  const sources = parsed.value
  const asking = CATALOGUE.filter(usesUpstream)
  if (sources.length === 0)
    return [
      warning(
        `UPSTREAMS is empty: only ${CATALOGUE.length - asking.length} of ${CATALOGUE.length} info types answer, those of own books and own history.`,
      ),
    ]
  const isLarge = new TextEncoder().encode(String(upstreams)).length > VARIABLE_MAX_BYTES
  return [
    ...(isLarge ? [error(`UPSTREAMS is larger than ${VARIABLE_MAX_BYTES} bytes, which Cloudflare refuses.`)] : []),
    ...sources.flatMap(addressFindings),
    ...typeFindings(sources, asking.flatMap(upstreamTypesOf)),
  ]
}

function addressFindings({ name, url }: UpstreamSource): Finding[] {
  const why = unreachableReason(new URL(url).hostname)
  const fix = 'Give it a host name, such as that of a tunnel.'
  if (why !== null) return [error(`Source ${JSON.stringify(name)}: no Worker can reach ${url}, ${why}. ${fix}`)]
  const isBare = new URL(url).pathname === '/'
  return isBare ? [warning(`Source ${JSON.stringify(name)}: ${url} has no path; nodes answer at /info.`)] : []
}

/** What is no variable was already found wrong. */
function sellingFindings(vars: object): Finding[] {
  const settings = GatewaySettings.safeParse(vars)
  if (!settings.success) return []
  const isLogged = settings.data.SIGNUP === 'log'
  return [
    ...missingDependencies(settings.data).map((missing) => error(`wrangler.toml: ${missing}.`)),
    ...(isLogged ? [warning('SIGNUP is "log": whoever reads the log can open the accounts of others.')] : []),
  ]
}

/** Secrets that variables make needed. */
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

/** Addresses of nodes may hold keys: they are not shown. */
function chainFindings(variable: unknown): Finding[] {
  const chains = typeof variable === 'string' ? parseChains(variable) : null
  if (!chains?.ok) return []
  return chains.value.flatMap(({ name, urls, dataUrl }) =>
    [...urls, ...(dataUrl === undefined ? [] : [dataUrl])].flatMap((url) => {
      const { hostname } = new URL(url)
      const why = unreachableReason(hostname)
      return why === null
        ? []
        : [error(`RPC_CHAINS: no Worker can reach ${hostname} of ${JSON.stringify(name)}, ${why}.`)]
    }),
  )
}

/** Why a Worker cannot reach this host, as a URL has it; null where nothing speaks against it. */
function unreachableReason(host: string): string | null {
  if (/^\[|^[\d.]+$/.test(host)) return 'an address: Workers fetch from host names alone'
  const isPrivate = !host.includes('.') || /\.(?:local|localhost|internal|lan|home\.arpa)\.?$/.test(host)
  return isPrivate ? 'a name of a private network' : null
}

function typeFindings(sources: readonly UpstreamSource[], asked: readonly string[]): Finding[] {
  const known = new Set([...asked, LAG_TYPE, 'perpDexs'])
  const unknown = new Set(sources.flatMap(({ types = [] }) => types).filter((type) => !known.has(type)))
  const unserved = new Set(asked.filter((type) => sourcesFor(sources, type).length === 0))
  return [
    ...[...unknown].map((type) =>
      warning(`UPSTREAMS names ${JSON.stringify(type)}, which no source is ever asked for.`),
    ),
    ...(unserved.size > 0
      ? [warning(`No source serves ${nameList([...unserved])}: one without "types" serves all.`)]
      : []),
  ]
}

function nameList(names: readonly string[]): string {
  return names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} others` : names.join(', ')
}

function accountFindings({ gateway, scope, isDryRun, account }: DeployFacts): Finding[] {
  const required = gateway.secrets?.required ?? []
  if (account === null)
    return isDryRun
      ? [note(`Not logged in: migrations and the secrets ${required.join(', ')} of the account were not looked at.`)]
      : [error('Not logged in: run "npm run wrangler -- login", or set a CLOUDFLARE_API_TOKEN that is valid.')]
  return [
    ...secretFindings(gateway, scope, account.secrets),
    ...migrationFindings(account.migrations),
    ...account.schemaFaults.map(schemaFinding),
  ]
}

function secretFindings(gateway: GatewayConfig, scope: Scope, set: AccountFacts['secrets']): Finding[] {
  const unread = 'The secrets of the account could not be read'
  if (set === null) return [scope === 'first' ? error(`${unread}: try again.`) : warning(`${unread}: not checked.`)]
  if (scope === 'first' && set === 'no worker') return []
  if (scope === 'first' && set.length === 0)
    return [
      error(
        `The account has a Worker ${gateway.name} without secrets, which is not of an earlier try: it would be overwritten. Delete it, or choose another "name" in wrangler.toml, and the same under [[services]] of wrangler.live.toml.`,
      ),
    ]
  if (set === 'no worker')
    return [error(`The Worker ${gateway.name} does not exist yet: "npm run deploy -- --first" makes both.`)]
  const needed = [...(gateway.secrets?.required ?? []), ...sellingSecrets(gateway.vars)]
  const missing = needed.filter((name) => !set.includes(name))
  return missing.map((name) => error(`Secret ${name} is not set: run "npm run wrangler -- secret put ${name}".`))
}

/** Whether the gateway has secrets already: the first deploy then leaves them as they are. */
export function hasSecrets(set: AccountFacts['secrets']): boolean {
  return set !== null && set !== 'no worker' && set.length > 0
}

function migrationFindings(migrations: AccountFacts['migrations']): Finding[] {
  if (migrations === null) return [warning('The migrations of the databases could not be read: they were not checked.')]
  const lacking = Map.groupBy(migrations, (one) => one.split('/')[0]!)
  return [...lacking].map(([database, names]) => {
    const fix = `run "npm run wrangler -- d1 migrations apply ${database} --remote".`
    return error(`${database} lacks ${names.map((name) => name.slice(database.length + 1)).join(', ')}: ${fix}`)
  })
}

function schemaFinding(fault: string): Finding {
  const database = fault.slice(0, fault.indexOf('/'))
  const what = fault.slice(fault.indexOf('/') + 1)
  return error(
    `${database} has ${what}, although its migrations are noted as applied. Where nothing is stored yet, delete the database and make it anew; else compare it with schemas/d1/${database.toLowerCase()}.`,
  )
}

function givenSecrets(given: DeployFacts['given']): Finding[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const why = value === undefined ? null : secretFault(value)
    return why === null ? [] : [error(`${name} of the environment or .secrets.json ${why}.`)]
  })
}

function secretFault(value: string): string | null {
  if (value.length < SECRET_MIN_LENGTH) return `has less than ${SECRET_MIN_LENGTH} characters`
  return TOKEN.test(value) ? null : INVALID_TOKEN_MESSAGE
}
