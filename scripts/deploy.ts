// `npm run deploy` deploys all Workers in the order of workers.ts: a Worker follows those it binds. `--routes` deploys the
// gateway alone and `--jobs` the background Workers alone: both close no WebSocket. `--gradual` moves the objects of the live
// Worker to the new version in steps (gradual.ts). The checks of deploy-checks.ts run first, and a fault stops the deploy.
// `--dry-run` prints the plan (deploy-plan.ts), checks and builds.

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
import { parseJson } from '../src/core/json.ts'
import { Count } from '../src/core/variables.ts'
import { SCHEMA_QUERY, schemaFaults } from './d1-schema.ts'
import {
  type AccountFacts,
  deployFindings,
  type Finding,
  type GatewayConfig,
  hasSecrets,
  type Scope,
} from './deploy-checks.ts'
import { deployPlan, deploySteps, laterWorkers, type PlannedWorker } from './deploy-plan.ts'
import { addressOf, firstRequest, withoutWorkers } from './first-request.ts'
import { deployGradually, SHARES_MESSAGE, Shares } from './gradual.ts'
import { readConfigs } from './worker-agreement.ts'
import { deployedRoles, WORKERS, type WorkerRole } from './workers.ts'

const WRANGLER = 'node_modules/wrangler/bin/wrangler.js'
const { gateway: GATEWAY, live: LIVE, jobs: JOBS } = WORKERS
const FIRST = 'wrangler.first.toml'
const SECRETS = '.secrets.json'
const PROBE_MS = 30_000
/** wrangler itself takes seconds to start, and several start at once. */
const WRANGLER_MS = 120_000
/** The file to which wrangler writes its records of a deployment. */
const OUTPUT = '.wrangler.deployed.ndjson'
const env: NodeJS.ProcessEnv = { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' }

const DEPLOY = program('npm run deploy --', 'deploys all Workers; WebSockets close within 5 minutes', [
  '',
  '--routes --dry-run',
])
  .option('--routes', 'deploys only the gateway; no WebSocket closes')
  .option(
    '--jobs',
    'deploys only the background Workers: archive, pipelines and order-level books; no WebSocket closes',
  )
  .option('--gradual [shares]', 'moves the live objects to the new version in steps, by default 10,50,100 percent')
  .option('--pause <seconds>', 'pause after each step of --gradual, in which the feed must become live', '120')
  .option('--first', 'deploys all Workers for the first time, with secrets from the environment or new ones')
  .option('--dry-run', 'prints the plan, checks and builds, and deploys nothing')
  .option('--message <text>', 'the message of the deployment at Cloudflare')
  .option('--tag <text>', 'the tag of the deployment at Cloudflare')
const options = commandLine(DEPLOY).opts()
const { routes: isRoutes = false, jobs: isJobs = false, first: isFirst = false, gradual } = options
if ([isRoutes, isJobs, isFirst].filter(Boolean).length > 1)
  failUsage(DEPLOY, '--first deploys all Workers, --routes and --jobs a part of them. Use one of the three')
const scope: Scope = isFirst ? 'first' : isRoutes ? 'routes' : isJobs ? 'jobs' : 'all'
if (gradual !== undefined && scope !== 'all') failUsage(DEPLOY, '--gradual deploys all Workers. Use it alone')
const shares = Shares.safeParse(typeof gradual === 'string' ? gradual : '10,50,100')
const pauseMs = Count(3_600)
  .transform((seconds) => seconds * 1000)
  .safeParse(options.pause)
if (!shares.success) failUsage(DEPLOY, `--gradual ${SHARES_MESSAGE}`)
if (!pauseMs.success) failUsage(DEPLOY, `--pause ${pauseMs.error.issues[0]?.message}`)
const isDryRun = options.dryRun === true

/** The output of `wrangler d1 execute --json`. */
const QueryRows = z.array(
  z.looseObject({
    results: z.array(z.looseObject({ name: z.string() })),
    meta: z.looseObject({ served_by_region: z.string().optional() }).optional(),
  }),
)
const Deployment = z.looseObject({ versions: z.array(z.looseObject({ version_id: z.string() })) })
const Version = z.looseObject({ metadata: z.looseObject({ created_on: z.string() }) })
const VersionUpload = z.looseObject({ type: z.literal('version-upload'), version_id: z.string() })
const FeedState = z.looseObject({ state: z.string() })
const Schema = z.array(z.object({ type: z.string(), name: z.string(), sql: z.string().nullable() }))

await main()

async function main(): Promise<void> {
  const workers = configs()
  const { gateway }: { gateway: GatewayConfig } = workers
  const roles = deployedRoles(gateway, workers.jobs)
  if (isJobs && !roles.includes('jobs'))
    failUsage(DEPLOY, `--jobs would deploy nothing, because ${GATEWAY} has no bindings to the jobs Worker`)
  if (gradual !== undefined && !gateway.vars.PUBLIC_URL)
    failUsage(DEPLOY, '--gradual reads /status of PUBLIC_URL. Set that variable')
  const required = gateway.secrets?.required ?? []
  const kept = scope === 'first' ? readSecrets() : { secrets: {}, fault: null }
  const given = Object.fromEntries(required.map((name) => [name, process.env[name] ?? kept.secrets[name]]))
  const account = await readAccount(gateway, workers.live.vars.ALERT_URL !== '')
  const facts = { gateway, workers, scope, isDryRun, given, secretsFault: kept.fault, account }
  if (isDryRun) {
    const files = Object.fromEntries(gateway.d1_databases.map((one) => [one.binding, migrationsOf(one).names]))
    console.error(deployPlan({ ...facts, workers, files }).join('\n'))
  }
  const findings = deployFindings(facts)
  const errors = findings.filter(({ level }) => level === 'error')
  printFindings(findings)
  if (errors.length > 0 && !isDryRun) exitWithCount(errors, 'nothing was deployed')
  if (scope === 'all' && gradual === undefined)
    console.error(
      'Deploying all Workers. WebSockets close within 5 minutes. "npm run deploy -- --routes" and "-- --jobs" close none.',
    )
  await buildPages(process.cwd())
  if (scope === 'first') removeAtExit()
  const withSecrets = scope === 'first' && !hasSecrets(account?.secrets ?? null) ? secretsFile(given) : []
  for (const step of deploySteps(scope, roles, account)) {
    if (step.role === 'live' && gradual !== undefined && !isDryRun) await deployLiveGradually(gateway)
    else
      deploy(
        step.isPartial ? partialFile(step.role, workers) : WORKERS[step.role],
        step.role === 'gateway' ? withSecrets : [],
      )
  }
  if (scope === 'first' && !isDryRun) console.error(await probeGateway(gateway))
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
  return firstRequest(address, Number(vars.BOOK_HUBS), readStatus, sleep)
}

/** The body of the page, or the error. */
async function readStatus(url: string): Promise<string> {
  try {
    return await (await fetch(url, { signal: AbortSignal.timeout(PROBE_MS) })).text()
  } catch (error) {
    return String(error)
  }
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
async function readAccount(
  { d1_databases: databases, r2_buckets: buckets = [] }: GatewayConfig,
  hasAlerts: boolean,
): Promise<AccountFacts | null> {
  const [login, secrets, liveSecrets, jobsSecrets, tables, places] = await Promise.all([
    runWrangler('whoami', '--json'),
    readSecretNames(GATEWAY),
    hasAlerts ? readSecretNames(LIVE) : [],
    readSecretNames(JOBS),
    Promise.all(databases.filter(({ database_id: id }) => id !== undefined).map(readDatabase)),
    Promise.all(buckets.map(({ bucket_name: name = '' }) => readBucketPlace(name))),
  ])
  // A command that timed out can exit 0 without output.
  if (!login.ok || !/"loggedIn":\s*true/.test(login.output)) return null
  return {
    secrets,
    liveSecrets,
    jobsSecrets,
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
    const options = { env: { ...env, WRANGLER_LOG: 'log' }, timeout: WRANGLER_MS, maxBuffer: 16 * 1024 * 1024 }
    const { stdout } = await promisify(execFile)(process.execPath, [WRANGLER, ...args], options)
    return { ok: true, output: stdout }
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    return { ok: false, output: `${stdout}${stderr}` }
  }
}

/** Writes a wrangler file without the bindings to Workers that do not exist yet. */
function partialFile(role: WorkerRole, workers: Readonly<Record<WorkerRole, PlannedWorker>>): string {
  const missing = laterWorkers(role).map((later) => workers[later].name)
  writeFileSync(FIRST, withoutWorkers(readFileSync(WORKERS[role], 'utf8'), missing))
  return FIRST
}

function removeAtExit(): void {
  writeFileSync(OUTPUT, '')
  env.WRANGLER_OUTPUT_FILE_PATH = OUTPUT
  process.on('exit', () => {
    for (const file of [FIRST, OUTPUT]) rmSync(file, { force: true })
  })
}

async function deployLiveGradually({ vars: { PUBLIC_URL: url } }: GatewayConfig): Promise<void> {
  removeAtExit()
  const fault = await deployGradually(
    { shares: shares.data ?? [], pauseMs: pauseMs.data ?? 0 },
    {
      deployed: async () => {
        const { versions } = Deployment.parse(await wranglerJson('deployments', 'status'))
        return Promise.all(
          versions.map(async ({ version_id: id }) => {
            const { metadata } = Version.parse(await wranglerJson('versions', 'view', id))
            return { id, createdMs: Date.parse(metadata.created_on) }
          }),
        )
      },
      upload: async () => {
        wrangler('versions', 'upload', '-c', LIVE, ...annotations())
        const uploads = readFileSync(OUTPUT, 'utf8')
          .split('\n')
          .map((line) => VersionUpload.safeParse(parseJson(line)))
        return uploads.findLast(({ success }) => success)!.data!.version_id
      },
      setShares: async (versions) => {
        const specs = [...versions].map(([id, share]) => `${id}@${share}%`)
        wrangler('versions', 'deploy', ...specs, '-y', '-c', LIVE, '--durable-objects-code-update-mode', 'immediate')
      },
      state: async () => {
        const seen = FeedState.safeParse(parseJson(await readStatus(`${url}/status`)))
        return seen.data?.state ?? 'no answer'
      },
      sleep,
      log: (line) => console.error(line),
    },
  )
  if (fault === null) return
  console.error(`${LIVE} was not deployed: ${fault}.`)
  process.exit(1)
}

async function wranglerJson(...args: string[]): Promise<unknown> {
  const { output } = await runWrangler(...args, '--json', '-c', LIVE)
  return parseJson(output.slice(output.indexOf('{')))
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
  wrangler('deploy', '-c', config, ...(isDryRun ? ['--dry-run'] : []), ...annotations(), ...extraArgs)
}

/** Runs wrangler with its output. Ends the process if it fails. */
function wrangler(...args: string[]): void {
  const { status } = spawnSync(process.execPath, [WRANGLER, ...args], { stdio: 'inherit', env })
  if (status === 0) return
  console.error(`wrangler ${args.slice(0, 4).join(' ')} failed. Fix the cause and run the same command again.`)
  process.exit(status ?? 1)
}

function annotations(): string[] {
  const { message, tag } = options
  return Object.entries({ message, tag }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`],
  )
}
