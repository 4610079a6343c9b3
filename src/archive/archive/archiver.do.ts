// The Archiver archives the history of a chain, with one object per chain. It is a thin shell around archive-runner.ts.
// Once a minute, a round reads durable blocks from the log, writes them to R2 and D1, and reports its progress to the
// log. Invariants: live traffic never waits for it; failures are retried.

import { DurableObject } from 'cloudflare:workers'
import { backoffMs } from '../../core/backoff.ts'
import { countedStores } from '../../core/counted-stores.client.ts'
import { countStart, reportCounters } from '../../core/counter-reports.client.ts'
import { orReject } from '../../core/deadline.ts'
import { logEvent } from '../../core/log.client.ts'
import { Objects } from '../../core/objects.client.ts'
import { after, inTurns, sleep, takeTurn } from '../../core/timers.client.ts'
import { readVariables } from '../../core/variables.ts'
import { visible } from '../../core/visible.ts'
import type { ArchivedGap } from '../../protocol/feed/archive-api.ts'
import { LOG_API_VERSION } from '../../protocol/feed/log-api.ts'
import type { SkippedHeights } from '../../protocol/feed/status-shape.ts'
import { archiveMemory, MEMORY_RETRY_MS, TASK_BYTES } from '../archive-memory.ts'
import { StoredArchive } from './archive.store.ts'
import { ArchiveDamage, type ArchivedSegment } from './archive-read.ts'
import {
  ArchiveRunner,
  type ArchiveRunnerPorts,
  type ArchiveState,
  EMPTY_ARCHIVE_STATE,
  RETRY,
} from './archive-runner.ts'
import { ArchiveSettings, retentionOf } from './archive-settings.ts'
import { type ArchiveStorage, ArchiveWriter } from './archive-writer.store.ts'
import { BackfillStore } from './backfill.store.ts'
import type { BackfillRequest, BackfillResult } from './backfill-api.ts'
import { type BackfillPorts, BackfillQueue } from './backfill-queue.ts'
import { Retention } from './retention.store.ts'
import type { RemovalTotals, RetentionApi, RetentionDays, RetentionPlan } from './retention.ts'
import { type CheckedBlock, checkedBlock } from './source-check.ts'

const TIMEOUT_MS = 30_000
/** After this time, a lost round is started again. A round is lost if its machine fails, for example. */
const GUARD_MS = 90_000
/** A round that takes longer is assumed to be lost. */
const ROUND_MAX_MS = 600_000
const MAX_MESSAGE_CHARS = 300
const BACKFILL_MEMORY_TRIES = 20
/** An object that is reset during an import never frees its memory. */
const BACKFILL_MAX_MS = 120_000
/** Delay of the report of a repair, so that many requests cause one. */
const REPORT_MS = 5_000

export class Archiver extends DurableObject<Cloudflare.Env> implements RetentionApi {
  readonly #settings: ArchiveSettings
  readonly #objects: Objects
  readonly #runner: ArchiveRunner | null
  readonly #backfillQueue: BackfillQueue | null
  readonly #retention: Retention | null
  readonly #backfill: BackfillStore | null
  /** The newest gaps of the log, as it last returned them. */
  #logGaps: readonly SkippedHeights[] = []
  /** The state of these gaps in the archive; undefined: not known. */
  #gaps: readonly ArchivedGap[] | undefined
  /** True if a round found too little memory. Imports then let it go first. */
  #isRoundWaiting = false
  #failures = 0
  /** True if a notification or an import came during a round, which may have read too early. */
  #hasPendingWake = false

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, countedStores(env))
    countStart('Archiver')
    this.#settings = readVariables(ArchiveSettings, env)
    this.#objects = new Objects(env, this.#settings)
    const { ARCHIVE: bucket, HISTORY: db }: Partial<Cloudflare.Env> = env
    const storage = bucket && db ? { chain: this.#settings.CHAIN, bucket, db } : null
    const retention = storage && new Retention(storage)
    this.#retention = retention
    this.#backfill = storage && new BackfillStore(storage)
    const state = ctx.storage.kv.get<ArchiveState>('state') ?? EMPTY_ARCHIVE_STATE
    const archiving = retention && new ArchiveRunner(this.#ports(new ArchiveWriter(storage), retention), state)
    this.#runner = archiving
    this.#backfillQueue = archiving && new BackfillQueue(this.#backfillPorts(storage, archiving))
  }

  async backfill(request: BackfillRequest): Promise<BackfillResult> {
    if (!this.#backfillQueue) return { refused: 'empty' }
    const release = await this.#reserveForBackfill()
    if (release === null) return { refused: 'busy' }
    const answer = await this.#backfillQueue.write(request).finally(release)
    if ('segments' in answer && answer.segments > 0) {
      this.#wakeCompactor()
      await this.#roundWithin(REPORT_MS)
    }
    return answer
  }

  /** Waits for memory, because a round or a merge takes seconds. Null: there was none. */
  async #reserveForBackfill(): Promise<(() => void) | null> {
    for (let tries = 0; tries < BACKFILL_MEMORY_TRIES; tries++) {
      const release = this.#isRoundWaiting
        ? null
        : archiveMemory.reserve(TASK_BYTES.backfill, Date.now(), BACKFILL_MAX_MS)
      if (release !== null) return release
      await sleep(MEMORY_RETRY_MS)
    }
    return null
  }

  /** The log shows a repair once a round has reported it. A round that runs now may have read the repairs too early. */
  async #roundWithin(ms: number): Promise<void> {
    this.#hasPendingWake = true
    const latest = Date.now() + ms
    const alarm = await this.ctx.storage.getAlarm()
    if (alarm === null || alarm > latest) await this.ctx.storage.setAlarm(latest)
  }

  async wake(): Promise<void> {
    this.#hasPendingWake = true
    await this.ctx.storage.setAlarm(Date.now())
  }

  async overdue(days: Partial<RetentionDays>): Promise<RetentionPlan | null> {
    const kept = retentionOf(this.#settings)
    if (!this.#retention || !this.#runner) return null
    return this.#retention.plan({ ...kept, days: { ...kept.days, ...days } }, retentionClock(this.#runner.state))
  }

  async retain(): Promise<RemovalTotals | null> {
    if (!this.#retention || !this.#runner) return null
    const freed = await this.#retention.removeExpired(
      retentionOf(this.#settings).days,
      retentionClock(this.#runner.state),
    )
    this.#runner.subtractRemoved(freed)
    return freed
  }

  override async alarm(): Promise<void> {
    if (!this.#runner) return
    await this.ctx.storage.setAlarm(Date.now() + GUARD_MS)
    this.#hasPendingWake = false
    const before = this.#runner.state.last
    const nextMs = await this.#round(this.#runner)
    reportCounters(this.ctx, this.env)
    if (this.#runner.state.last !== before) this.#wakeCompactor()
    if (this.#hasPendingWake) await this.ctx.storage.setAlarm(Date.now())
    else if (nextMs === null) await this.ctx.storage.deleteAlarm()
    else await this.ctx.storage.setAlarm(Date.now() + nextMs)
  }

  #wakeCompactor(): void {
    const compactor = this.#objects.compactor()
    this.ctx.waitUntil(compactor.wake().catch(() => undefined))
  }

  async #round(archiving: ArchiveRunner): Promise<number | null> {
    const release = archiveMemory.reserve(TASK_BYTES.round, Date.now(), ROUND_MAX_MS)
    this.#isRoundWaiting = release === null
    if (release === null) return MEMORY_RETRY_MS
    try {
      const nextMs = await archiving.round()
      if (await this.#readGaps()) await this.#page(null, archiving.state)
      this.#failures = 0
      return nextMs
    } catch (error) {
      const message = visible(error instanceof Error ? error.message : String(error)).slice(0, MAX_MESSAGE_CHARS)
      logEvent('archiving_failed', { error })
      archiving.recordFailure(Date.now(), message)
      await this.#readGaps()
      await this.#page(null, archiving.state).catch(() => undefined)
      return backoffMs(RETRY, this.#failures++, Math.random())
    } finally {
      release()
    }
  }

  /** Only `/status` shows them, so a failure changes nothing else. Returns whether a report is due. */
  async #readGaps(): Promise<boolean> {
    const before = JSON.stringify(this.#gaps)
    const read = this.#backfill?.gapsOf(this.#logGaps) ?? Promise.resolve([])
    this.#gaps = await withTimeout(read).catch(() => undefined)
    return JSON.stringify(this.#gaps) !== before
  }

  #ports(writer: ArchiveWriter, retention: Retention): ArchiveRunnerPorts {
    const { BOOK_HUBS } = this.#settings
    return {
      page: (from, state) => this.#page(from, state),
      putSegment: (cut) => withTimeout(writer.putSegment(cut)),
      putCheckpoint: (books) => withTimeout(writer.putCheckpoint(books)),
      putGap: (gap) => withTimeout(writer.putGap(gap, Date.now())),
      lastBlock: () => withTimeout(writer.lastBlock()),
      hubs: BOOK_HUBS,
      hubBooks: (hub, from) => withTimeout(this.#objects.hub(hub).books(from)),
      trim: (state) => withTimeout(retention.trim(retentionOf(this.#settings), state, retentionClock(state))),
      save: (state) => this.ctx.storage.kv.put('state', state),
    }
  }

  #backfillPorts(storage: ArchiveStorage, archiving: ArchiveRunner): BackfillPorts {
    const store = new BackfillStore(storage)
    const archive = new StoredArchive(storage)
    const writer = new ArchiveWriter(storage)
    const { chain } = storage
    return {
      last: async () => (await withTimeout(writer.lastBlock()))?.height ?? null,
      neighbors: (first, last) => withTimeout(store.neighbors(first, last)),
      blocks: (segment) => withTimeout(blocksOf(archive, { chain, ...segment })),
      uploaded: (height, sha256) => withTimeout(store.uploaded(height, sha256)),
      write: (segments, around, origin) => {
        const ending = new AbortController()
        const request = { ...origin, nowMs: Date.now(), signal: ending.signal }
        return withTimeout(store.write(segments, around, request)).finally(() => ending.abort())
      },
      get bytes() {
        return archiving.state.bytes
      },
      maxBytes: this.#settings.ARCHIVE_KEEP_MB,
      inTurns,
      addWritten: (segments, bytes) => archiving.addWritten(segments, bytes),
    }
  }

  async #page(from: number | null, { last, segments, checkpoint, failure }: ArchiveState) {
    const at = checkpoint && { height: checkpoint.height, time: checkpoint.time }
    const report = { last, segments, checkpoint: at, failure, ...(this.#gaps && { gaps: this.#gaps }) }
    const request = { v: LOG_API_VERSION, archived: last?.height ?? null, from, report }
    const page = await withTimeout(this.#objects.log().archive(request))
    this.#logGaps = page.gaps ?? []
    return page
  }
}

/** The blocks of a segment; empty if they were removed or are damaged. Only what is compared stays in memory. */
async function blocksOf(archive: StoredArchive, segment: ArchivedSegment): Promise<readonly CheckedBlock[]> {
  const blocks: CheckedBlock[] = []
  try {
    for await (const line of archive.lines(segment, 'events')) {
      blocks.push(checkedBlock(line))
      await takeTurn(line.length)
    }
  } catch (error) {
    if (!(error instanceof ArchiveDamage)) throw error
  }
  return blocks
}

const retentionClock = ({ last }: ArchiveState) => ({ nowMs: Date.now(), newestMs: last?.time ?? 0 })

const withTimeout = <T>(work: Promise<T>): Promise<T> => orReject(work, TIMEOUT_MS, after)
