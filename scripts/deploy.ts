// `npm run deploy` deploys all Workers in the order of workers.ts: a Worker follows those it binds. `--routes` deploys the
// gateway alone and closes no WebSocket. The checks of deploy-checks.ts run first, and a fault stops the deploy.
// `--dry-run` prints the plan (deploy-plan.ts), checks and builds.
// Gateway and live Worker bind each other, and Cloudflare refuses a binding to a Worker that does not exist. `--first` therefore
// deploys live without that binding, then the gateway with its secrets, then live again with it.

import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import * as z from 'zod'
import { buildPages } from '../src/cli/launch/build.node.ts'
import { writeAtomically } from '../src/cli/launch/state-folder.node.ts'
import { commandLine, failUsage, program } from '../src/core/command-line.node.ts'
import { SCHEMA_QUERY, schemaFaults } from './d1-schema.ts'
import {
  type AccountFacts,
  deployFindings,
  type Finding,
  type GatewayConfig,
  hasSecrets,
  type Scope,
} from './deploy-checks.ts'
import { deployPlan } from './deploy-plan.ts'
import { addressOf, firstRequest, withoutService } from './first-request.ts'
import { readConfigs } from './worker-agreement.ts'
import { ROLES, WORKERS } from './workers.ts'

const WRANGLER = 'node_modules/wrangler/bin/wrangler.js'
const { gateway: GATEWAY, live: LIVE } = WORKERS
const FIRST = 'wrangler.first.toml'
const SECRETS = '.secrets.json'
const PROBE_MS = 30_000
/** The file to which wrangler writes its records of a deployment. */
const OUTPUT = '.wrangler.deployed.ndjson'
const env: NodeJS.ProcessEnv = { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' }

const DEPLOY = program('npm run deploy --', 'deploys all Workers; WebSockets close within 5 minutes', [
  '',
  '--routes --dry-run',
])
  .option('--routes', 'deploys only the gateway; no WebSocket closes')
  .option('--first', 'deploys all Workers for the first time, with secrets from the environment or new ones')
  .option('--dry-run', 'prints the plan, checks and builds, and deploys nothing')
  .option('--message <text>', 'the message of the deployment at Cloudflare')
  .option('--tag <text>', 'the tag of the deployment at Cloudflare')
const options = commandLine(DEPLOY).opts()
if (options.routes && options.first) failUsage(DEPLOY, '--first deploys all Workers. Remove --routes')
const scope: Scope = options.first ? 'first' : options.routes ? 'routes' : 'both'
const isDryRun = options.dryRun === true

/** The output of `wrangler d1 execute --json`. */
const QueryRows = z.array(
  z.looseObject({
    results: z.array(z.looseObject({ name: z.string() })),
    meta: z.looseObject({ served_by_region: z.string().optional() }).optional(),
  }),
)
const Schema = z.array(z.object({ type: z.string(), name: z.string(), sql: z.string().nullable() }))

await main()

async function main(): Promise<void> {
  const workers = configs()
  const { gateway, live }: { gateway: GatewayConfig; live: typeof workers.live } = workers
  const required = gateway.secrets?.required ?? []
  const kept = scope === 'first' ? readSecrets() : { secrets: {}, fault: null }
  const given = Object.fromEntries(required.map((name) => [name, process.env[name] ?? kept.secrets[name]]))
  const account = await readAccount(gateway)
  const facts = { gateway, live, workers, scope, isDryRun, given, secretsFault: kept.fault, account }
  if (isDryRun) {
    const files = Object.fromEntries(gateway.d1_databases.map((one) => [one.binding, migrationsOf(one).names]))
    console.error(deployPlan({ ...facts, workers, files }).join('\n'))
  }
  const findings = deployFindings(facts)
  const errors = findings.filter(({ level }) => level === 'error')
  printFindings(findings)
  if (errors.length > 0 && !isDryRun) exitWithCount(errors, 'nothing was deployed')
  if (scope === 'both')
    console.error('Deploying all Workers. WebSockets close within 5 minutes. "npm run deploy -- --routes" closes none.')
  await buildPages(process.cwd())
  if (scope === 'first') deployFirst(gateway.name, hasSecrets(account?.secrets ?? null) ? [] : secretsFile(given))
  for (const role of ROLES) if (role !== 'gateway' && scope === 'both') deploy(WORKERS[role])
  if (scope !== 'first') deploy(GATEWAY)
  else if (!isDryRun) console.error(await probeGateway(gateway))
  if (errors.length === 0) return
  // The list is printed again, because the output of wrangler has followed the first one.
  printFindings(errors)
  exitWithCount(errors, 'a deploy would stop here')
}

/** Cloudflare creates the log and the hubs near the first request, and they stay there. This is the first request. */
async function probeGateway({ name = '', vars }: GatewayConfig): Promise<string> {
  const address = addressOf(readFileSync(OUTPUT, 'utf8'), name)
  if (address === null)
    return 'The address of the gateway is unknown. Open its /status once to create the log and the hubs.'
  const status = async (url: string) => {
    try {
      return await (await fetch(url, { signal: AbortSignal.timeout(PROBE_MS) })).text()
    } catch (error) {
      return String(error)
    }
  }
  return firstRequest(address, Number(vars.BOOK_HUBS), status, sleep)
}

function configs() {
  try {
    return readConfigs()
  } catch (error) {
    for (const line of (error instanceof Error ? error.message : String(error)).split('\n'))
      console.error(`error    ${line}`)
    process.exit(1)
  }
}

function printFindings(findings: readonly Finding[]): void {
  for (const { level, text } of findings) console.error(`${level.padEnd(8)} ${text}`)
}

function exitWithCount({ length }: readonly Finding[], consequence: string): never {
  console.error(`${length === 1 ? '1 error' : `${length} errors`}: ${consequence}.`)
  process.exit(1)
}

/** The state of the gateway in the account. Null if no one is logged in. The function changes nothing. */
async function readAccount({
  d1_databases: databases,
  r2_buckets: buckets = [],
}: GatewayConfig): Promise<AccountFacts | null> {
  const [login, secrets, liveSecrets, tables, places] = await Promise.all([
    runWrangler('whoami', '--json'),
    readSecretNames(GATEWAY),
    readSecretNames(LIVE),
    Promise.all(databases.filter(({ database_id: id }) => id !== undefined).map(readDatabase)),
    Promise.all(buckets.map(({ bucket_name: name = '' }) => readBucketPlace(name))),
  ])
  // A command that timed out can exit 0 without output.
  if (!login.ok || !/"loggedIn":\s*true/.test(login.output)) return null
  return {
    secrets,
    liveSecrets,
    migrations: tables.includes(null) ? null : tables.flatMap((one) => one?.lacking ?? []),
    schemaFaults: tables.flatMap((one) => one?.faults ?? []),
    locations: Object.fromEntries([...tables.flatMap((one) => one?.place ?? []), ...places.flat()]),
  }
}

type Database = GatewayConfig['d1_databases'][number]
/** A store and its location. */
type Place = readonly [store: string, location: string]

/** The migration files of a database, in order. */
function migrationsOf({ migrations_dir: folder = '' }: Database) {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.sql')) : []
  return { names: names.sort(), texts: () => names.map((name) => readFileSync(join(folder, name), 'utf8')) }
}

/** Missing migrations and schema faults, as `BINDING/text`. Null if the database could not be read. */
async function readDatabase(database: Database) {
  const { binding, database_name: name = binding } = database
  const { names, texts } = migrationsOf(database)
  const command = `${SCHEMA_QUERY}; SELECT name FROM d1_migrations`
  const result = await runWrangler('d1', 'execute', binding, '--remote', '--json', '-c', GATEWAY, '--command', command)
  const withBinding = (list: readonly string[]) => list.map((one) => `${binding}/${one}`)
  if (!result.ok)
    return /no such table: d1_migrations/.test(result.output)
      ? { lacking: withBinding(names), faults: [], place: [] }
      : null
  try {
    const [schema, applied] = QueryRows.parse(JSON.parse(result.output.slice(result.output.indexOf('['))))
    const lacking = names.filter((name) => !applied!.results.some((row) => row.name === name))
    const faults = lacking.length > 0 ? [] : schemaFaults(texts(), Schema.parse(schema!.results))
    const region = schema!.meta?.served_by_region
    const place: Place[] = region === undefined ? [] : [[`D1 ${name}`, region]]
    return { lacking: withBinding(lacking), faults: withBinding(faults), place }
  } catch {
    return null
  }
}

async function readBucketPlace(bucket: string): Promise<Place[]> {
  const { ok, output } = await runWrangler('r2', 'bucket', 'info', bucket, '--json')
  if (!ok) return []
  try {
    const { location } = z.object({ location: z.string() }).parse(JSON.parse(output.slice(output.indexOf('{'))))
    return [[`R2 ${bucket}`, location]]
  } catch {
    return []
  }
}

async function readSecretNames(config: string): Promise<AccountFacts['secrets']> {
  const { ok, output } = await runWrangler('secret', 'list', '-c', config)
  if (!ok) return /not found|does not exist/i.test(output) ? 'no worker' : null
  try {
    const list = z.array(z.object({ name: z.string() })).parse(JSON.parse(output.slice(output.indexOf('['))))
    return list.map(({ name }) => name)
  } catch {
    return null
  }
}

/** Runs wrangler without a terminal and returns its output. */
async function runWrangler(...args: string[]): Promise<{ readonly ok: boolean; readonly output: string }> {
  try {
    // At a quieter log level wrangler prints no result.
    const options = { env: { ...env, WRANGLER_LOG: 'log' }, timeout: 3 * PROBE_MS, maxBuffer: 16 * 1024 * 1024 }
    const { stdout } = await promisify(execFile)(process.execPath, [WRANGLER, ...args], options)
    return { ok: true, output: stdout }
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    return { ok: false, output: `${stdout}${stderr}` }
  }
}

function deployFirst(gateway: string | undefined, withSecrets: readonly string[]): void {
  writeFileSync(OUTPUT, '')
  env.WRANGLER_OUTPUT_FILE_PATH = OUTPUT
  writeFileSync(FIRST, withoutService(readFileSync(LIVE, 'utf8'), gateway))
  process.on('exit', () => {
    for (const file of [FIRST, OUTPUT]) rmSync(file, { force: true })
  })
  for (const role of ROLES) if (role !== 'gateway') deploy(role === 'live' ? FIRST : WORKERS[role])
  deploy(GATEWAY, withSecrets)
  deploy(LIVE)
}

/** Writes the secrets to a file, generates those that are missing, and returns the arguments that send the file. */
function secretsFile(given: Readonly<Record<string, string | undefined>>): string[] {
  if (isDryRun) return []
  const secrets = Object.entries(given).map(([name, value]) => [name, value ?? randomBytes(24).toString('hex')])
  writeAtomically(SECRETS, `${JSON.stringify(Object.fromEntries(secrets), null, 2)}\n`)
  console.error(`The gateway's secrets are in ${SECRETS} (mode 0600, not in git). Keep a copy elsewhere.`)
  return ['--secrets-file', SECRETS]
}

/** The secrets of an earlier attempt. A damaged file is a fault, because it may be the only copy. */
function readSecrets(): { readonly secrets: Readonly<Record<string, string>>; readonly fault: string | null } {
  if (!existsSync(SECRETS)) return { secrets: {}, fault: null }
  try {
    const secrets = z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(SECRETS, 'utf8')))
    return { secrets, fault: null }
  } catch {
    const fault = `${SECRETS} is damaged. Repair it, or move it away if no Worker uses these secrets.`
    return { secrets: {}, fault }
  }
}

function deploy(config: string, extraArgs: readonly string[] = []): void {
  const { message, tag } = options
  const passed = [...(isDryRun ? ['--dry-run'] : []), ...Object.entries({ message, tag }).flatMap(option)]
  const args = [WRANGLER, 'deploy', '-c', config, ...passed, ...extraArgs]
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env })
  if (status === 0) return
  console.error(`${config} was not deployed.`)
  process.exit(status ?? 1)
}

function option([name, value]: [string, string | undefined]): string[] {
  return value === undefined ? [] : [`--${name}=${value}`]
}
