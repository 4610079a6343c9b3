// A node's data folder: its streams, their heights, and their lines paired by height.

import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { programUrl } from '../core/program-url.node.ts'
import { type PairedBlock, type PairedGap, Pairing } from './pairing.ts'
import type { FileRange } from './resume-point.ts'
import type { FeedSession } from './session.ts'
import { StreamFiles } from './stream-files.node.ts'
import { type ExtraStream, isExtra, REQUIRED_STREAMS, STREAM_FOLDER, STREAMS, type StreamName } from './streams.ts'
import { StreamTail } from './tail.node.ts'

/** A stream is not read further while this many of its characters wait for the other streams. */
const WAITING_MAX_UNITS = 4 * 1024 * 1024

const THREAD = programUrl(import.meta, 'long-line-thread')
/** Memory limit of the thread, enough to parse the longest line, which is 256 MiB. */
const THREAD_HEAP_MB = 2_048

/**
 * Shortens a long line of misc events in a thread. The bytes are transferred to the thread and no longer usable here.
 */
async function shortenInThread(bytes: Uint8Array[]): Promise<string> {
  const thread = new Worker(THREAD, {
    workerData: bytes,
    transferList: bytes.map(({ buffer }) => buffer as ArrayBuffer),
    resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
    execArgv: [],
  })
  const [text] = await once(thread, 'message')
  await thread.terminate()
  return text
}

export class NodeFiles {
  readonly #dataDir: string
  readonly #streams: Readonly<Record<StreamName, StreamFiles>>

  /** `dataDir`: the node's data folder, which contains `node_fills_by_block` and others. */
  constructor(dataDir: string) {
    this.#dataDir = dataDir
    const files = STREAMS.map((name) => [name, new StreamFiles(join(dataDir, STREAM_FOLDER[name]))])
    this.#streams = Object.fromEntries(files) as Record<StreamName, StreamFiles>
  }

  /** Heights that every required stream has; null until each has a line. */
  async range(): Promise<FileRange | null> {
    const linesOf = async (line: 'first' | 'last') => {
      const lines = await Promise.all(REQUIRED_STREAMS.map((name) => this.#streams[name][line]()))
      return lines.filter((one) => one !== null).sort((a, b) => a.height - b.height)
    }
    const firsts = await linesOf('first')
    const [last, ...others] = await linesOf('last')
    if (!last || firsts.length + others.length + 1 < 2 * REQUIRED_STREAMS.length) return null
    const first = Math.max(...firsts.map((line) => line.height))
    return { first, head: Math.max(first, last.height), headTime: last.time }
  }

  /** A sentence that says why range() is null and what to do. */
  async layoutError(): Promise<string> {
    const listing: FolderListing = await readdir(this.#dataDir).then(
      (entries) => ({ entries }),
      (error: NodeJS.ErrnoException) => ({ failed: error.code ?? error.message }),
    )
    const lasts = await Promise.all(REQUIRED_STREAMS.map((name) => this.#streams[name].last()))
    const empty = REQUIRED_STREAMS.filter((_, at) => lasts[at] === null)
    return layoutError(this.#dataDir, listing, empty)
  }

  /** Block time of a height in the files; null if they do not contain it. */
  async timeOf(height: number): Promise<string | null> {
    return (await this.#streams.diffs.headOf(height))?.time ?? null
  }

  /**
   * Required streams, and optional ones whose folder exists. Order statuses, most of the volume, and extra streams are
   * included only if wanted.
   */
  presentStreams(wantsStatuses: boolean, extras: ReadonlySet<ExtraStream> = new Set()): StreamName[] {
    const present: StreamName[] = []
    for (const name of STREAMS) {
      if ((name === 'statuses' && !wantsStatuses) || (isExtra(name) && !extras.has(name))) continue
      if (REQUIRED_STREAMS.includes(name) || this.#streams[name].exists()) present.push(name)
    }
    return present
  }

  /**
   * Reads the streams `names`, starting at height `from`. `passedTime`: time of the previous height, null if unknown.
   */
  open(
    names: readonly StreamName[],
    from: number,
    passedTime: string | null,
    log: (message: string) => void,
  ): NodeReader {
    const tails = new Map<StreamName, StreamTail>()
    for (const name of names) {
      const logLine = (message: string) => log(`${STREAM_FOLDER[name]}: ${message}`)
      tails.set(name, new StreamTail(this.#streams[name], from, logLine, name === 'misc' ? shortenInThread : null))
    }
    return new NodeReader(tails, new Pairing(from, passedTime, names), log)
  }
}

export class NodeReader {
  readonly #tails: ReadonlyMap<StreamName, StreamTail>
  readonly #pairing: Pairing
  readonly #log: (message: string) => void
  /** Set when a line contradicts an earlier one: the node started over. */
  hasStartedOver = false
  /** Lines of optional streams that arrived after their block, except those of extra streams. */
  lateLines = 0
  /** Lines of extra streams that arrived after their block. */
  lateExtraLines = 0

  constructor(tails: ReadonlyMap<StreamName, StreamTail>, pairing: Pairing, log: (message: string) => void) {
    this.#tails = tails
    this.#pairing = pairing
    this.#log = log
  }

  get streams(): StreamName[] {
    return [...this.#tails.keys()]
  }

  /** True while a thread shortens a long line. */
  get isShortening(): boolean {
    return [...this.#tails.values()].some((tail) => tail.isShortening)
  }

  /** Streams that the others wait for. */
  get awaited(): StreamName[] {
    return this.#pairing.awaited
  }

  /** True while late lines wait for the next block. They would be lost with this reader. */
  get hasLateLines(): boolean {
    return this.#pairing.hasLateLines
  }

  /** Reads more of every stream. Returns false if no stream had new data. */
  async pump(nowMs: number): Promise<boolean> {
    let progressed = false
    for (const [name, tail] of this.#tails) {
      if (this.#pairing.waitingUnits(name) > WAITING_MAX_UNITS) continue
      for (const line of await tail.read(nowMs)) {
        const verdict = this.#pairing.push(name, line, nowMs)
        if (verdict === 'started_over') this.hasStartedOver = true
        if (verdict === 'late') this.#reportLate(name, line.height)
      }
      progressed ||= tail.progressed
    }
    const order = Math.max(...REQUIRED_STREAMS.map((name) => this.#tails.get(name)?.order ?? 0))
    for (const [name, tail] of this.#tails) {
      const endedAt = isExtra(name) ? tail.idleAt(order, nowMs) : tail.endedAt(order, nowMs)
      if (endedAt !== null) this.#pairing.onEnd(name, endedAt)
    }
    return progressed
  }

  /** The next block or gap; null while lines are missing. */
  take(): PairedBlock | PairedGap | null {
    const paired = this.#pairing.take()
    if (paired !== 'started_over') return paired
    this.hasStartedOver = true
    return null
  }

  async close(): Promise<void> {
    for (const tail of this.#tails.values()) await tail.close()
  }

  #reportLate(stream: StreamName, height: number): void {
    if (isExtra(stream)) {
      // No block waits for these lines, so some are always late.
      this.lateExtraLines++
      return
    }
    this.lateLines++
    this.#log(
      `${STREAM_FOLDER[stream]}: the line of height ${height} came after its block and is sent with the next one`,
    )
  }
}

/** The node's option that enables each stream. */
const FLAG: Readonly<Record<StreamName, string>> = {
  diffs: '--write-raw-book-diffs',
  fills: '--write-fills',
  misc: '--write-misc-events',
  twaps: '--write-fills',
  statuses: '--write-order-statuses',
  oracle: '--write-hip3-oracle-updates',
  writer: '--write-system-and-core-writer-actions',
}
const FLAGS = REQUIRED_STREAMS.map((name) => FLAG[name]).join(' ')

/** Entries of a data folder, or the system's error code. */
export type FolderListing = { readonly entries: readonly string[] } | { readonly failed: string }

/** `empty`: required streams without a complete line. */
export function layoutError(dataDir: string, listing: FolderListing, empty: readonly StreamName[]): string {
  if ('failed' in listing) return unreadableMessage(dataDir, listing.failed)
  const { entries } = listing
  const has = (name: StreamName) => entries.includes(STREAM_FOLDER[name])
  const unbatched = STREAMS.map((name) => STREAM_FOLDER[name].replace(/_by_block$/, '')).filter((folder) =>
    entries.includes(folder),
  )
  const missing = REQUIRED_STREAMS.filter((name) => !has(name))
  if (missing.length > 0 && unbatched.length > 0)
    return `${dataDir} contains ${unbatched.join(', ')}, whose events are not grouped by block. Run the node with --batch-by-block`
  if (missing.length === REQUIRED_STREAMS.length) {
    const within = entries.includes('data') ? ` It contains a folder named data; perhaps you meant that folder.` : ''
    return `${dataDir} ${entries.length === 0 ? 'is empty' : 'contains no block files'}. Set --data to the node's data folder, and run the node with ${FLAGS} --batch-by-block.${within}`
  }
  if (missing.length > 0)
    return `${dataDir} has no ${missing.map((name) => STREAM_FOLDER[name]).join(', ')}. Run the node with ${missing.map((name) => FLAG[name]).join(' ')}`
  return `no blocks yet in ${empty.map((name) => STREAM_FOLDER[name]).join(', ')} of ${dataDir}. Check that the node is running and in sync with its chain`
}

function unreadableMessage(dataDir: string, code: string): string {
  if (code === 'ENOENT') return `the data folder ${dataDir} does not exist. Set --data to the node's data folder`
  if (code === 'ENOTDIR') return `${dataDir} is a file. Set --data to the node's data folder`
  return `cannot read the data folder ${dataDir} (${code}). Give this user permission to read it`
}

/**
 * How long order statuses are still read after the last reader stopped wanting them, so that repeated interest does not
 * reopen files.
 */
const STATUSES_MS = 60_000

/**
 * Selects the streams to read: those that the node writes, except that order statuses, most of the volume, are read
 * only while they are wanted, and extra streams only if the gateway accepts them.
 */
export class StreamSelection {
  readonly #files: NodeFiles
  readonly #session: FeedSession
  readonly #log: (message: string) => void
  /** When order statuses were last wanted. */
  #lastWantedMs = Number.NEGATIVE_INFINITY
  /** True while order statuses are wanted but the node writes none. */
  #lacksStatuses = false

  constructor(files: NodeFiles, session: FeedSession, log: (message: string) => void) {
    this.#files = files
    this.#session = session
    this.#log = log
  }

  names(nowMs: number): StreamName[] {
    const wantsStatuses = this.#session.wantedWallets.size > 0 || this.#session.l4.coins.size > 0
    if (wantsStatuses) this.#lastWantedMs = nowMs
    const present = this.#files.presentStreams(nowMs - this.#lastWantedMs < STATUSES_MS, this.#session.extras)
    const isMissing = wantsStatuses && !present.includes('statuses')
    if (isMissing && !this.#lacksStatuses)
      this.#log('the gateway wants order statuses, but the node writes none. Run it with --write-order-statuses')
    this.#lacksStatuses = isMissing
    return present
  }
}
