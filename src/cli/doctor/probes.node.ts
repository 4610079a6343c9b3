// The doctor's questions to others: HTTP, a snapshot, disks, the processes of `npm start`. Each ends in time, and answers
// facts for checks.ts.

import { access, constants, mkdir, readdir, rm, rmdir, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readBoundedText } from '../../core/bounded-text.ts'
import { StreamFiles } from '../../feeder/stream-files.node.ts'
import { STREAM_FOLDER, STREAMS, type StreamName } from '../../feeder/streams.ts'
import { DevFile, devFilePath, readDevFile } from '../dev-file.node.ts'
import { stateOption } from '../launch/args.ts'
import { Refusal } from '../launch/messages.ts'
import { processInfo } from '../launch/processes.node.ts'
import { checkDatabases, isDamaged, StateFolder } from '../launch/state-folder.node.ts'
import type { DiskFacts, FilesFacts, HttpFacts, LaunchFacts, SnapshotFacts, StreamFacts } from './checks.ts'

/** Between two looks at files: a node writes several blocks a second, a slow devnet one. */
const LOOK_MS = 2_000
export const PROBE_MS = 5_000
/** A real exchange's snapshot is hundreds of megabytes. */
const SNAPSHOT_MS = 30_000
const ANSWER_MAX_BYTES = 1024 * 1024

interface Question {
  readonly token?: string | undefined
  readonly body?: object
  readonly timeoutMs?: number
}

/** One request; a failure is an answer without a status. */
export async function ask(url: string, { token, body, timeoutMs = PROBE_MS }: Question = {}): Promise<HttpFacts> {
  const startMs = Date.now()
  const timing = () => ({ atMs: (startMs + Date.now()) / 2, tookMs: Date.now() - startMs })
  try {
    const response = await fetch(url, {
      headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const answered = timing()
    const read = await readBoundedText(response.body, ANSWER_MAX_BYTES)
    return { url, status: response.status, text: 'text' in read ? read.text : read.refused, ...answered }
  } catch (error) {
    return { url, status: null, text: reasonOf(error), ...timing() }
  }
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error
  if (name === 'TimeoutError') return 'it took too long'
  return cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : message
}

/** Has the node write a snapshot as the feeder does, looks for it, and removes it, with folders that were made for it and are empty. */
export async function askSnapshot(infoUrl: string, folder: string): Promise<SnapshotFacts> {
  const path = join(folder, 'doctor.json')
  // Of an earlier visit, which the node answered too late.
  await rm(path, { force: true }).catch(() => undefined)
  const made = await mkdir(folder, { recursive: true }).catch(() => undefined)
  const unwritable = await access(folder, constants.W_OK).then(() => null, reasonOf)
  const request = { type: 'l4Snapshots', includeUsers: true, includeTriggerOrders: false }
  const body = { type: 'fileSnapshot', request, outPath: path, includeHeightInOutput: true }
  const answer = await ask(infoUrl, { body, timeoutMs: unwritable === null ? SNAPSHOT_MS : 1 })
  const bytes = (await stat(path).catch(() => null))?.size ?? null
  await rm(path, { force: true }).catch(() => undefined)
  for (let one = folder; made !== undefined && one.startsWith(made); one = dirname(one))
    await rmdir(one).catch(() => undefined)
  return { folder, answer, bytes, unwritable }
}

/** The disks that these folders lie on, each once. */
export async function lookAtDisks(folders: readonly string[]): Promise<Omit<DiskFacts, 'bytesPerHour'>[]> {
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

/** `stateDir`: the state folder of `npm start`, as its option says it. */
export function lookAtLaunch(stateDir: string): LaunchFacts {
  const folder = new StateFolder(dirname(devFilePath(stateDir)))
  const dev = readDevFile(stateDir)
  const damaged = [...(isDamaged(devFilePath(stateDir), DevFile) ? ['dev.json'] : []), ...folder.damaged()]
  const processes = Object.entries(dev.ok ? dev.value.pids : {}).map(([name, pid]) => {
    const now = processInfo(pid)
    return { name, pid, runs: now !== null, isStopped: now?.isStopped === true }
  })
  return {
    folder: folder.path,
    damaged,
    ports: damaged.includes('ports.json') ? null : folder.ports(),
    processes: dev.ok ? processes : null,
  }
}

/**
 * What the next start would say of its tokens and databases; null where there are none yet, and where a start is under
 * way: workerd has the databases open.
 */
export function lookAtKept(stateDir: string): 'whole' | Refusal | null {
  const folder = new StateFolder(dirname(devFilePath(stateDir)), `npm start --${stateOption(stateDir)} --reset`)
  try {
    if (folder.isHeld()) return null
    const secrets = folder.keptSecrets()
    if (secrets === null) return null
    checkDatabases(folder.part('gateway'), folder.reset, secrets.key !== null)
    return 'whole'
  } catch (error) {
    return error instanceof Refusal ? error : new Refusal(`${folder.path} cannot be read: ${(error as Error).message}`)
  }
}

/** The facts, and the bytes by which the newest files of all streams grew between the two looks. */
export async function lookAtFiles(folder: string): Promise<FilesFacts & { readonly grownBytes: number }> {
  const state = await stateOf(folder)
  const sizes = () => Promise.all(STREAMS.map((name) => newestBytes(join(folder, STREAM_FOLDER[name]))))
  const startMs = Date.now()
  const first = await Promise.all(STREAMS.map((name) => lastLine(folder, name)))
  const before = await sizes()
  if (state === 'there') await sleep(LOOK_MS)
  const streams = await Promise.all(
    STREAMS.map(async (name, i): Promise<StreamFacts> => {
      const after = await lastLine(folder, name)
      return { name, state: await stateOf(join(folder, STREAM_FOLDER[name])), before: first[i] ?? null, after }
    }),
  )
  const after = await sizes()
  const nowMs = Date.now()
  const unbatched = (await readdir(folder).catch(() => [])).filter((name) => !name.endsWith('_by_block'))
  // A file of a new hour begins at nothing.
  const grownBytes = after.reduce((sum, bytes, i) => sum + Math.max(0, bytes - (before[i] ?? 0)), 0)
  return { folder, state, streams, unbatched, tookMs: nowMs - startMs, nowMs, grownBytes }
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

async function newestBytes(folder: string): Promise<number> {
  const files = new StreamFiles(folder)
  const newest = (await files.list()).at(-1)
  return newest ? ((await stat(await files.path(newest)).catch(() => null))?.size ?? 0) : 0
}
