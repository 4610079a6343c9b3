// `npm run deploy`: all Workers, one that others bind before them (workers.ts); `--routes` the gateway alone, which drops
// no socket. Looks before it starts (deploy-checks.ts) and stops where anything is wrong; a dry run tells what it would
// do (deploy-plan.ts), and goes on to build.
// Gateway and live name each other, which Cloudflare refuses while neither exists: `--first` deploys live without its binding to
// the gateway, then the gateway with its secrets, which wrangler wants with the first deploy, then live again, whole.

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
/** What wrangler tells programs of a deployment. */
const OUTPUT = '.wrangler.deployed.ndjson'
const env: NodeJS.ProcessEnv = { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' }

const DEPLOY = program('npm run deploy --', 'all Workers: live sockets drop within five minutes', [
  '',
  '--routes --dry-run',
])
  .option('--routes', 'the gateway alone: no socket drops')
  .option('--first', 'all, where none exists yet, with secrets of the environment or new ones')
  .option('--dry-run', 'says what it would do, checks and builds, and changes nothing')
  .option('--message <text>', 'what Cloudflare notes of the deployment')
  .option('--tag <text>', 'the same, as a tag')
const options = commandLine(DEPLOY).opts()
if (options.routes && options.first) failUsage(DEPLOY, '--first deploys all Workers: leave out --routes')
const scope: Scope = options.first ? 'first' : options.routes ? 'routes' : 'both'
const isDryRun = options.dryRun === true

/** Rows of a database, as `d1 execute --json` prints them. */
const QueryRows = z.array(z.looseObject({ results: z.array(z.looseObject({ name: z.string() })) }))
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
    console.error('All Workers: live sockets drop within five minutes. "npm run deploy -- --routes" drops none.')
  await buildPages(process.cwd())
  if (scope === 'first') deployFirst(gateway.name, hasSecrets(account?.secrets ?? null) ? [] : secretsFile(given))
  for (const role of ROLES) if (role !== 'gateway' && scope === 'both') deploy(WORKERS[role])
  if (scope !== 'first') deploy(GATEWAY)
  else if (!isDryRun) console.error(await probeGateway(gateway))
  if (errors.length === 0) return
  // They stand above all that wrangler said.
  printFindings(errors)
  exitWithCount(errors, 'a deploy stops before it begins')
}

/** Log and hubs are made where they are first asked for, and stay there: so they are asked for at once. */
async function probeGateway({ name = '', vars }: GatewayConfig): Promise<string> {
  const address = addressOf(readFileSync(OUTPUT, 'utf8'), name)
  if (address === null)
    return 'The address of the gateway is not known: open its /status once, which makes log and hubs.'
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
  console.error(`${length === 1 ? 'One thing is' : `${length} things are`} wrong: ${consequence}.`)
  process.exit(1)
}

/** What the account says of the gateway; null where nobody is logged in. Only reads. */
async function readAccount({ d1_databases: databases }: GatewayConfig): Promise<AccountFacts | null> {
  const [login, secrets, tables] = await Promise.all([
    runWrangler('whoami', '--json'),
    runWrangler('secret', 'list', '-c', GATEWAY),
    Promise.all(databases.filter(({ database_id: id }) => id !== undefined).map(readDatabase)),
  ])
  // One that was cut off by its time may end well, and has said nothing.
  if (!login.ok || !/"loggedIn":\s*true/.test(login.said)) return null
  return {
    secrets: secrets.ok
      ? secretNames(secrets.said)
      : /not found|does not exist/i.test(secrets.said)
        ? 'no worker'
        : null,
    migrations: tables.includes(null) ? null : tables.flatMap((one) => one?.lacking ?? []),
    schemaFaults: tables.flatMap((one) => one?.faults ?? []),
  }
}

type Database = GatewayConfig['d1_databases'][number]

/** The files that make a database, in their order. */
function migrationsOf({ migrations_dir: folder = '' }: Database) {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.sql')) : []
  return { names: names.sort(), texts: () => names.map((name) => readFileSync(join(folder, name), 'utf8')) }
}

/** What it lacks, each behind the name of its binding; null where that could not be read. */
async function readDatabase(database: Database) {
  const { binding } = database
  const { names, texts } = migrationsOf(database)
  const command = `${SCHEMA_QUERY}; SELECT name FROM d1_migrations`
  const said = await runWrangler('d1', 'execute', binding, '--remote', '--json', '-c', GATEWAY, '--command', command)
  const behind = (list: readonly string[]) => list.map((one) => `${binding}/${one}`)
  if (!said.ok) return /no such table: d1_migrations/.test(said.said) ? { lacking: behind(names), faults: [] } : null
  try {
    const [schema, applied] = QueryRows.parse(JSON.parse(said.said.slice(said.said.indexOf('['))))
    const lacking = names.filter((name) => !applied!.results.some((row) => row.name === name))
    const faults = lacking.length > 0 ? [] : schemaFaults(texts(), Schema.parse(schema!.results))
    return { lacking: behind(lacking), faults: behind(faults) }
  } catch {
    return null
  }
}

function secretNames(said: string): readonly string[] | null {
  try {
    const list = z.array(z.object({ name: z.string() })).parse(JSON.parse(said.slice(said.indexOf('['))))
    return list.map(({ name }) => name)
  } catch {
    return null
  }
}

/** What wrangler answers to a question, without a terminal to ask back on. */
async function runWrangler(...args: string[]): Promise<{ readonly ok: boolean; readonly said: string }> {
  try {
    // With a quieter log it would print no answer.
    const options = { env: { ...env, WRANGLER_LOG: 'log' }, timeout: PROBE_MS, maxBuffer: 16 * 1024 * 1024 }
    const { stdout } = await promisify(execFile)(process.execPath, [WRANGLER, ...args], options)
    return { ok: true, said: stdout }
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    return { ok: false, said: `${stdout}${stderr}` }
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

/** Arguments that send the secrets of a file: those given, and new ones for the others. */
function secretsFile(given: Readonly<Record<string, string | undefined>>): string[] {
  if (isDryRun) return []
  const secrets = Object.entries(given).map(([name, value]) => [name, value ?? randomBytes(24).toString('hex')])
  writeAtomically(SECRETS, `${JSON.stringify(Object.fromEntries(secrets), null, 2)}\n`)
  console.error(`The gateway's secrets stand in ${SECRETS} (mode 0600, not in git): keep a copy elsewhere.`)
  return ['--secrets-file', SECRETS]
}

/** Those of an earlier try; a file that is damaged may hold the one copy, and nothing is done then. */
function readSecrets(): { readonly secrets: Readonly<Record<string, string>>; readonly fault: string | null } {
  if (!existsSync(SECRETS)) return { secrets: {}, fault: null }
  try {
    const secrets = z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(SECRETS, 'utf8')))
    return { secrets, fault: null }
  } catch {
    const fault = `${SECRETS} is damaged. Repair it, or move it away if nothing runs with these secrets.`
    return { secrets: {}, fault }
  }
}

function deploy(config: string, more: readonly string[] = []): void {
  const { message, tag } = options
  const passed = [...(isDryRun ? ['--dry-run'] : []), ...Object.entries({ message, tag }).flatMap(option)]
  const args = [WRANGLER, 'deploy', '-c', config, ...passed, ...more]
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env })
  if (status === 0) return
  console.error(`${config} was not deployed.`)
  process.exit(status ?? 1)
}

function option([name, value]: [string, string | undefined]): string[] {
  return value === undefined ? [] : [`--${name}=${value}`]
}
