// Turns what the doctor observed into checks, one line each: npx weir demo and its state, node files, node HTTP, gateway and disks.
// Invariants: no message contains a token; text from nodes and gateways is shortened and stripped of control characters.

import * as z from 'zod'
import { parseJson } from '../../core/json.ts'
import { INVALID_TOKEN_MESSAGE } from '../../core/secret.ts'
import { HOUR_MS } from '../../core/time.ts'
import {
  EXTRA_STREAMS,
  nodeTimeMs,
  REPLICA_FOLDER,
  REQUIRED_STREAMS,
  STREAM_FOLDER,
  type StreamLine,
  type StreamName,
} from '../../feeder/streams.ts'
import { stoppedText } from '../launch/messages.ts'

export interface Check {
  readonly name: string
  readonly state: 'ok' | 'warn' | 'FAIL'
  readonly saw: string
  /** Advice; absent if all is well. */
  readonly fix?: string
  /** The component at fault, if known. */
  readonly part?: 'devnet' | 'gateway' | 'feeder'
}

const TEXT_CHARS_MAX = 300

const finding =
  (name: string, state: Check['state']) =>
  (saw: string, fix?: string, part?: Check['part']): Check => ({
    name,
    state,
    saw: safeText(saw),
    ...(fix !== undefined && { fix: safeText(fix) }),
    ...(part !== undefined && { part }),
  })

/** Constructors of the results of a named check. */
export const checkResults = (name: string) => ({
  ok: finding(name, 'ok'),
  warn: finding(name, 'warn'),
  fail: finding(name, 'FAIL'),
})

const START = checkResults('processes')
const STATE = checkResults('state')
const FILES = checkResults('node files')
const NODE = checkResults('node http')
const SNAPSHOTS = checkResults('snapshots')
const GATEWAY = checkResults('gateway')
const DISK = checkResults('disk')

export function checkLine({ name, state, saw, fix }: Check): string {
  return `${state.padEnd(5)} ${name.padEnd(12)} ${saw}${fix === undefined ? '' : `. ${fix}`}`
}

function safeText(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
  return plain.length > TEXT_CHARS_MAX ? `${plain.slice(0, TEXT_CHARS_MAX)}…` : plain
}

/** Milliseconds as `1.5 s`. */
function secondsText(ms: number): string {
  return `${(Math.abs(ms) / 1000).toFixed(Math.abs(ms) < 10_000 ? 1 : 0)} s`
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const

/** Bytes as `1.5 GB`. */
export function bytesText(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return `${(bytes / 1000 ** step).toFixed(step > 0 ? 1 : 0)} ${UNITS[step]}`
}

export interface LaunchFacts {
  readonly folder: string
  /** Files of the folder that exist but are invalid. */
  readonly damaged: readonly string[]
  readonly ports: { readonly gateway: number; readonly devnet: number } | null
  /** Processes listed in running.json, with their state; null if none are listed or the file cannot be read. */
  readonly processes: readonly LaunchedProcess[] | null
}

interface LaunchedProcess {
  readonly name: string
  readonly pid: number
  readonly runs: boolean
  /** Stopped by a signal. */
  readonly isStopped: boolean
}

export function checkLaunch({ folder, damaged, ports, processes }: LaunchFacts): Check[] {
  const broken = damaged.map((file) =>
    START.fail(`${folder}/${file} is damaged`, 'Restore a copy, or start fresh with "npx weir demo --reset".'),
  )
  if (processes === null)
    return [...broken, START.fail(`not running with state folder ${folder}`, 'Run "npx weir demo".')]
  const gone = processes.filter(({ runs }) => !runs)
  const stopped = processes.filter(({ isStopped }) => isStopped)
  for (const { name, pid } of stopped) {
    const [saw, fix] = stoppedText(name, pid).split('. ') as [string, string]
    broken.push(START.fail(saw, fix))
  }
  if (stopped.length > 0 && gone.length === 0) return broken
  const listening = ports === null ? '' : `; ports ${ports.gateway} and ${ports.devnet} (devnet)`
  if (gone.length === 0)
    return [...broken, START.ok(`running with state folder ${folder}: ${listed(processes)}${listening}`)]
  return [...broken, START.fail(`not running: ${listed(gone)}`, `See ${folder}/log, then run "npx weir demo" again.`)]
}

const NODE_CHECKS: readonly string[] = ['node files', 'node http', 'snapshots']

/** Replaces the fix if "npx weir demo" runs the component at fault, because advice for a node's host does not apply there. */
export function withLaunchFix({ part: at, ...check }: Check, { folder, processes }: LaunchFacts): Check {
  const part = NODE_CHECKS.includes(check.name) ? 'devnet' : at
  if (part === undefined || check.state === 'ok') return check
  const process = processes?.find(({ name, runs }) => name === part && runs)
  if (process === undefined) return { ...check, fix: 'See the "processes" check.' }
  const { pid } = process
  return {
    ...check,
    fix: `Cause: ${part} (process ${pid}). Restart it with "kill -KILL ${pid}"; log: ${folder}/log/${part}.log`,
  }
}

/**
 * `stored` is `whole` if the state is intact, and null if there is no state. Otherwise it is the error that a start
 * would report: what is wrong, then what to do.
 */
export function checkStoredState(stored: 'whole' | Error | null): Check[] {
  if (stored === null) return []
  if (stored === 'whole') return [STATE.ok('tokens and databases are intact')]
  const { message } = stored
  const end = message.lastIndexOf('. ')
  return [end < 0 ? STATE.fail(message) : STATE.fail(message.slice(0, end), message.slice(end + 2))]
}

function listed(processes: readonly { readonly name: string; readonly pid: number }[]): string {
  return processes.map(({ name, pid }) => `${name} ${pid}`).join(', ')
}

type Head = Omit<StreamLine, 'text'>

export interface StreamFacts {
  readonly name: StreamName
  readonly state: 'absent' | 'unreadable' | 'there'
  /** Last line at the first and second sample; null if there is none. */
  readonly before: Head | null
  readonly after: Head | null
}

/** The folder of signed actions. `newest`: first height of its newest file, and when it was last written; null if there is none. */
interface ReplicaFacts {
  readonly state: StreamFacts['state']
  readonly newest: { readonly height: number; readonly writtenMs: number } | null
}

export interface FilesFacts {
  readonly folder: string
  readonly state: 'absent' | 'unreadable' | 'there'
  readonly streams: readonly StreamFacts[]
  readonly replica: ReplicaFacts
  /** Folders of a node that writes without batching by block. */
  readonly unbatched: readonly string[]
  /** Time between the two samples. */
  readonly tookMs: number
  /** Time of the second sample. */
  readonly nowMs: number
}

const FLAG: Readonly<Partial<Record<StreamName, string>>> = {
  diffs: '--write-raw-book-diffs',
  fills: '--write-fills',
  misc: '--write-misc-events',
}

/** Folders that a node writes with a flag of their own, and what they are for. */
const EXTRA_FLAG = {
  oracle: ['--write-hip3-oracle-updates', 'oracle updates of builder-deployed DEXes'],
  writer: ['--write-system-and-core-writer-actions', 'actions from HyperEVM'],
  replica: ['--replica-cmds-style actions-and-responses', 'signed actions'],
} as const
/** Some of these folders get a line only if there is something to write. */
const EXTRA_STALE_MS = HOUR_MS

/** A node further behind than this is catching up, or a clock is wrong. */
const NODE_LATE_MS = 2_000

export function checkFiles(facts: FilesFacts): Check[] {
  const { folder, state } = facts
  if (state === 'absent')
    return [FILES.fail(`${folder} does not exist`, 'Pass the folder that contains node_fills_by_block as --data.')]
  if (state === 'unreadable')
    return [FILES.fail(`${folder} cannot be read`, 'Give the user that runs the feeder read access.')]
  const missing = facts.streams.flatMap((stream) => checkStream(stream, facts))
  const required = facts.streams.filter(({ name }) => REQUIRED_STREAMS.includes(name))
  const broken = missing.some(({ state }) => state === 'FAIL')
  return [...missing, ...(broken ? [] : checkGrowth(required, facts)), ...checkExtras(facts)]
}

/** A node may run without these folders, so their absence is no warning. */
function checkExtras({ streams, replica, nowMs }: FilesFacts): Check[] {
  const extras = EXTRA_STREAMS.flatMap((name) => {
    const { state, after } = streams.find((stream) => stream.name === name) ?? { state: 'absent', after: null }
    const newest = after && { height: after.height, writtenMs: nodeTimeMs(after.time) }
    // An unreadable stream is reported like the others.
    return state === 'unreadable' ? [] : checkExtra(name, STREAM_FOLDER[name], { state, newest }, nowMs)
  })
  return [...extras, ...checkExtra('replica', REPLICA_FOLDER, replica, nowMs)]
}

function checkExtra(
  name: keyof typeof EXTRA_FLAG,
  folder: string,
  { state, newest }: ReplicaFacts,
  nowMs: number,
): Check[] {
  const [flag, what] = EXTRA_FLAG[name]
  if (state === 'unreadable')
    return [FILES.fail(`${folder} cannot be read`, 'Give the user that runs the feeder read access.')]
  if (state === 'absent') return [FILES.ok(`${folder} does not exist`, `For ${what}, run the node with ${flag}.`)]
  if (newest === null) return [FILES.ok(`${folder} is empty so far`)]
  const ageMs = nowMs - newest.writtenMs
  if (ageMs < EXTRA_STALE_MS) return [FILES.ok(`${folder} has block ${newest.height}`)]
  const saw = `${folder} has nothing new since block ${newest.height}, ${hoursText(ageMs)} ago`
  return [FILES.warn(saw, `Check that the node still runs with ${flag}. If not, remove the folder.`)]
}

const hoursText = (ms: number) => `${Math.floor(ms / HOUR_MS)} h`

function checkStream({ name, state, after }: StreamFacts, { unbatched }: FilesFacts): Check[] {
  const folder = STREAM_FOLDER[name]
  const flag = FLAG[name]
  if (state === 'unreadable')
    return [FILES.fail(`${folder} cannot be read`, 'Give the user that runs the feeder read access.')]
  if (flag === undefined || (state === 'there' && after !== null)) return []
  const plain = folder.replace(/_by_block$/, '')
  if (state === 'absent' && unbatched.includes(plain))
    return [FILES.fail(`${plain} exists without ${folder}`, 'Run the node with --batch-by-block.')]
  const saw = state === 'absent' ? `${folder} does not exist` : `${folder} is empty`
  if (REQUIRED_STREAMS.includes(name)) return [FILES.fail(saw, `Run the node with ${flag} --batch-by-block.`)]
  return [FILES.warn(saw, `Without ${flag}, transfers and ledger updates are missing.`)]
}

function checkGrowth(streams: readonly StreamFacts[], { tookMs, nowMs }: FilesFacts): Check[] {
  const still = streams.filter(({ before, after }) => before?.height === after?.height)
  const [oldest] = streams.flatMap(({ after }) => after ?? []).sort((a, b) => a.height - b.height)
  if (!oldest) return []
  const ageMs = nowMs - nodeTimeMs(oldest.time)
  if (still.length > 0 && ageMs > NODE_LATE_MS) {
    const names = still.map(({ name }) => STREAM_FOLDER[name]).join(' and ')
    const saw = `no new line in ${names} since block ${oldest.height}, ${secondsText(ageMs)} old`
    return [FILES.fail(saw, 'Check that the node is running, and read its log.')]
  }
  const blocks = Math.min(...streams.map(({ before, after }) => (after?.height ?? 0) - (before?.height ?? 0)))
  const grown = `at block ${oldest.height}, ${(blocks / (tookMs / 1000)).toFixed(1)} blocks/s`
  if (ageMs > NODE_LATE_MS)
    return [FILES.warn(`${grown}, ${secondsText(ageMs)} old`, 'The node is catching up, or a clock is wrong.')]
  if (ageMs < -NODE_LATE_MS)
    return [
      FILES.warn(
        `${grown}, ${secondsText(ageMs)} in the future`,
        'The clock of this machine is behind. Synchronize it with NTP.',
      ),
    ]
  return [FILES.ok(grown)]
}

/** The response to one request. */
export interface HttpFacts {
  readonly url: string
  /** Null if no response arrived; `text` says why. */
  readonly status: number | null
  readonly text: string
  /** Time on our clock, halfway between request and response. */
  readonly atMs: number
  readonly tookMs: number
}

export interface SnapshotFacts {
  readonly folder: string
  readonly answer: HttpFacts
  /** Size of the requested file; null if it does not exist. */
  readonly bytes: number | null
  /** Why this process cannot write there; null if it can. */
  readonly unwritable: string | null
}

const SERVE = 'Run the node with --serve-info, and pass its address as --info.'

export function checkNode({ url, status, text, atMs }: HttpFacts): Check {
  if (status === null) return NODE.fail(`${url} does not respond: ${text}`, SERVE)
  if (status !== 200) return NODE.fail(`${url} responds to exchangeStatus with status ${status}: ${text}`, SERVE)
  const timeMs = timeOf(text)
  if (timeMs === null) return NODE.warn(`${url} responds without a time: ${text}`, SERVE)
  const ageMs = atMs - timeMs
  if (Math.abs(ageMs) <= NODE_LATE_MS) return NODE.ok(`${url} responds, ${secondsText(ageMs)} from our clock`)
  const side = ageMs > 0 ? 'behind' : 'ahead of'
  const fix = 'The node is stalled or catching up, or a clock is wrong.'
  return NODE.warn(`${url} responds, ${secondsText(ageMs)} ${side} our clock`, fix)
}

function timeOf(text: string): number | null {
  const time = (parseJson(text) as { readonly time?: unknown } | null | undefined)?.time
  return typeof time === 'number' ? time : null
}

export function checkSnapshot({ folder, answer, bytes, unwritable }: SnapshotFacts): Check {
  const { status, text, tookMs } = answer
  const both =
    'Both the node and the feeder must be able to write there. Choose a different folder with --snapshot-dir.'
  if (unwritable !== null) return SNAPSHOTS.fail(`${folder} cannot be written: ${unwritable}`, both)
  if (status === null)
    return SNAPSHOTS.warn(
      `none within ${secondsText(tookMs)}: ${text}`,
      `The feeder waits two minutes. Delete ${folder}/doctor.json when it appears.`,
    )
  if (status !== 200) return SNAPSHOTS.fail(`the node responds to fileSnapshot with status ${status}: ${text}`, both)
  if (bytes === null)
    return SNAPSHOTS.fail(
      `the node reported a snapshot in ${folder}, but the file does not exist`,
      `Run both on one machine. ${both}`,
    )
  return SNAPSHOTS.ok(`${bytesText(bytes)} within ${secondsText(tookMs)} in ${folder}`)
}

const Status = z.looseObject({
  chain: z.string(),
  state: z.string(),
  advice: z.string(),
  feedRegion: z.string().nullable(),
  height: z.number().nullable(),
  booksKnown: z.boolean(),
  lagMs: z.number().nullable(),
  feeders: z.array(
    z.looseObject({
      name: z.string(),
      conflict: z.string().nullable(),
      connected: z.boolean(),
      sinceMs: z.number(),
    }),
  ),
  readers: z.array(z.unknown()),
})
type Status = z.infer<typeof Status>

const LATE_MS = 5_000
/** States in which books are served, or will be without intervention. */
const TRANSIENT_STATES: readonly string[] = ['late', 'starting']
const COMPONENT: Readonly<Record<string, Check['part']>> = {
  late: 'devnet',
  node_still: 'devnet',
  books_unknown: 'feeder',
  feeder_stuck: 'feeder',
  feeder_silent: 'feeder',
  link_down: 'feeder',
  no_feeder: 'feeder',
  archive_full: 'gateway',
}
/** A feeder that has not sent books within this time will not send any. */
const NEW_MS = 60_000

export function checkStatus({ url, status, text, atMs }: HttpFacts, chain: string): Check {
  if (status === null)
    return GATEWAY.fail(
      `${url} does not respond: ${text}`,
      'Check that it is deployed, or that "npx weir demo" is running. Pass its address as --gateway.',
      'gateway',
    )
  const parsed = Status.safeParse(parseJson(text))
  if (status !== 200 || !parsed.success)
    return GATEWAY.fail(
      `${url} responds with status ${status}, but not like a Weir gateway`,
      'Pass its address as --gateway.',
    )
  return checkLog(url, parsed.data, chain, atMs)
}

function checkLog(url: string, log: Status, chain: string, atMs: number): Check {
  const { readers, height, lagMs, state, advice } = log
  const feeders = log.feeders.filter(({ connected }) => connected)
  const isNew = ({ sinceMs }: { readonly sinceMs: number }) => atMs - sinceMs < NEW_MS
  const conflict = feeders.find((feeder) => feeder.conflict !== null)
  if (log.chain !== chain)
    return GATEWAY.fail(`${url} serves the chain ${log.chain}, not ${chain}`, 'Pass --chain, or a different --gateway.')
  if (conflict)
    return GATEWAY.fail(
      `blocks of feeder ${conflict.name} are rejected: ${conflict.conflict}`,
      'See docs/operators/guides/recover.md.',
    )
  if (state !== 'live') {
    const isPassing = TRANSIENT_STATES.includes(state) || (state === 'books_unknown' && feeders.some(isNew))
    return (isPassing ? GATEWAY.warn : GATEWAY.fail)(`${url} responds; the feed is ${state}`, advice, COMPONENT[state])
  }
  if (feeders.length === 0)
    return GATEWAY.fail(`${url} responds; no feeder is connected`, 'Start one with "npx weir feed".')
  if (height === null || lagMs === null)
    return GATEWAY.warn(`${url} responds; its log has no block yet`, 'Check the output of the feeder.')
  if (!log.booksKnown)
    return GATEWAY.warn(
      `${url} responds; its order books are not available`,
      'The feeder needs snapshots from the node.',
    )
  const side = lagMs < -LATE_MS ? 'in the future' : 'late'
  const pinned = log.feedRegion === null ? '' : `, pinned to ${log.feedRegion}`
  const saw = `${url}${pinned} at block ${height}, ${secondsText(lagMs)} ${side}, feeders ${feeders.length}, readers ${readers.length}`
  if (lagMs < -LATE_MS) return GATEWAY.warn(saw, "The clock of the node's host is ahead. Synchronize it with NTP.")
  return lagMs > LATE_MS ? GATEWAY.warn(saw, 'See docs/operators/guides/recover.md.') : GATEWAY.ok(saw)
}

/** Questions of a supervisor, which `/status/<probe>` answers with the HTTP status. */
export const PROBES = ['live', 'ready'] as const
export type Probe = (typeof PROBES)[number]

const Readiness = z.object({ state: z.string(), advice: z.string() })

export function checkProbe(what: Probe, { url, status, text }: HttpFacts): Check {
  const { ok, fail } = checkResults(what)
  if (status === null) return fail(`${url} does not respond: ${text}`)
  if (status === 200) return ok(url)
  // A refusal for too many requests proves that the gateway responds.
  if (what === 'live' && status === 429) return ok(`${url} responds with status 429`)
  const { data } = Readiness.safeParse(parseJson(text))
  return data === undefined
    ? fail(`${url} responds with status ${status}`)
    : fail(`the feed is ${data.state}`, data.advice)
}

/** A token that was not sent, because it is not valid in a header. */
export const invalidToken = (name: string): Check =>
  checkResults(name).fail(`it ${INVALID_TOKEN_MESSAGE}`, 'It was not sent.')

/** Statuses of `GET /feed` without an upgrade, of `GET /metrics` and of `GET /admin/plans`, if the token is accepted. */
const TOKENS = {
  'feed token': { variable: 'FEED_TOKEN', path: '/feed', taken: 426 },
  'metrics token': { variable: 'METRICS_TOKEN', path: '/metrics', taken: 200 },
  'admin token': { variable: 'ADMIN_TOKEN', path: '/admin', taken: 200 },
} as const

export type TokenName = keyof typeof TOKENS

/** The response to a request with the token; null if no token was given. A feeder's host needs only the feed token. */
export function checkToken(name: TokenName, answer: HttpFacts | null): Check[] {
  const { variable, path, taken } = TOKENS[name]
  const { ok, warn, fail } = checkResults(name)
  const put = (secret: string) => `"npx weir deploy --secret ${secret}"`
  if (answer === null) return name === 'feed token' ? [warn('not checked', 'Set FEED_TOKEN in the environment.')] : []
  const { status, text } = answer
  if (status === taken) return [ok('accepted by the gateway')]
  if (status === 401) return [fail('rejected by the gateway', `Set ${variable} to that of the gateway.`)]
  if (status === 404)
    return [fail(`the gateway has no ${path}`, `Set its ${variable} (at least 32 characters) with ${put(variable)}.`)]
  if (status === 503 && name === 'admin token')
    return [fail('the gateway responds with status 503', `Set its KEY_SECRET with ${put('KEY_SECRET')}.`)]
  if (status === null) return [warn(`no response: ${text}`, 'Try again.')]
  const saw = `the gateway responds with status ${status}`
  return [status < 500 ? warn(saw, 'Try again.') : fail(saw, 'Read the log of the gateway.', 'gateway')]
}

export interface DiskFacts {
  /** Folders on this disk, as a string. */
  readonly folders: string
  readonly freeBytes: number
  /** Growth of the stream files; null if not measured. */
  readonly bytesPerHour: number | null
}

const LOW_BYTES = 10e9
const CRITICAL_BYTES = 1e9
const LOW_DAYS = 1

export function checkDisk({ folders, freeBytes, bytesPerHour }: DiskFacts): Check {
  const days = bytesPerHour ? freeBytes / bytesPerHour / 24 : null
  const grow = bytesText(bytesPerHour ?? 0)
  const lasts = days === null ? '' : `; files grow by ${grow} per hour, full in ${daysText(days)}`
  const saw = `${bytesText(freeBytes)} free for ${folders}${lasts}`
  const fix = 'Free some space, for example by deleting old hourly files of the node.'
  if (freeBytes < CRITICAL_BYTES) return DISK.fail(saw, fix)
  return freeBytes < LOW_BYTES || (days !== null && days < LOW_DAYS) ? DISK.warn(saw, fix) : DISK.ok(saw)
}

const daysText = (days: number) =>
  days < 2 ? `${Math.floor(days * 24)} hours` : `${Math.min(9999, Math.floor(days))} days`
