// The Compactor builds files from the archive, with one object per chain. It is a thin shell around
// compaction.store.ts. The Archiver triggers it after each segment. It stores only its alarm, because progress is in
// D1. Invariants: live traffic never waits for it; failures are retried.

import { DurableObject } from 'cloudflare:workers'
import { backoffMs } from '../../core/backoff.ts'
import { countedStores } from '../../core/counted-stores.client.ts'
import { countStart, reportCounters } from '../../core/counter-reports.client.ts'
import { orReject } from '../../core/deadline.ts'
import { logEvent } from '../../core/log.client.ts'
import { Objects } from '../../core/objects.client.ts'
import { after } from '../../core/timers.client.ts'
import { readVariables } from '../../core/variables.ts'
import { visible } from '../../core/visible.ts'
import type { FilesReport } from '../../protocol/feed/archive-api.ts'
import { LOG_API_VERSION } from '../../protocol/feed/log-api.ts'
import { archiveOf } from '../archive/archive.store.ts'
import { RETRY } from '../archive/archive-runner.ts'
import { ArchiveSettings } from '../archive/archive-settings.ts'
import { archiveMemory, MEMORY_RETRY_MS, TASK_BYTES } from '../archive-memory.ts'
import { Compaction } from './compaction.store.ts'
import { filesOf } from './files.store.ts'
import type { FilesReader } from './files-read.ts'

/** After this time, a lost turn is started again. A turn is lost if its machine fails, for example. */
const GUARD_MS = 90_000
const TURN_TIMEOUT_MS = 60_000
/** A turn that takes longer than this is assumed to be stuck. */
const STUCK_TURN_MS = 600_000
const REPORT_TURNS = 32
const MAX_MESSAGE_CHARS = 300

export class Compactor extends DurableObject<Cloudflare.Env> {
  readonly #compaction: Compaction | null
  readonly #files: FilesReader | null
  readonly #objects: Objects
  #failure: FilesReport['failure'] = null
  #failures = 0
  /** True if a notification arrived during a turn, which may have read the archive too early. */
  #hasPendingWake = false
  /** Start time of the running turn. Turns must not overlap: one could write what the other has removed. */
  #sinceMs: number | null = null
  #turns = 0

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, countedStores(env))
    countStart('Compactor')
    const settings = readVariables(ArchiveSettings, env)
    const { CHAIN: chain } = settings
    this.#objects = new Objects(env, settings)
    this.#files = filesOf(env, chain)
    const { ARCHIVE: bucket, HISTORY: db }: Partial<Cloudflare.Env> = env
    const archive = archiveOf(env, chain)
    const isBounded = settings.ARCHIVE_KEEP_MB !== null
    const storage = bucket && db ? { chain, bucket, db } : null
    const { ARCHIVE_KEEP_FILL_TABLES_DAYS: fillTableDays } = settings
    const options = { now: Date.now, isBounded, fillTableDays }
    this.#compaction = archive && storage && new Compaction(archive, storage, options)
  }

  async wake(): Promise<void> {
    this.#hasPendingWake = true
    await this.ctx.storage.setAlarm(Date.now())
  }

  override async alarm(): Promise<void> {
    if (!this.#compaction) return
    await this.ctx.storage.setAlarm(Date.now() + GUARD_MS)
    this.#hasPendingWake = false
    const nextMs = await this.#turn(this.#compaction)
    reportCounters(this.ctx, this.env)
    if (this.#hasPendingWake) await this.ctx.storage.setAlarm(Date.now())
    else if (nextMs === null) await this.ctx.storage.deleteAlarm()
    else await this.ctx.storage.setAlarm(Date.now() + nextMs)
  }

  /** Returns the delay before the next turn; null if it must wait for work. */
  async #turn(compaction: Compaction): Promise<number | null> {
    const release = archiveMemory.reserve(TASK_BYTES.merge, Date.now(), STUCK_TURN_MS)
    if (release === null) return MEMORY_RETRY_MS
    try {
      const isMore = await withTimeout(this.#runOnce(compaction, release))
      this.#failures = 0
      if (!isMore || ++this.#turns % REPORT_TURNS === 0) await this.#report()
      return isMore ? 0 : null
    } catch (error) {
      const message = visible(error instanceof Error ? error.message : String(error)).slice(0, MAX_MESSAGE_CHARS)
      logEvent('files_failed', { error })
      this.#failure = { atMs: Date.now(), words: message }
      await this.#report().catch(() => undefined)
      return backoffMs(RETRY, this.#failures++, Math.random())
    }
  }

  /** `release` is called when the turn is over, which may be after its timeout. */
  async #runOnce(compaction: Compaction, release: () => void): Promise<boolean> {
    if (this.#sinceMs !== null) {
      release()
      if (Date.now() - this.#sinceMs > STUCK_TURN_MS) this.ctx.abort('A turn of the Compactor is stuck')
      throw new Error('The previous turn is still running')
    }
    this.#sinceMs = Date.now()
    return compaction.turn().finally(() => {
      release()
      this.#sinceMs = null
    })
  }

  async #report(): Promise<void> {
    const cover = await this.#files?.coverage('fills')
    const { from = null, to: last = null, gaps = [] } = cover ?? {}
    const report = { v: LOG_API_VERSION, from, last, gaps: gaps.length, failure: this.#failure }
    await withTimeout(this.#objects.log().files(report))
  }
}

const withTimeout = <T>(work: Promise<T>): Promise<T> => orReject(work, TURN_TIMEOUT_MS, after)
