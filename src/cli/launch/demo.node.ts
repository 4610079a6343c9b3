// `weir demo`, which `npm start` runs: builds all Workers and runs devnet, gateway and feeder on one state folder until Ctrl-C. With `--json` standard
// output is exactly one line, printed when ready; everything else goes to standard error.

import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import { type AnyCommand, failUsage, valueParser, withHint } from '../../core/command-line.node.ts'
import { wholeNumber } from '../../core/whole-number.ts'
import { COMMAND_PREFIX } from '../commands.ts'
import { DEFAULT_STATE } from '../running-file.node.ts'
import { weirProgram } from '../shell.node.ts'
import { DEFAULT_KEEP_MB, type LaunchArgs, type LaunchOptions, launchOptions, ScaleName } from './args.ts'
import { DAILY_CREDITS, waitUntilReady } from './demo-account.node.ts'
import { Launch } from './launch.node.ts'
import { announce, freshStart, LaunchError, PROBLEMS } from './messages.ts'
import { freePort, killLeftovers, portError, processInfo, starterPid } from './processes.node.ts'
import { checkDatabases, type Ports, type Secrets, StateFolder } from './state-folder.node.ts'

const NPM_POLL_MS = 500
/** A start takes a few seconds; the first start takes slightly longer. */
const LATE_MS = 30_000

/** Updates the built Workers and returns whether anything was built. Installed packages contain them. */
export type Build = () => Promise<boolean>

export function demoProgram(build: Build): AnyCommand {
  const command = addOptions(weirProgram('demo', ['', '--reset --seed 7']))
  command.addHelpText('after', `\nEnvironment variables: ${VARIABLES.join(', ')}`)
  withHint(command, /--port|too many arguments/, `set the port as a variable: PORT=8788 ${COMMAND_PREFIX} demo`)
  return command.action((args) => demo(args, build, command))
}

const VARIABLES = ['PORT (8787)', 'RPC_CHAINS', 'PIPELINE_PRIVATE', 'TRUST_PROXY', 'X402']

const addOptions = (command: Command) =>
  command
    .option('--state <dir>', 'state folder', DEFAULT_STATE)
    .option('--reset', 'delete all state and start fresh')
    .option('--open', 'open the live page in a browser')
    .option('--json', 'print one line of JSON when ready')
    .option('--seed <n>', 'random seed of the simulated exchange', valueParser(wholeNumber(0, 999_999_999)))
    .option('--block-ms <n>', 'milliseconds between blocks', valueParser(wholeNumber(1, 60_000)))
    .option('--scale <name>', 'size of the exchange: small or mainnet', valueParser(ScaleName))
    .option(
      '--keep <mb>',
      `archive size in MB; older data is removed (default: ${DEFAULT_KEEP_MB})`,
      valueParser(wholeNumber(1, 1_000_000)),
    )

const log = (line: string) => process.stderr.write(`${line}\n`)

function exitWith(sentence: string): never {
  log(sentence)
  process.exit(1)
}

async function demo(args: LaunchArgs, build: Build, command: AnyCommand): Promise<void> {
  process.umask(0o077)
  const parsed = launchOptions(args, process.env)
  if (!parsed.ok) failUsage(command, parsed.error)
  const options = parsed.value
  const { stateOption } = options
  const folder = new StateFolder(resolve(options.state), freshStart(`${COMMAND_PREFIX} demo${stateOption} --reset`))
  await claim(folder, options).catch((error) => exitWith(errorText(error, folder)))
  const { ports, secrets } = await readFolder(folder, options).catch((error) => {
    folder.removeLock()
    return exitWith(errorText(error, folder))
  })
  const launch = new Launch({ folder, options, ports, secrets, log })
  const stopping = stopOnSignals(launch)

  launch.start('devnet')
  try {
    if (await build()) log('Built all Workers.')
  } catch (error) {
    // An interrupted build is not a failure.
    if (stopping.aborted) return
    await launch.stop()
    exitWith(error instanceof Error ? error.message : String(error))
  }
  if (stopping.aborted) return
  launch.start('gateway', 'feeder')
  const waiting = (what: string) => log(`Waiting for ${what} …`)
  const late = setTimeout(() => log(PROBLEMS.notReady(folder.pathOf('log'), stateOption)), LATE_MS)
  const { ADMIN_TOKEN: adminToken, key, serviceKey } = secrets
  const kept = key === null || serviceKey === null ? null : { key, serviceKey }
  const ready = await waitUntilReady(launch.url, adminToken, kept, waiting, stopping).catch(() => null)
  clearTimeout(late)
  if (!ready) return
  try {
    folder.writeSecrets({ ...secrets, ...ready })
  } catch (error) {
    // The next start creates a new demo key.
    log(errorText(error, folder))
  }
  const line = launch.markReady(ready)
  process.stdout.write(
    options.json
      ? `${line}\n`
      : announce({ url: launch.url, ...ready, adminToken, stateOption, dailyCredits: DAILY_CREDITS }),
  )
  if (options.open) openInBrowser(`${launch.url}/live`)
}

/** Claims the folder for the lifetime of this process; with `--reset` also clears it. */
async function claim(folder: StateFolder, options: LaunchOptions): Promise<void> {
  folder.prepare()
  folder.acquire()
  await killLeftovers(folder.path, folder.readLock()?.children ?? {})
  if (options.reset) {
    folder.clear()
    folder.prepare()
  }
  folder.writeLock({ launcher: process.pid, children: {} })
}

/** Reads secrets and ports, and checks the folder before anything runs on it. */
async function readFolder(folder: StateFolder, options: LaunchOptions): Promise<{ ports: Ports; secrets: Secrets }> {
  if (folder.isDiskFull()) throw new LaunchError(PROBLEMS.diskFull(folder.path))
  const secrets = folder.ensureSecrets()
  checkDatabases(folder.pathOf('gateway'), folder.remedy, secrets.key !== null)
  const kept = folder.readPorts()
  const gateway = options.port === 0 ? await freePort(kept?.gateway) : options.port
  const taken = await portError(gateway)
  if (taken !== null) throw new LaunchError(PROBLEMS.portTaken(gateway, taken))
  const ports = { gateway, devnet: await freePort(kept?.devnet, gateway) }
  folder.writePorts(ports)
  return { ports, secrets }
}

function errorText(error: unknown, folder: StateFolder): string {
  if (error instanceof LaunchError) return error.message
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC') return PROBLEMS.diskFull(folder.path)
  if (code === undefined) throw error
  return `The state folder ${folder.path} cannot be read and written (${code}). Choose a different folder with --state DIR.`
}

/** Stops everything on a signal, and when the npm process of this launcher is gone. A second signal exits immediately. */
function stopOnSignals(launch: Launch): AbortSignal {
  const stopping = new AbortController()
  const stop = async () => {
    if (stopping.signal.aborted) process.exit(1)
    stopping.abort()
    await launch.stop()
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop())
  const npm = starterPid()
  if (process.env.npm_lifecycle_event)
    setInterval(() => void (!stopping.signal.aborted && processInfo(npm) === null && stop()), NPM_POLL_MS)
  return stopping.signal
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** If there is no browser, nothing happens, because the URL was already printed. */
function openInBrowser(url: string): void {
  const [command = '', ...args] = OPENERS[process.platform] ?? ['xdg-open']
  spawn(command, [...args, url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref()
}
