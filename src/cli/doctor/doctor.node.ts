// `weir doctor`: checks a node's host or a running `npx weir demo`, and prints one line per check with what to do. Exits with 1 if
// any check fails. Tokens come from the environment or running.json and are never printed.

import { access, constants, mkdir, readdir, rm, rmdir, stat, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, Option } from '@commander-js/extra-typings'
import * as z from 'zod'
import { readBoundedText } from '../../core/bounded-text.ts'
import { type AnyCommand, valueParser } from '../../core/command-line.node.ts'
import { orFallback } from '../../core/deadline.ts'
import { TOKEN } from '../../core/secret.ts'
import { after } from '../../core/timers.client.ts'
import { newestReplicaFile } from '../../feeder/replica-files.node.ts'
import { StreamFiles, statOf } from '../../feeder/stream-files.node.ts'
import { REPLICA_FOLDER, STREAM_FOLDER, STREAMS, type StreamName } from '../../feeder/streams.ts'
import { stateOption } from '../launch/args.ts'
import { freshStart, LaunchError } from '../launch/messages.ts'
import { processInfo } from '../launch/processes.node.ts'
import { checkDatabases, isDamaged, StateFolder } from '../launch/state-folder.node.ts'
import { DEFAULT_STATE, RunningFile, readRunning, runningFilePath } from '../running-file.node.ts'
import { type Shell, weirProgram } from '../shell.node.ts'
import {
  type Check,
  checkDisk,
  checkFiles,
  checkLaunch,
  checkLine,
  checkNode,
  checkProbe,
  checkResults,
  checkSnapshot,
  checkStatus,
  checkStoredState,
  checkToken,
  type DiskFacts,
  type FilesFacts,
  type HttpFacts,
  invalidToken,
  type LaunchFacts,
  PROBES,
  type Probe,
  type SnapshotFacts,
  type StreamFacts,
  type TokenName,
  withLaunchFix,
} from './checks.ts'

/** Time between two samples of files: a node writes several blocks per second, a slow devnet only one. */
const SAMPLE_MS = 2_000
export const PROBE_MS = 5_000
/** A snapshot of the real exchange is hundreds of megabytes in size. */
const SNAPSHOT_MS = 30_000
const ANSWER_MAX_BYTES = 1024 * 1024

interface ProbeOptions {
  readonly token?: string | undefined
  readonly body?: object
  readonly timeoutMs?: number
}

/** Sends one request; a failure has no status. */
export async function probe(url: string, { token, body, timeoutMs = PROBE_MS }: ProbeOptions = {}): Promise<HttpFacts> {
  const startMs = Date.now()
  const timing = () => ({ atMs: (startMs + Date.now()) / 2, tookMs: Date.now() - startMs })
  try {
    const response = await fetch(url, {
      headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const times = timing()
    const read = await readBoundedText(response.body, ANSWER_MAX_BYTES)
    return { url, status: response.status, text: 'text' in read ? read.text : read.refused, ...times }
  } catch (error) {
    return { url, status: null, text: reasonOf(error), ...timing() }
  }
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error
  if (name === 'TimeoutError') return 'timed out'
  return cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : message
}

/** Requests a snapshot from the node as the feeder does, then removes the file and the folders created for it. */
export async function probeSnapshot(infoUrl: string, folder: string): Promise<SnapshotFacts> {
  const path = join(folder, 'doctor.json')
  // Removes the snapshot of an earlier run if the node wrote it only after that run had ended.
  await rm(path, { force: true }).catch(() => undefined)
  const made = await mkdir(folder, { recursive: true }).catch(() => undefined)
  const unwritable = await access(folder, constants.W_OK).then(() => null, reasonOf)
  const request = { type: 'l4Snapshots', includeUsers: true, includeTriggerOrders: false }
  const body = { type: 'fileSnapshot', request, outPath: path, includeHeightInOutput: true }
  const answer = await probe(infoUrl, { body, timeoutMs: unwritable === null ? SNAPSHOT_MS : 1 })
  const bytes = (await stat(path).catch(() => null))?.size ?? null
  await rm(path, { force: true }).catch(() => undefined)
  for (let one = folder; made !== undefined && one.startsWith(made); one = dirname(one))
    await rmdir(one).catch(() => undefined)
  return { folder, answer, bytes, unwritable }
}

/** The disks of these folders, without duplicates. */
export async function readDisks(folders: readonly string[]): Promise<Omit<DiskFacts, 'bytesPerHour'>[]> {
  const disks = new Map<number, { folders: string; freeBytes: number }>()
  for (const folder of folders) {
    const { dev } = (await stat(folder).catch(() => null)) ?? {}
    if (dev === undefined) continue
    const { bavail, bsize } = await statfs(folder)
    const known = disks.get(dev)
    disks.set(dev, { folders: known ? `${known.folders} and ${folder}` : folder, freeBytes: bavail * bsize })
  }
  return [...disks.values()]
}

/** `stateDir` is the value of the option --state of `npx weir demo`. */
export function readLaunch(stateDir: string): LaunchFacts {
  const folder = new StateFolder(dirname(runningFilePath(stateDir)))
  const dev = readRunning(stateDir)
  const damaged = [
    ...(isDamaged(runningFilePath(stateDir), RunningFile) ? ['running.json'] : []),
    ...folder.damagedFiles(),
  ]
  const processes = Object.entries(dev.ok ? dev.value.pids : {}).map(([name, pid]) => {
    const now = processInfo(pid)
    return { name, pid, runs: now !== null, isStopped: now?.isStopped === true }
  })
  return {
    folder: folder.path,
    damaged,
    ports: damaged.includes('ports.json') ? null : folder.readPorts(),
    processes: dev.ok ? processes : null,
  }
}

/**
 * The error that the next start would report for its tokens and databases, or `whole`. Null before the first start, and during
 * one, because workerd has the databases open.
 */
export function readStoredState(stateDir: string): 'whole' | LaunchError | null {
  const folder = new StateFolder(
    dirname(runningFilePath(stateDir)),
    freshStart(`npx weir demo${stateOption(stateDir)} --reset`),
  )
  try {
    if (folder.isLocked()) return null
    const secrets = folder.readSecrets()
    if (secrets === null) return null
    checkDatabases(folder.pathOf('gateway'), folder.remedy, secrets.key !== null)
    return 'whole'
  } catch (error) {
    return error instanceof LaunchError
      ? error
      : new LaunchError(`${folder.path} cannot be read: ${(error as Error).message}`)
  }
}

/** The node files, and how many bytes the newest files grew between the two samples. */
export async function readNodeFiles(folder: string): Promise<FilesFacts & { readonly grownBytes: number }> {
  const state = await stateOf(folder)
  const sizes = () => STREAMS.map((name) => newestBytes(join(folder, STREAM_FOLDER[name])))
  const startMs = Date.now()
  const first = await Promise.all(STREAMS.map((name) => lastLine(folder, name)))
  const before = sizes()
  if (state === 'there') await sleep(SAMPLE_MS)
  const streams = await Promise.all(
    STREAMS.map(async (name, i): Promise<StreamFacts> => {
      const after = await lastLine(folder, name)
      return { name, state: await stateOf(join(folder, STREAM_FOLDER[name])), before: first[i] ?? null, after }
    }),
  )
  const after = sizes()
  const root = join(folder, REPLICA_FOLDER)
  const replica = { state: await stateOf(root), newest: await newestReplicaFile(root) }
  const nowMs = Date.now()
  const unbatched = (await readdir(folder).catch(() => [])).filter((name) => !name.endsWith('_by_block'))
  // A file of a new hour starts at zero.
  const grownBytes = after.reduce((sum, bytes, i) => sum + Math.max(0, bytes - (before[i] ?? 0)), 0)
  return { folder, state, streams, replica, unbatched, tookMs: nowMs - startMs, nowMs, grownBytes }
}

async function stateOf(folder: string): Promise<'absent' | 'unreadable' | 'there'> {
  if (!(await stat(folder).catch(() => null))?.isDirectory()) return 'absent'
  const mode = constants.R_OK | constants.X_OK
  return await access(folder, mode).then(
    () => 'there' as const,
    () => 'unreadable' as const,
  )
}

function lastLine(folder: string, name: StreamName) {
  return new StreamFiles(join(folder, STREAM_FOLDER[name])).last()
}

function newestBytes(folder: string): number {
  const files = new StreamFiles(folder)
  const newest = files.list().at(-1)
  return newest ? (statOf(files.path(newest))?.size ?? 0) : 0
}

const URL_MESSAGE = 'must be a URL without user name and password'
const Url = z
  .url({ protocol: /^(?:https?|wss?)$/, error: URL_MESSAGE })
  .regex(/^\w+:\/\/[^/?#@\\]+(?:[/?#]|$)/, URL_MESSAGE)

export function doctorProgram(shell: Shell): AnyCommand {
  return addOptions(
    weirProgram('doctor', [
      '',
      '--data ~/hl/data --info http://127.0.0.1:3001 --gateway https://weir.example.workers.dev',
    ]),
  ).action(async (options) => {
    const checks = options.probe === undefined ? await runChecks(options) : [await runProbe(options.probe, options)]
    if (options.json) shell.print(JSON.stringify({ checks }))
    else for (const check of checks) shell.print(checkLine(check))
    // A pending read of a hanging disk would keep the process alive.
    process.exit(checks.some(({ state }) => state === 'FAIL') ? 1 : 0)
  })
}

const addOptions = (command: Command) =>
  command
    .option('--data <dir>', 'data folder of the node')
    .option('--info <url>', 'HTTP address of the node', valueParser(Url))
    .option(
      '--gateway <url>',
      'gateway that receives the blocks; its FEED_TOKEN, ADMIN_TOKEN and METRICS_TOKEN are read from the environment',
      valueParser(Url),
    )
    .option('--state <dir>', 'state folder of "npx weir demo", or of the feeder')
    .option('--snapshot-dir <dir>', 'snapshot folder of "npx weir feed"')
    .option('--chain <name>', 'CHAIN of the gateway (default: hyperliquid)')
    .addOption(
      new Option(
        '--probe <what>',
        'only ask the gateway whether it is live (it responds) or ready (its feed is live), for supervisors',
      ).choices(PROBES),
    )
    .option('--json', 'print one line of JSON')
type Options = ReturnType<ReturnType<typeof addOptions>['opts']>

type Target = {
  readonly [Part in 'data' | 'info' | 'gateway' | 'feederState' | 'feedToken' | 'adminToken' | 'metricsToken']?:
    | string
    | undefined
}

function hostTarget(values: Options): Target {
  const data = values.data === undefined ? undefined : resolve(values.data)
  const feederState = values.state ?? (data && join(dirname(data), 'feeder'))
  const { FEED_TOKEN: feedToken, ADMIN_TOKEN: adminToken, METRICS_TOKEN: metricsToken } = process.env
  return { data, info: values.info, gateway: values.gateway, feederState, feedToken, adminToken, metricsToken }
}

/** The target that `npx weir demo` runs or ran in this folder. */
function launchTarget(stateDir: string): Target {
  const folder = new StateFolder(dirname(runningFilePath(stateDir)))
  const dev = readRunning(stateDir)
  if (!dev.ok) return {}
  const { url: gateway, feed_token: feedToken, admin_token: adminToken, metrics_token: metricsToken } = dev.value
  // Only a demo has an exchange and a feeder of its own.
  if (dev.value.key === undefined) return { gateway, feedToken, adminToken, metricsToken }
  const devnet = folder.readPorts()?.devnet
  const info = devnet === undefined ? undefined : `http://127.0.0.1:${devnet}`
  return {
    data: folder.pathOf('node'),
    info,
    gateway,
    feederState: folder.pathOf('feeder'),
    feedToken,
    adminToken,
    metricsToken,
  }
}

async function runChecks(options: Options): Promise<Check[]> {
  const isHost = options.data !== undefined || options.info !== undefined || options.gateway !== undefined
  const stateDir = options.state ?? DEFAULT_STATE
  const patient = isHost ? hostTarget(options) : launchTarget(stateDir)
  const launch = isHost ? null : readLaunch(stateDir)
  const files = patient.data === undefined ? null : readNodeFiles(patient.data)
  const groups = await Promise.all([
    launch === null ? [] : runLaunchChecks(launch, stateDir),
    files === null ? [] : withDeadline('node files', files.then(checkFiles)),
    patient.info === undefined ? [] : runNodeChecks(patient, patient.info, options.snapshotDir),
    patient.gateway === undefined ? [] : runGatewayChecks(patient, patient.gateway, options.chain),
    withDeadline('disk', runDiskChecks(patient, files, isHost)),
  ])
  const all = groups.flat()
  return launch === null || patient.data === undefined ? all : all.map((check) => withLaunchFix(check, launch))
}

async function runProbe(what: Probe, { gateway, state = DEFAULT_STATE }: Options): Promise<Check> {
  const running = readRunning(state, '--gateway')
  const url = gateway ?? (running.ok ? running.value.url : null)
  if (url === null) return checkResults(what).fail(running.ok ? '' : running.error)
  return checkProbe(what, await probe(new URL(`/status/${what}`, url.replace(/^ws/, 'http')).href))
}

function runLaunchChecks(facts: LaunchFacts, stateDir: string): Check[] {
  const isOver = !facts.processes?.some(({ runs }) => runs)
  return [
    ...checkLaunch(facts),
    ...(isOver && !facts.damaged.includes('secrets.json') ? checkStoredState(readStoredState(stateDir)) : []),
  ]
}

async function runNodeChecks({ feederState }: Target, url: string, snapshotDir: string | undefined): Promise<Check[]> {
  const info = `${url.replace(/\/(?:info\/?)?$/, '')}/info`
  const folder = snapshotDir ?? (feederState && join(feederState, 'snapshots'))
  const status = await probe(info, { body: { type: 'exchangeStatus' } })
  if (status.status === null || folder === undefined) return [checkNode(status)]
  return [checkNode(status), checkSnapshot(await probeSnapshot(info, resolve(folder)))]
}

async function runGatewayChecks(
  { feedToken, adminToken, metricsToken }: Target,
  gateway: string,
  chain = 'hyperliquid',
): Promise<Check[]> {
  const at = (path: string) => new URL(path, gateway.replace(/^ws/, 'http')).href
  const [status, ...tokens] = await Promise.all([
    probe(at('/status')),
    runTokenCheck('feed token', feedToken, at('/feed')),
    runTokenCheck('admin token', adminToken, at('/admin/plans')),
    runTokenCheck('metrics token', metricsToken, at('/metrics')),
  ])
  const judged = checkStatus(status, chain)
  return status.status === null ? [judged] : [judged, ...tokens.flat()]
}

/** A token that is invalid in a header is not sent, because the error of `fetch` would show it. */
async function runTokenCheck(name: TokenName, token: string | undefined, url: string) {
  if (token && !TOKEN.test(token)) return [invalidToken(name)]
  return checkToken(name, token ? await probe(url, { token }) : null)
}

async function runDiskChecks(
  { data, feederState }: Target,
  files: ReturnType<typeof readNodeFiles> | null,
  isHost: boolean,
) {
  const seen = await files
  const disks = await readDisks([data, feederState].filter((folder) => folder !== undefined))
  // The devnet removes old files itself.
  const bytesPerHour = isHost && seen && seen.grownBytes > 0 ? (seen.grownBytes / seen.tookMs) * 3_600_000 : null
  // The first disk is the one with the node files.
  return disks.map((disk, i) => checkDisk({ ...disk, bytesPerHour: i === 0 ? bytesPerHour : null }))
}

/** A hanging disk or network folder must not block the other checks. */
async function withDeadline(name: string, checks: Promise<Check[]>): Promise<Check[]> {
  const { fail } = checkResults(name)
  const late = fail('timed out', 'Check the disk, for example with "ls".')
  return orFallback(
    checks.catch((error) => [fail(String(error), 'Check the folder.')]),
    PROBE_MS,
    [late],
    after,
  )
}
