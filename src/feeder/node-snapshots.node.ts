// Requests order-level snapshots from the node, one at a time and not too often. A thread sends the request and reads
// the file. Its messages are handled here, even while the node already writes the next snapshot.

import { on } from 'node:events'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { programUrl } from '../core/program-url.node.ts'
import { errorMessage } from './node-info.node.ts'
import { removeOrphans } from './orphans.node.ts'
import type { SnapshotTask, SnapshotUse, ThreadMessage } from './snapshot-thread.node.ts'

const THREAD = programUrl(import.meta, 'snapshot-thread')
/** Name of a snapshot file, with the ID of the process that requested it. Such a file has hundreds of megabytes. */
const SNAPSHOT = /^l4-snapshot-(\d+)-\d+\.json$/
/** Memory limit of the thread. Parsing the largest coin takes 100 MB today. */
const THREAD_HEAP_MB = 384
/** Minimum gap between two snapshots, because they cost the node work. */
const MIN_GAP_MS = 1_000
/** The gap doubles after each failure, up to this. */
const MAX_GAP_MS = 15_000

/** How long the node's files may take to reach the height of its snapshot. */
const REACH_MS = 60_000
const CHECK_MS = 50

/** Waits until the node's files contain this height. */
export async function waitForHeight(height: number, signal: AbortSignal, isThere: () => boolean): Promise<void> {
  for (const until = performance.now() + REACH_MS; !isThere(); await sleep(CHECK_MS, undefined, { signal }))
    if (performance.now() > until) throw new Error(`the node's files do not reach its height ${height}`)
}

interface NodeSnapshotsOptions {
  readonly infoUrl: string
  readonly snapshotDir: string
}

/** A thread's messages, and the function that replies to it. */
export interface SnapshotExchange {
  readonly messages: AsyncIterable<Exclude<ThreadMessage, { kind: 'failed' }>>
  reply(value: unknown): void
}

export class NodeSnapshots {
  readonly #options: NodeSnapshotsOptions
  readonly #signal: AbortSignal
  readonly #log: (message: string) => void
  #requests = 0
  /** Number of the request that the node has not answered yet. */
  #pending: number | null = null
  #nextAt = 0
  #gapMs = MIN_GAP_MS
  /** Why the last request failed; null if it succeeded. */
  error: string | null = null

  constructor(options: NodeSnapshotsOptions, signal: AbortSignal, log: (message: string) => void) {
    this.#options = options
    this.#signal = signal
    this.#log = log
  }

  /** True if a snapshot may be requested now. */
  isReady(nowMs: number): boolean {
    return this.#pending === null && nowMs >= this.#nextAt
  }

  /** Requests a snapshot and passes it to `take`. A failure is logged; the result is then null. */
  async read<T>(use: SnapshotUse, take: (talk: SnapshotExchange) => Promise<T>): Promise<T | null> {
    const request = ++this.#requests
    this.#pending = request
    try {
      const result = await this.#readInThread(use, request, take)
      this.error = null
      this.#gapMs = MIN_GAP_MS
      this.#nextAt = Math.max(this.#nextAt, performance.now() + MIN_GAP_MS)
      return result
    } catch (error) {
      if (!this.#signal.aborted)
        this.onFailed(`the node returned no snapshot: ${errorMessage(error)}`, performance.now())
      return null
    } finally {
      this.#onAnswered(request)
    }
  }

  /** Records that a snapshot was useless, and waits longer before the next one. */
  onFailed(error: string, nowMs: number): void {
    if (error !== this.error) this.#log(`${error}; retrying`)
    this.error = error
    this.#gapMs = Math.min(MAX_GAP_MS, this.#gapMs * 2)
    this.#nextAt = nowMs + this.#gapMs
  }

  async #readInThread<T>(use: SnapshotUse, request: number, take: (talk: SnapshotExchange) => Promise<T>): Promise<T> {
    const { infoUrl, snapshotDir } = this.#options
    await mkdir(snapshotDir, { recursive: true })
    await removeOrphans(snapshotDir, SNAPSHOT)
    const path = join(snapshotDir, `l4-snapshot-${process.pid}-${request}.json`)
    const thread = new Worker(THREAD, {
      workerData: { infoUrl, path, use } satisfies SnapshotTask,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
      execArgv: [],
    })
    const stop = () => void thread.terminate()
    this.#signal.addEventListener('abort', stop, { once: true })
    try {
      return await take({ messages: this.#messages(thread, request), reply: (value) => thread.postMessage(value) })
    } finally {
      this.#signal.removeEventListener('abort', stop)
      await thread.terminate()
      await rm(path, { force: true })
    }
  }

  async *#messages(thread: Worker, request: number): SnapshotExchange['messages'] {
    for await (const [message] of on(thread, 'message', { close: ['exit'] }) as AsyncIterable<[ThreadMessage]>) {
      if (message.kind === 'failed') throw new Error(message.sentence)
      if (message.kind === 'height') this.#onAnswered(request)
      yield message
      if (message.kind === 'end') return
    }
    throw new Error('the thread that reads the snapshot ended')
  }

  #onAnswered(request: number): void {
    if (this.#pending !== request) return
    this.#pending = null
    this.#nextAt = Math.max(this.#nextAt, performance.now() + this.#gapMs)
  }
}
