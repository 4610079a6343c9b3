// `weir serve`: a gateway in production on this machine. Invariants: it never creates accounts, keys or tokens with known
// values; one process uses a folder at a time; secrets and databases of a used folder are never replaced.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from '@commander-js/extra-typings'
import * as z from 'zod'
import { type AnyCommand, failUsage, valueParser } from '../../core/command-line.node.ts'
import { secretFault } from '../../core/secret.ts'
import { wholeNumber } from '../../core/whole-number.ts'
import type { Build } from '../launch/demo.node.ts'
import { declaredVariables, migrate, startGatewayProcess } from '../launch/gateway-process.node.ts'
import { LaunchError } from '../launch/messages.ts'
import type { WriteLine } from '../launch/miniflare-options.node.ts'
import { childrenOf, killOrphans, portError } from '../launch/processes.node.ts'
import { DEFAULT_STATE, runningFilePath } from '../running-file.node.ts'
import { readSettings } from '../settings/settings-file.node.ts'
import { unknownVariables, variablesFor, type WeirSettings } from '../settings/weir-settings.ts'
import { type Shell, weirProgram } from '../shell.node.ts'
import { UrlValue } from '../values.ts'
import { ROOT } from '../version.node.ts'
import { syncArchiveWrites } from './archive-sync.node.ts'
import { rotatingLog } from './rotating-log.node.ts'
import { ServeFolder } from './serve-folder.node.ts'
import { OPTIONAL_SECRETS, servedVariables, variableFaults } from './variables.ts'

const DEFAULT_PORT = 8787
const LOG_BYTES = 16 * 1024 * 1024
/** Interval of checks of workerd's process and the disk. */
const CHECK_MS = 2_000
/** Interval at which the folder records that it is in use. */
const MARK_MS = 30_000
const READY_MS = 60_000
const SOURCE_SECRET = /^SOURCE_(?!BUDGET$)[A-Z0-9_]{1,56}$/
const TOKENS = ['ADMIN_TOKEN', 'FEED_TOKEN', 'METRICS_TOKEN', 'KEY_SECRET'] as const
/** A terminal and npm both send the signal of one Ctrl-C. */
const SAME_SIGNAL_MS = 500

export function serveProgram(shell: Shell, build: Build): AnyCommand {
  const command = addOptions(weirProgram('serve', ['--node http://10.0.0.5:3001', '--state /var/lib/weir --port 80']))
  command.addHelpText(
    'after',
    '\nEach variable and secret of docs/operators/reference/settings.md can be set in the environment.',
  )
  return command.action((options) => serve(options, shell, build, command))
}

const addOptions = (command: Command) =>
  command
    .option('--state <dir>', 'state folder', DEFAULT_STATE)
    .option(
      '--host <address>',
      'address to listen at; 0.0.0.0 for all',
      valueParser(z.ipv4('must be an IPv4 address')),
      '127.0.0.1',
    )
    .option('--port <n>', 'port; 0 picks a free one', valueParser(wholeNumber(0, 65_535)), DEFAULT_PORT)
    .option(
      '--node <url>',
      'HTTP URL of an exchange node, for data that the gateway does not hold; repeat it for more',
      (url: string, more: string[] = []) => [...more, valueParser(UrlValue)(url)],
    )
    .option('--log <file>', 'write the log to this file and rotate it, instead of standard error')
    .option('--accept-clock', 'start although the clock is earlier than the last use of the folder')
    .option('--json', 'print one line of JSON when ready')
type Options = ReturnType<ReturnType<typeof addOptions>['opts']>

async function serve(options: Options, shell: Shell, build: Build, command: AnyCommand): Promise<void> {
  process.umask(0o077)
  // A full disk, or a reader of the log that ended, must not stop the gateway.
  process.stderr.on('error', () => {})
  const wrong = tokenFault(shell.env)
  if (wrong !== null) failUsage(command, wrong)
  const settings = readSettings(process.cwd())
  if (!settings.ok) failUsage(command, settings.error)
  const folder = new ServeFolder(resolve(options.state))
  try {
    await build()
    const log = options.log === undefined ? shell.note : openLog(resolve(options.log))
    await claim(folder, options, shell)
    await run(folder, { ...options, settings: settings.value }, shell, log)
  } catch (error) {
    folder.release()
    shell.note(errorText(error, folder.path))
    process.exit(1)
  }
}

function openLog(path: string): WriteLine {
  try {
    return rotatingLog(path, LOG_BYTES)
  } catch (error) {
    throw new LaunchError(`The log of --log cannot be written: ${(error as Error).message}.`)
  }
}

/** Locks and checks the folder and the port, before anything runs. */
async function claim(folder: ServeFolder, options: Options, shell: Shell): Promise<void> {
  folder.prepare()
  folder.acquire()
  await killOrphans(folder.readLock()?.children ?? {})
  folder.check(shell.now(), options.acceptClock === true)
  const taken = options.port === 0 ? null : await portError(options.port, options.host)
  if (taken !== null) throw new LaunchError(portText(options.port, taken))
  folder.writeLock({ launcher: process.pid, children: {} })
}

async function run(
  folder: ServeFolder,
  options: Options & { readonly settings: WeirSettings },
  shell: Shell,
  log: WriteLine,
): Promise<void> {
  const { ADMIN_TOKEN, FEED_TOKEN, KEY_SECRET, METRICS_TOKEN } = folder.useSecrets(shell.env)
  // wrangler reads required secrets from the environment.
  Object.assign(process.env, { ADMIN_TOKEN, FEED_TOKEN, KEY_SECRET })
  const { vars, objectVars } = checkedVariables(options, shell.env)
  const secrets = { ...optionalSecrets(shell.env), METRICS_TOKEN }
  const state = folder.pathOf('gateway')
  await migrate({ root: ROOT, state })
  folder.writeMark(shell.now())
  syncArchiveWrites(join(state, 'v3/r2'), log)
  const gateway = await startGatewayProcess({
    root: ROOT,
    state,
    host: options.host,
    port: options.port,
    secrets: { ADMIN_TOKEN, FEED_TOKEN, KEY_SECRET },
    vars: { ...vars, ...secrets },
    objectVars: { ...objectVars, ...secrets },
    log,
  })
  const stop = stopOnSignals(folder, gateway.dispose)
  watchProcess(folder, shell, log, stop)
  await untilReady(gateway.url)
  const tokens = { admin_token: ADMIN_TOKEN, feed_token: FEED_TOKEN, metrics_token: METRICS_TOKEN }
  const running = { url: gateway.url, ...tokens, pids: folder.readLock()?.children ?? {} }
  folder.writeFile('running.json', JSON.stringify({ ...running, pids: { serve: process.pid, ...running.pids } }))
  notifySystemd('--ready')
  const { url } = gateway
  if (options.json) shell.print(JSON.stringify({ url, pid: process.pid, state: folder.path }))
  else shell.note(readyText(url, options))
}

/** The variables of the Workers. Throws a LaunchError for those with which they would not start. */
function checkedVariables({ settings, node = [] }: Options & { readonly settings: WeirSettings }, env: Shell['env']) {
  const { gateway, objects } = declaredVariables(ROOT)
  const set = Object.fromEntries(Object.keys(settings.vars).map((name) => [name, '']))
  const sources = { settings: variablesFor(settings, set), env }
  const vars = servedVariables(Object.keys(gateway), sources, node)
  const objectVars = servedVariables(Object.keys(objects), sources, node)
  const unknown = unknownVariables(settings, [gateway, objects])
  const faults = [...unknown, ...variableFaults({ ...gateway, ...vars }, { ...objects, ...objectVars })]
  if (faults.length > 0) throw new LaunchError(faults.join('\n'))
  return { vars, objectVars }
}

/** Rejects a token in the environment that no request could carry, and the next start could not read. */
function tokenFault(env: Shell['env']): string | null {
  const faults = TOKENS.map((name) => [name, env[name] ? secretFault(env[name]) : null] as const)
  const [name, fault] = faults.find(([, fault]) => fault !== null) ?? []
  return name === undefined ? null : `${name} in the environment ${fault}`
}

function optionalSecrets(env: Shell['env']): Record<string, string> {
  const names = [...OPTIONAL_SECRETS, ...Object.keys(env).filter((name) => SOURCE_SECRET.test(name))]
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])))
}

async function untilReady(url: string): Promise<void> {
  for (const deadline = Date.now() + READY_MS; ; await sleep(50)) {
    const isUp = await fetch(`${url}/status`, { signal: AbortSignal.timeout(5_000) }).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isUp) return
    if (Date.now() > deadline)
      throw new LaunchError(`The gateway did not respond at ${url} within ${READY_MS / 1000} s. See its log above.`)
  }
}

/** Records workerd's pid for the next start, and ends if the folder is lost. */
function watchProcess(folder: ServeFolder, shell: Shell, log: WriteLine, stop: (code: number) => void): void {
  let isFull = false
  let markedMs = 0
  const check = () => {
    const launcher = folder.readLock()?.launcher
    if (launcher === undefined ? !existsSync(runningFilePath(folder.path)) : launcher !== process.pid) {
      log(`The state folder ${folder.path} was removed or is used by another process. Stopping.`)
      return stop(1)
    }
    try {
      const workerd = childrenOf(process.pid, 'workerd serve').map((pid, at) => [`workerd${at || ''}`, pid])
      const lock = { launcher: process.pid, children: Object.fromEntries(workerd) }
      if (JSON.stringify(lock) !== JSON.stringify(folder.readLock())) folder.writeLock(lock)
      if (shell.now() - markedMs >= MARK_MS) {
        folder.writeMark(shell.now())
        markedMs = shell.now()
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error
    }
    const isNowFull = folder.isDiskFull()
    if (isNowFull && !isFull) log(`The disk of ${folder.path} is full. Free some space: blocks are no longer accepted.`)
    isFull = isNowFull
  }
  check()
  setInterval(check, CHECK_MS).unref()
}

/** Ends on a signal. A later one ends at once. */
function stopOnSignals(folder: ServeFolder, dispose: () => Promise<void>): (code: number) => void {
  let stoppingMs: number | null = null
  const stop = async (code: number) => {
    if (stoppingMs !== null) return performance.now() - stoppingMs < SAME_SIGNAL_MS ? undefined : process.exit(1)
    stoppingMs = performance.now()
    notifySystemd('STOPPING=1')
    await dispose()
    folder.end()
    process.exit(code)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // Miniflare's own handlers would end the process before `dispose`, with exit code 143.
    process.removeAllListeners(signal)
    process.on(signal, () => void stop(0))
  }
  return (code) => void stop(code)
}

/** Reports to systemd, if it started this process. */
function notifySystemd(message: string): void {
  if (process.env.NOTIFY_SOCKET) execFile('systemd-notify', [message], () => {})
}

function errorText(error: unknown, path: string): string {
  if (error instanceof LaunchError) return error.message
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC')
    return `The disk of ${path} is full. Free some space, or choose a different folder with --state.`
  if (code === undefined) throw error
  return `The state folder ${path} cannot be used: ${message}.`
}

function portText(port: number, code: string): string {
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use. Stop the process that listens there, or choose another one with --port.`
  if (code === 'EACCES')
    return `Port ${port} needs the right to bind low ports. Use a port above 1023 behind a proxy, or grant CAP_NET_BIND_SERVICE.`
  return `Port ${port} cannot be used (${code}). Choose another port with --port, or another address with --host.`
}

function readyText(url: string, { state }: Options): string {
  const option = state === DEFAULT_STATE ? '' : ` --state ${state}`
  return `Weir serves at ${url}. State and secrets are in ${resolve(state)}.
Create a key:        npx weir keys create --account NAME --credits 1000${option}
Connect a feeder:    FEED_TOKEN=… npx weir feed --data DIR --info URL --gateway ${url}
See what it needs:   npx weir doctor${option}`
}
