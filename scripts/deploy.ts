// `npm run deploy`: all Workers, that of SQL first and then live, because each is bound to those before it; `--routes` the
// gateway alone, which drops no socket. Looks before it starts (deploy-checks.ts) and stops where anything is wrong.
// Gateway and live name each other, which Cloudflare refuses while neither exists: `--first` deploys live without its binding to
// the gateway, then the gateway with its secrets, which wrangler wants with the first deploy, then live again, whole.

import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import * as z from 'zod'
import { commandLine, program, refuseLine } from '../src/core/command-line.node.ts'
import { buildPages } from '../src/launch/build.node.ts'
import { writeWhole } from '../src/launch/state-folder.node.ts'
import {
  type AccountFacts,
  deployFindings,
  type Finding,
  type GatewayConfig,
  hasSecrets,
  type Scope,
} from './deploy-checks.ts'
import { addressOf, firstLook } from './first-look.ts'
import { readConfigs, type WorkerConfig } from './worker-agreement.ts'

const WRANGLER = 'node_modules/wrangler/bin/wrangler.js'
const [GATEWAY, LIVE, FIRST, SECRETS] = ['wrangler.toml', 'wrangler.live.toml', 'wrangler.first.toml', '.secrets.json']
const SQL = 'wrangler.sql.toml'
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
  .option('--dry-run', 'checks and builds, and deploys nothing')
  .option('--message <text>', 'what Cloudflare notes of the deployment')
  .option('--tag <text>', 'the same, as a tag')
const values = commandLine(DEPLOY).opts()
if (values.routes && values.first) refuseLine(DEPLOY, '--first deploys all Workers: leave out --routes')
const scope: Scope = values.first ? 'first' : values.routes ? 'routes' : 'both'
const isDryRun = values.dryRun === true

await main()

async function main(): Promise<void> {
  const { gateway, live, sql } = configs()
  const required = gateway.secrets?.required ?? []
  const kept = scope === 'first' ? readSecrets() : {}
  const given = Object.fromEntries(required.map((name) => [name, process.env[name] ?? kept[name]]))
  const databases = gateway.d1_databases.filter(({ database_id: id }) => id !== undefined)
  const account = await readAccount(databases.map(({ binding }) => binding))
  tell(deployFindings({ gateway, live, sql, scope, isDryRun, given, account }))
  if (scope === 'both')
    console.error('All Workers: live sockets drop within five minutes. "npm run deploy -- --routes" drops none.')
  await buildPages(process.cwd())
  if (scope !== 'routes') deploy(SQL)
  if (scope === 'first') deployFirst(hasSecrets(account?.secrets ?? null) ? [] : secretsFile(given))
  if (scope !== 'routes') deploy(LIVE)
  if (scope !== 'first') deploy(GATEWAY)
  else if (!isDryRun) console.error(await look(gateway))
}

/** Log and hubs are made where they are first asked for, and stay there: so they are asked for at once. */
async function look({ name = '', vars }: GatewayConfig): Promise<string> {
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
  return firstLook(address, Number(vars.BOOK_HUBS), status, sleep)
}

function configs(): { readonly gateway: GatewayConfig; readonly live: WorkerConfig; readonly sql: WorkerConfig } {
  try {
    return readConfigs()
  } catch (error) {
    console.error(`error    ${error instanceof Error ? error.message : String(error)}`)
    process.exit(1)
  }
}

/** Prints what was found; an error ends it here. */
function tell(findings: readonly Finding[]): void {
  for (const { level, text } of findings) console.error(`${level.padEnd(8)} ${text}`)
  const errors = findings.filter(({ level }) => level === 'error').length
  if (errors === 0) return
  console.error(`${errors === 1 ? 'One thing is' : `${errors} things are`} wrong: nothing was deployed.`)
  process.exit(1)
}

/** What the account says of the gateway; null where nobody is logged in. */
async function readAccount(databases: readonly string[]): Promise<AccountFacts | null> {
  const [login, secrets, migrations] = await Promise.all([
    wranglerSays('whoami', '--json'),
    wranglerSays('secret', 'list', '-c', GATEWAY),
    Promise.all(databases.map(lackingMigrations)),
  ])
  if (!login.ok) return null
  return {
    secrets: secrets.ok ? secretNames(secrets.said) : /not found/i.test(secrets.said) ? 'no worker' : null,
    migrations: migrations.includes(null) ? null : migrations.flatMap((names) => names ?? []),
  }
}

/** Each behind the name of its database; null where that could not be read. */
async function lackingMigrations(database: string): Promise<readonly string[] | null> {
  const { ok, said } = await wranglerSays('d1', 'migrations', 'list', database, '--remote', '-c', GATEWAY)
  return ok ? [...new Set(said.match(/\b\d{4}_\w+\.sql\b/g))].map((name) => `${database}/${name}`) : null
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
async function wranglerSays(...args: string[]): Promise<{ readonly ok: boolean; readonly said: string }> {
  try {
    const options = { env, timeout: PROBE_MS, maxBuffer: 16 * 1024 * 1024 }
    const { stdout } = await promisify(execFile)(process.execPath, [WRANGLER, ...args], options)
    return { ok: true, said: stdout }
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    return { ok: false, said: `${stdout}${stderr}` }
  }
}

function deployFirst(withSecrets: readonly string[]): void {
  writeFileSync(OUTPUT, '')
  env.WRANGLER_OUTPUT_FILE_PATH = OUTPUT
  writeFileSync(FIRST, readFileSync(LIVE, 'utf8').replace(/\[\[services\]\]\nbinding = "GATEWAY"[^[]*/, ''))
  process.on('exit', () => {
    for (const file of [FIRST, OUTPUT]) rmSync(file, { force: true })
  })
  deploy(FIRST)
  deploy(GATEWAY, withSecrets)
}

/** Arguments that send the secrets of a file: those given, and new ones for the others. */
function secretsFile(given: Readonly<Record<string, string | undefined>>): string[] {
  if (isDryRun) return []
  const secrets = Object.entries(given).map(([name, value]) => [name, value ?? randomBytes(24).toString('hex')])
  writeWhole(SECRETS, `${JSON.stringify(Object.fromEntries(secrets), null, 2)}\n`)
  console.error(`The gateway's secrets stand in ${SECRETS} (mode 0600, not in git): keep a copy elsewhere.`)
  return ['--secrets-file', SECRETS]
}

/** Those of an earlier try; a file that is damaged may hold the one copy, and ends it here. */
function readSecrets(): Readonly<Record<string, string>> {
  if (!existsSync(SECRETS)) return {}
  try {
    return z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(SECRETS, 'utf8')))
  } catch {
    console.error(`error    ${SECRETS} is damaged: mend it, or move it away where nothing runs with these secrets.`)
    process.exit(1)
  }
}

function deploy(config: string, more: readonly string[] = []): void {
  const { message, tag } = values
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
