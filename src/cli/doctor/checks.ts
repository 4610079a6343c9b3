// What the doctor makes of what it saw: npm start and its state, a node's files, its HTTP, the gateway, the disks. A check is a
// line for a person. Invariant: no token is in a text, and what others wrote (a node, a gateway) reaches a terminal without its
// control characters, and shortened.

import * as z from 'zod'
import { parseJson } from '../../core/json.ts'
import { INVALID_TOKEN_MESSAGE } from '../../core/secret.ts'
import { nodeTimeMs, REQUIRED_STREAMS, STREAM_FOLDER, type StreamLine, type StreamName } from '../../feeder/streams.ts'
import { stoppedText } from '../launch/messages.ts'

export interface Check {
  readonly name: string
  readonly state: 'ok' | 'warn' | 'FAIL'
  readonly saw: string
  /** What to do; nothing where all is well. */
  readonly fix?: string
  /** What of Weir or the node is at fault, where that is known. */
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

/** What a look at the thing of this name finds. */
export const checkResults = (name: string) => ({
  ok: finding(name, 'ok'),
  warn: finding(name, 'warn'),
  fail: finding(name, 'FAIL'),
})

const START = checkResults('npm start')
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

/** `1.5 s` of milliseconds. */
function secondsText(ms: number): string {
  return `${(Math.abs(ms) / 1000).toFixed(Math.abs(ms) < 10_000 ? 1 : 0)} s`
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const

/** `1.5 GB` of bytes. */
export function bytesText(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return `${(bytes / 1000 ** step).toFixed(step > 0 ? 1 : 0)} ${UNITS[step]}`
}

export interface LaunchFacts {
  readonly folder: string
  /** Files of the folder that are there and cannot be read as what they are. */
  readonly damaged: readonly string[]
  readonly ports: { readonly gateway: number; readonly devnet: number } | null
  /** What runs by dev.json, with whether it does; null where nothing runs by it, or it cannot be read. */
  readonly processes: readonly LaunchedProcess[] | null
}

interface LaunchedProcess {
  readonly name: string
  readonly pid: number
  readonly runs: boolean
  /** By a signal: it runs, and does nothing. */
  readonly isStopped: boolean
}

export function checkLaunch({ folder, damaged, ports, processes }: LaunchFacts): Check[] {
  const broken = damaged.map((file) =>
    START.fail(`${folder}/${file} is damaged`, 'Put back a copy, or begin afresh with "npm start -- --reset".'),
  )
  if (processes === null) return [...broken, START.fail(`nothing runs on ${folder}`, 'Start it: "npm start".')]
  const gone = processes.filter(({ runs }) => !runs)
  const stopped = processes.filter(({ isStopped }) => isStopped)
  for (const { name, pid } of stopped) {
    const [saw, fix] = stoppedText(name, pid).split(': ') as [string, string]
    broken.push(START.fail(saw, fix))
  }
  if (stopped.length > 0 && gone.length === 0) return broken
  const listening = ports === null ? '' : `; ports ${ports.gateway} and ${ports.devnet} (devnet)`
  if (gone.length === 0) return [...broken, START.ok(`runs on ${folder}: ${listed(processes)}${listening}`)]
  return [...broken, START.fail(`does not run: ${listed(gone)}`, `See ${folder}/log; "npm start" begins again.`)]
}

const NODE_CHECKS: readonly string[] = ['node files', 'node http', 'snapshots']

/** What to do about a line where "npm start" runs what is at fault: advice for a node's host is of no use there. */
export function withLaunchFix({ part: at, ...check }: Check, { folder, processes }: LaunchFacts): Check {
  const part = NODE_CHECKS.includes(check.name) ? 'devnet' : at
  if (part === undefined || check.state === 'ok') return check
  const process = processes?.find(({ name, runs }) => name === part && runs)
  if (process === undefined) return { ...check, fix: 'See the line "npm start".' }
  const { pid } = process
  return {
    ...check,
    fix: `It is ${part}, process ${pid}: after "kill -KILL ${pid}" it comes back. ${folder}/log/${part}.log`,
  }
}

/** `kept`: what a start would say, which begins with what is wrong and ends with what to do; null: nothing is kept. */
export function checkStoredState(kept: 'whole' | Error | null): Check[] {
  if (kept === null) return []
  if (kept === 'whole') return [STATE.ok('its tokens and databases are whole')]
  const { message } = kept
  const cut = message.lastIndexOf(': ')
  const cure = message.slice(cut + 2)
  return [STATE.fail(message.slice(0, cut), cure.charAt(0).toUpperCase() + cure.slice(1))]
}

function listed(processes: readonly { readonly name: string; readonly pid: number }[]): string {
  return processes.map(({ name, pid }) => `${name} ${pid}`).join(', ')
}

type Head = Omit<StreamLine, 'text'>

export interface StreamFacts {
  readonly name: StreamName
  readonly state: 'absent' | 'unreadable' | 'there'
  /** Its last line at the first look and at the second; null while it has none. */
  readonly before: Head | null
  readonly after: Head | null
}

export interface FilesFacts {
  readonly folder: string
  readonly state: 'absent' | 'unreadable' | 'there'
  readonly streams: readonly StreamFacts[]
  /** Folders of a node that writes lines one by one. */
  readonly unbatched: readonly string[]
  /** Between the two looks. */
  readonly tookMs: number
  /** Of the second look. */
  readonly nowMs: number
}

const FLAG: Readonly<Partial<Record<StreamName, string>>> = {
  diffs: '--write-raw-book-diffs',
  fills: '--write-fills',
  misc: '--write-misc-events',
}

/** A node that is this late is catching up, or a clock is wrong. */
const NODE_LATE_MS = 2_000

export function checkFiles(facts: FilesFacts): Check[] {
  const { folder, state } = facts
  if (state === 'absent')
    return [FILES.fail(`there is no ${folder}`, '--data is the folder that holds node_fills_by_block and so on.')]
  if (state === 'unreadable')
    return [FILES.fail(`${folder} cannot be read`, 'Let the user that runs the feeder read it.')]
  const missing = facts.streams.flatMap((stream) => checkStream(stream, facts))
  const required = facts.streams.filter(({ name }) => REQUIRED_STREAMS.includes(name))
  const broken = missing.some(({ state }) => state === 'FAIL')
  return broken ? missing : [...missing, ...checkGrowth(required, facts)]
}

function checkStream({ name, state, after }: StreamFacts, { unbatched }: FilesFacts): Check[] {
  const folder = STREAM_FOLDER[name]
  const flag = FLAG[name]
  if (state === 'unreadable')
    return [FILES.fail(`${folder} cannot be read`, 'Let the user that runs the feeder read it.')]
  if (flag === undefined || (state === 'there' && after !== null)) return []
  const plain = folder.replace(/_by_block$/, '')
  if (state === 'absent' && unbatched.includes(plain))
    return [FILES.fail(`${plain} stands there without ${folder}`, 'Run the node with --batch-by-block.')]
  const saw = state === 'absent' ? `there is no ${folder}` : `${folder} holds no line`
  if (REQUIRED_STREAMS.includes(name)) return [FILES.fail(saw, `Run the node with ${flag} --batch-by-block.`)]
  return [FILES.warn(saw, `Without ${flag} transfers and ledger updates are missing.`)]
}

function checkGrowth(streams: readonly StreamFacts[], { tookMs, nowMs }: FilesFacts): Check[] {
  const still = streams.filter(({ before, after }) => before?.height === after?.height)
  const [oldest] = streams.flatMap(({ after }) => after ?? []).sort((a, b) => a.height - b.height)
  if (!oldest) return []
  const ageMs = nowMs - nodeTimeMs(oldest.time)
  if (still.length > 0 && ageMs > NODE_LATE_MS) {
    const names = still.map(({ name }) => STREAM_FOLDER[name]).join(' and ')
    const saw = `no new line in ${names} since block ${oldest.height}, ${secondsText(ageMs)} old`
    return [FILES.fail(saw, "Is the node running? Look at the node's own log.")]
  }
  const blocks = Math.min(...streams.map(({ before, after }) => (after?.height ?? 0) - (before?.height ?? 0)))
  const grown = `at block ${oldest.height}, ${(blocks / (tookMs / 1000)).toFixed(1)} a second`
  if (ageMs > NODE_LATE_MS)
    return [FILES.warn(`${grown}, ${secondsText(ageMs)} old`, 'The node is catching up, or a clock is wrong.')]
  if (ageMs < -NODE_LATE_MS)
    return [
      FILES.warn(
        `${grown}, ${secondsText(ageMs)} in the future`,
        'The clock of this machine is behind: set it by NTP.',
      ),
    ]
  return [FILES.ok(grown)]
}

/** An answer to one request; null where none came, with why. */
export interface HttpFacts {
  readonly url: string
  readonly status: number | null
  readonly text: string
  /** Our clock, half way between question and answer. */
  readonly atMs: number
  readonly tookMs: number
}

export interface SnapshotFacts {
  readonly folder: string
  readonly answer: HttpFacts
  /** Bytes of the file that was asked for; null where there is none. */
  readonly bytes: number | null
  /** Why we cannot write there ourselves; null where we can. */
  readonly unwritable: string | null
}

const SERVE = 'Run the node with --serve-info, and say its address with --info.'

export function checkNode({ url, status, text, atMs }: HttpFacts): Check {
  if (status === null) return NODE.fail(`${url} does not answer: ${text}`, SERVE)
  if (status !== 200) return NODE.fail(`${url} answers exchangeStatus with ${status}: ${text}`, SERVE)
  const timeMs = timeOf(text)
  if (timeMs === null) return NODE.warn(`${url} answers without a time: ${text}`, SERVE)
  const ageMs = atMs - timeMs
  if (Math.abs(ageMs) <= NODE_LATE_MS) return NODE.ok(`${url} answers, ${secondsText(ageMs)} from our clock`)
  const side = ageMs > 0 ? 'behind' : 'ahead of'
  const fix = 'The node stands still or is catching up, or a clock is wrong.'
  return NODE.warn(`${url} answers, ${secondsText(ageMs)} ${side} our clock`, fix)
}

function timeOf(text: string): number | null {
  const time = (parseJson(text) as { readonly time?: unknown } | null | undefined)?.time
  return typeof time === 'number' ? time : null
}

export function checkSnapshot({ folder, answer, bytes, unwritable }: SnapshotFacts): Check {
  const { status, text, tookMs } = answer
  const both = 'The node and the feeder must both be able to write there: choose it with --snapshot-dir.'
  if (unwritable !== null) return SNAPSHOTS.fail(`${folder} cannot be written: ${unwritable}`, both)
  if (status === null)
    return SNAPSHOTS.warn(
      `none within ${secondsText(tookMs)}: ${text}`,
      `The feeder waits two minutes. Remove ${folder}/doctor.json once it is there.`,
    )
  if (status !== 200) return SNAPSHOTS.fail(`the node answers fileSnapshot with ${status}: ${text}`, both)
  if (bytes === null)
    return SNAPSHOTS.fail(
      `the node says that it wrote into ${folder}, and nothing is there`,
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
/** States in which books are served, or will be without anybody's doing. */
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
/** A feeder that is connected for so long has brought the books, or will not. */
const NEW_MS = 60_000

export function checkStatus({ url, status, text, atMs }: HttpFacts, chain: string): Check {
  if (status === null)
    return GATEWAY.fail(
      `${url} does not answer: ${text}`,
      'Is it deployed, or "npm start" running? Say its address with --gateway.',
      'gateway',
    )
  const parsed = Status.safeParse(parseJson(text))
  if (status !== 200 || !parsed.success)
    return GATEWAY.fail(`${url} answers with ${status}, and not as a Weir gateway`, 'Say its address with --gateway.')
  return checkLog(url, parsed.data, chain, atMs)
}

function checkLog(url: string, log: Status, chain: string, atMs: number): Check {
  const { readers, height, lagMs, state, advice } = log
  const feeders = log.feeders.filter(({ connected }) => connected)
  const isNew = ({ sinceMs }: { readonly sinceMs: number }) => atMs - sinceMs < NEW_MS
  const conflict = feeders.find((feeder) => feeder.conflict !== null)
  if (log.chain !== chain)
    return GATEWAY.fail(`${url} is of the chain ${log.chain}, not ${chain}`, 'Say --chain, or another --gateway.')
  if (conflict)
    return GATEWAY.fail(
      `nothing of the feeder ${conflict.name} is taken: ${conflict.conflict}`,
      'See docs/operators/guides/recover.md.',
    )
  if (state !== 'live') {
    const isPassing = TRANSIENT_STATES.includes(state) || (state === 'books_unknown' && feeders.some(isNew))
    return (isPassing ? GATEWAY.warn : GATEWAY.fail)(`${url} answers; the feed is ${state}`, advice, COMPONENT[state])
  }
  if (feeders.length === 0) return GATEWAY.fail(`${url} answers; no feeder is connected`, 'Start one: "npm run feed".')
  if (height === null || lagMs === null)
    return GATEWAY.warn(`${url} answers; its log has no block yet`, 'Look at the line of the feeder.')
  if (!log.booksKnown)
    return GATEWAY.warn(`${url} answers; its books are not known`, 'The feeder needs snapshots of the node.')
  const side = lagMs < -LATE_MS ? 'in the future' : 'late'
  const pinned = log.feedRegion === null ? '' : `, pinned to ${log.feedRegion}`
  const saw = `${url}${pinned} at block ${height}, ${secondsText(lagMs)} ${side}, feeders ${feeders.length}, readers ${readers.length}`
  if (lagMs < -LATE_MS) return GATEWAY.warn(saw, "The clock of the node's host is ahead: set it by NTP.")
  return lagMs > LATE_MS ? GATEWAY.warn(saw, 'See docs/operators/guides/recover.md.') : GATEWAY.ok(saw)
}

/** A token that was not sent, because no header carries it. */
export const invalidToken = (name: string): Check =>
  checkResults(name).fail(`it ${INVALID_TOKEN_MESSAGE}`, 'Nothing was asked with it.')

/** What the statuses mean of `GET /feed` without an upgrade, and of `GET /admin/plans`. */
const TOKENS = {
  'feed token': { variable: 'FEED_TOKEN', path: '/feed', taken: 426 },
  'admin token': { variable: 'ADMIN_TOKEN', path: '/admin', taken: 200 },
} as const

/** The answer to a request with a token; null where none was given, which a feeder's host does without for the admin's. */
export function checkToken(name: keyof typeof TOKENS, answer: HttpFacts | null): Check[] {
  const { variable, path, taken } = TOKENS[name]
  const { ok, warn, fail } = checkResults(name)
  const put = (secret: string) => `"npm run wrangler -- secret put ${secret}"`
  if (answer === null) return name === 'feed token' ? [warn('not looked at', 'Set FEED_TOKEN in the environment.')] : []
  const { status, text } = answer
  if (status === taken) return [ok('the gateway takes it')]
  if (status === 401) return [fail('the gateway refuses it', `Set ${variable} to the gateway's own.`)]
  if (status === 404)
    return [fail(`the gateway has no ${path}`, `Set its ${variable}, of at least 32 characters: ${put(variable)}.`)]
  if (status === 503 && name === 'admin token')
    return [fail('the gateway answers 503', `Set its KEY_SECRET: ${put('KEY_SECRET')}.`)]
  if (status === null) return [warn(`no answer: ${text}`, 'Try again.')]
  const saw = `the gateway answers with ${status}`
  return [status < 500 ? warn(saw, 'Try again.') : fail(saw, 'Its log says why.', 'gateway')]
}

export interface DiskFacts {
  /** Folders that lie on it, for a person. */
  readonly folders: string
  readonly freeBytes: number
  /** How fast the files of the streams grow there; null where that was not measured. */
  readonly bytesPerHour: number | null
}

const LOW_BYTES = 10e9
const CRITICAL_BYTES = 1e9
const LOW_DAYS = 1

export function checkDisk({ folders, freeBytes, bytesPerHour }: DiskFacts): Check {
  const days = bytesPerHour ? freeBytes / bytesPerHour / 24 : null
  const grow = bytesText(bytesPerHour ?? 0)
  const lasts = days === null ? '' : `; files grow by ${grow} an hour: ${daysText(days)} if nothing is removed`
  const saw = `${bytesText(freeBytes)} free for ${folders}${lasts}`
  const fix = 'Make room: remove old hourly files of the node.'
  if (freeBytes < CRITICAL_BYTES) return DISK.fail(saw, fix)
  return freeBytes < LOW_BYTES || (days !== null && days < LOW_DAYS) ? DISK.warn(saw, fix) : DISK.ok(saw)
}

const daysText = (days: number) =>
  days < 2 ? `${Math.floor(days * 24)} hours` : `${Math.min(9999, Math.floor(days))} days`
