// Archiver: the truth of the history, one per chain. A thin shell around archiving.ts: it reads what is durable out of the
// log, a round a minute, writes it into R2 and D1, and tells the log how far it is. Law: nobody who is served live waits for
// it, and whatever fails is tried again.

import { DurableObject } from 'cloudflare:workers'
import { backoffMs } from '../../core/backoff.ts'
import { orReject } from '../../core/deadline.ts'
import { Objects } from '../../core/objects.client.ts'
import { after } from '../../core/timers.client.ts'
import { readVariables } from '../../core/variables.ts'
import { visible } from '../../core/visible.ts'
import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import { LOG_API_VERSION } from '../../protocol/feed/log-api.ts'
import { ArchiveSettings, keptOf } from './archive-settings.ts'
import { ArchiveWriter } from './archive-writer.store.ts'
import { type ArchiveState, Archiving, type ArchivingPorts, NOTHING_ARCHIVED, RETRY } from './archiving.ts'
import { BackfillStore } from './backfill.store.ts'
import type { BackfillAnswer, BackfillRequest } from './backfill-api.ts'
import { Backfilling, type BackfillPorts } from './backfilling.ts'
import { Retention } from './retention.store.ts'
import type { Freed, KeptDays, RetentionApi, RetentionPlan } from './retention.ts'

/** A write or an answer that takes longer has failed. */
const PATIENCE_MS = 30_000
/** A round that ends without a word, such as with its machine, is begun again after this time. */
const GUARD_MS = 90_000
const WORDS_MOST = 300

export class Archiver extends DurableObject<Cloudflare.Env> implements RetentionApi {
  readonly #settings: ArchiveSettings
  readonly #objects: Objects
  readonly #archiving: Archiving | null
  readonly #backfilling: Backfilling | null
  readonly #retention: Retention | null
  #failures = 0
  /** Waked amid a round, which may have read before what it was waked for. */
  #isWaked = false

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    this.#settings = readVariables(ArchiveSettings, env)
    this.#objects = new Objects(env, this.#settings)
    const { ARCHIVE: bucket, HISTORY: db }: Partial<Cloudflare.Env> = env
    const place = bucket && db ? { chain: this.#settings.CHAIN, bucket, db } : null
    const retention = place && new Retention(place)
    this.#retention = retention
    const state = ctx.storage.kv.get<ArchiveState>('state') ?? NOTHING_ARCHIVED
    const archiving = retention && new Archiving(this.#ports(new ArchiveWriter(place), retention), state)
    this.#archiving = archiving
    this.#backfilling = archiving && new Backfilling(this.#backfillPorts(new BackfillStore(place), archiving))
  }

  async backfill({ blocks }: BackfillRequest): Promise<BackfillAnswer> {
    if (!this.#backfilling) return { refused: 'empty' }
    const answer = await this.#backfilling.take(blocks)
    if ('segments' in answer && answer.segments > 0) this.#wakeCompactor()
    return answer
  }

  async wake(): Promise<void> {
    this.#isWaked = true
    await this.ctx.storage.setAlarm(Date.now())
  }

  async overdue(days: Partial<KeptDays>): Promise<RetentionPlan | null> {
    const kept = keptOf(this.#settings)
    if (!this.#retention || !this.#archiving) return null
    return this.#retention.plan({ ...kept, days: { ...kept.days, ...days } }, agesOf(this.#archiving.state))
  }

  async retain(): Promise<Freed | null> {
    if (!this.#retention || !this.#archiving) return null
    const freed = await this.#retention.turn(keptOf(this.#settings).days, agesOf(this.#archiving.state))
    this.#archiving.freed(freed)
    return freed
  }

  override async alarm(): Promise<void> {
    if (!this.#archiving) return
    await this.ctx.storage.setAlarm(Date.now() + GUARD_MS)
    this.#isWaked = false
    const before = this.#archiving.state.last
    const nextMs = await this.#round(this.#archiving)
    if (this.#archiving.state.last !== before) this.#wakeCompactor()
    if (this.#isWaked) await this.ctx.storage.setAlarm(Date.now())
    else if (nextMs === null) await this.ctx.storage.deleteAlarm()
    else await this.ctx.storage.setAlarm(Date.now() + nextMs)
  }

  #wakeCompactor(): void {
    const compactor = this.#objects.compactor()
    this.ctx.waitUntil(compactor.wake().catch(() => undefined))
  }

  async #round(archiving: Archiving): Promise<number | null> {
    try {
      const nextMs = await archiving.round()
      this.#failures = 0
      return nextMs
    } catch (error) {
      const words = visible(error instanceof Error ? error.message : String(error)).slice(0, WORDS_MOST)
      console.warn(`the archive waits: ${words}`)
      archiving.failed(Date.now(), words)
      await this.#page(null, archiving.state).catch(() => undefined)
      return backoffMs(RETRY, this.#failures++, Math.random())
    }
  }

  #ports(writer: ArchiveWriter, retention: Retention): ArchivingPorts {
    const { BOOK_HUBS } = this.#settings
    return {
      page: (from, state) => this.#page(from, state),
      putSegment: (cut) => inTime(writer.segment(cut)),
      putCheckpoint: (books) => inTime(writer.checkpoint(books)),
      putGap: (gap) => inTime(writer.gap(gap)),
      found: () => inTime(writer.found()),
      hubs: BOOK_HUBS,
      hubBooks: (hub, from) => inTime(this.#objects.hub(hub).books(from)),
      trim: (state) => inTime(retention.trim(keptOf(this.#settings), state, agesOf(state))),
      save: (state) => this.ctx.storage.kv.put('state', state),
    }
  }

  #backfillPorts(store: BackfillStore, archiving: Archiving): BackfillPorts {
    // What the log archived first is looked for among all that was backfilled, and only goes up.
    let before: HeightAndTime | null = null
    return {
      before: async () => {
        before ??= await inTime(store.before())
        return before
      },
      around: (first, last) => inTime(store.around(first, last)),
      write: (segments, around) => inTime(store.write(segments, around, Date.now())),
      get bytes() {
        return archiving.state.bytes
      },
      mostBytes: this.#settings.ARCHIVE_KEEP_MB,
      added: (segments, bytes) => archiving.added(segments, bytes),
    }
  }

  #page(from: number | null, { last, segments, checkpoint, failure }: ArchiveState) {
    const at = checkpoint && { height: checkpoint.height, time: checkpoint.time }
    const report = { last, segments, checkpoint: at, failure }
    const request = { v: LOG_API_VERSION, archived: last?.height ?? null, from, report }
    return inTime(this.#objects.log().archive(request))
  }
}

const agesOf = ({ last }: ArchiveState) => ({ nowMs: Date.now(), newestMs: last?.time ?? 0 })

const inTime = <T>(work: Promise<T>): Promise<T> => orReject(work, PATIENCE_MS, after)
