// Asks the node for its order-level snapshot, for whoever needs one: one at a time, and not too often. A thread asks and
// reads; what it says is heard here, and goes on being heard while the node is asked for the next.

import { on } from 'node:events'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { errorMessage } from './node-info.node.ts'
import { removeOrphans } from './orphans.node.ts'
import type { SnapshotTask, SnapshotUse, ThreadMessage } from './snapshot-thread.node.ts'

const THREAD = new URL('./snapshot-thread.node.ts', import.meta.url)
/** What a node wrote for a process, by its id: hundreds of megabytes. */
const SNAPSHOT = /^l4-snapshot-(\d+)-\d+\.json$/
/** The biggest coin of today takes 100 MB to parse. */
const THREAD_HEAP_MB = 384
/** A snapshot costs the node work: not more often than this, whatever the reason. */
const MIN_GAP_MS = 1_000
/** After failures the gap doubles up to this. */
const MAX_GAP_MS = 15_000

/** So long the node's files may need to reach the height of its snapshot. */
const REACH_MS = 60_000
const CHECK_MS = 50

/** Waits until the node's files have this height. */
export async function waitForHeight(height: number, signal: AbortSignal, isThere: () => boolean): Promise<void> {
  for (const until = performance.now() + REACH_MS; !isThere(); await sleep(CHECK_MS, undefined, { signal }))
    if (performance.now() > until) throw new Error(`the node's files do not reach its height ${height}`)
}

interface NodeSnapshotsOptions {
  readonly infoUrl: string
  readonly snapshotDir: string
}

/** What a thread says, and how it is answered. */
export interface SnapshotExchange {
  readonly messages: AsyncIterable<Exclude<ThreadMessage, { kind: 'failed' }>>
  reply(value: unknown): void
}

export class NodeSnapshots {
  readonly #options: NodeSnapshotsOptions
  readonly #signal: AbortSignal
  readonly #log: (sentence: string) => void
  #requests = 0
  /** Number of the asking that the node has not answered yet. */
  #pending: number | null = null
  #nextAt = 0
  #gapMs = MIN_GAP_MS
  /** Why the node gave no snapshot when last asked; null where it did, or was not asked. */
  error: string | null = null

  constructor(options: NodeSnapshotsOptions, signal: AbortSignal, say: (sentence: string) => void) {
    this.#options = options
    this.#signal = signal
    this.#log = say
  }

  /** Whether the node may be asked now. */
  isReady(nowMs: number): boolean {
    return this.#pending === null && nowMs >= this.#nextAt
  }

  /** A snapshot, as far as `take` listens; null where there is none now, which was said. */
  async read<T>(use: SnapshotUse, take: (talk: SnapshotExchange) => Promise<T>): Promise<T | null> {
    const asking = ++this.#requests
    this.#pending = asking
    try {
      const taken = await this.#readInThread(use, asking, take)
      this.error = null
      this.#gapMs = MIN_GAP_MS
      this.#nextAt = Math.max(this.#nextAt, performance.now() + MIN_GAP_MS)
      return taken
    } catch (error) {
      if (!this.#signal.aborted) this.onFailed(`no snapshot from the node: ${errorMessage(error)}`, performance.now())
      return null
    } finally {
      this.#onAnswered(asking)
    }
  }

  /** The snapshot was of no use: the node is left alone for longer. */
  onFailed(trouble: string, nowMs: number): void {
    if (trouble !== this.error) this.#log(`${trouble}: asking again`)
    this.error = trouble
    this.#gapMs = Math.min(MAX_GAP_MS, this.#gapMs * 2)
    this.#nextAt = nowMs + this.#gapMs
  }

  async #readInThread<T>(use: SnapshotUse, asking: number, take: (talk: SnapshotExchange) => Promise<T>): Promise<T> {
    const { infoUrl, snapshotDir } = this.#options
    await mkdir(snapshotDir, { recursive: true })
    await removeOrphans(snapshotDir, SNAPSHOT)
    const path = join(snapshotDir, `l4-snapshot-${process.pid}-${asking}.json`)
    const thread = new Worker(THREAD, {
      workerData: { infoUrl, path, use } satisfies SnapshotTask,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
      execArgv: [],
    })
    const stop = () => void thread.terminate()
    this.#signal.addEventListener('abort', stop, { once: true })
    try {
      return await take({ messages: this.#messages(thread, asking), reply: (value) => thread.postMessage(value) })
    } finally {
      this.#signal.removeEventListener('abort', stop)
      await thread.terminate()
      await rm(path, { force: true })
    }
  }

  async *#messages(thread: Worker, asking: number): SnapshotExchange['messages'] {
    for await (const [words] of on(thread, 'message', { close: ['exit'] }) as AsyncIterable<[ThreadMessage]>) {
      if (words.kind === 'failed') throw new Error(words.sentence)
      if (words.kind === 'height') this.#onAnswered(asking)
      yield words
      if (words.kind === 'end') return
    }
    throw new Error('the thread that reads it ended')
  }

  #onAnswered(asking: number): void {
    if (this.#pending !== asking) return
    this.#pending = null
    this.#nextAt = Math.max(this.#nextAt, performance.now() + this.#gapMs)
  }
}
