// SqlRunner: runs the SQL of some accounts, one batch at a time. Scheduling is in sql-queue.ts, execution in
// transforms.client.ts. Invariant: a request body is read only at its turn, so that queued requests take no memory.

import { DurableObject } from 'cloudflare:workers'
import { orReject } from '../../core/deadline.ts'
import { migrate } from '../../core/migrate.store.ts'
import { after, sleep } from '../../core/timers.client.ts'
import { readCaller, readRequest, responseText, type SqlCaller, type SqlResponse, type SqlWait } from './sql-api.ts'
import { SqlQueue, type StrikeStore, type Strikes } from './sql-queue.ts'
import { checkTransforms, runTransforms } from './transforms.client.ts'

/** A caller that sends nothing would block the others. */
const BODY_TIMEOUT_MS = 5_000
/**
 * Minimum SQLite steps per millisecond, to estimate CPU time on platforms whose clock does not advance during
 * execution.
 */
const STEPS_PER_MS = 20_000

export class SqlRunner extends DurableObject<Cloudflare.Env> {
  readonly #queue: SqlQueue<(refused: SqlWait | null) => void>
  #isRunning = false

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    this.#queue = new SqlQueue(new SqlStrikeStore(ctx.storage))
  }

  override async fetch(request: Request): Promise<Response> {
    const caller = readCaller(request.headers)
    if (!caller.ok) return new Response(caller.error, { status: 400 })
    return new Response(responseText(await this.#respond(caller.value, request)))
  }

  async #respond(caller: SqlCaller, request: Request): Promise<SqlResponse> {
    const { account, kind } = caller
    if (kind === 'slot' && request.method === 'DELETE') {
      this.#queue.releaseSlot(account)
      return { kind: 'rows', texts: [] }
    }
    if (kind === 'batch' || kind === 'test') return this.#runQueued(caller, request)
    const refused = this.#queue.acquireSlot(account, Date.now())
    if (refused !== null) return { kind: 'wait', ...refused }
    if (kind === 'slot') return { kind: 'rows', texts: [] }
    return this.#runQueued(caller, request).finally(() => this.#queue.releaseSlot(account))
  }

  async #runQueued(caller: SqlCaller, request: Request): Promise<SqlResponse> {
    const refused = await new Promise<SqlWait | null>((go) => {
      this.#queue.enqueue(caller, go, Date.now())
      this.#startNext()
    })
    if (refused !== null) return { kind: 'wait', ...refused }
    try {
      return await this.#run(caller, await orReject(request.text(), BODY_TIMEOUT_MS, after))
    } finally {
      this.#isRunning = false
      this.#startNext()
    }
  }

  #startNext(): void {
    if (!this.#isRunning) this.#isRunning = this.#queue.startNext(Date.now())
  }

  async #run(caller: SqlCaller, text: string): Promise<SqlResponse> {
    const { request, rows } = readRequest(text)
    const { transforms, table, defaults } = request
    if (this.#queue.onStart(caller, Date.now())) await this.ctx.storage.sync()
    const begunMs = Date.now()
    const { outcome, steps } =
      defaults === null
        ? await checkTransforms(transforms, [table])
        : await runTransforms(transforms, table, rows, defaults)
    // Accepts queued calls and lets the clock advance.
    await sleep(0)
    const cpuMs = Math.max(Date.now() - begunMs, steps / STEPS_PER_MS)
    const isOver = !outcome.ok && outcome.error.over !== undefined
    this.#queue.onEnd(caller, cpuMs, isOver, Date.now())
    return outcome.ok ? { kind: 'rows', texts: outcome.value } : { kind: 'fault', ...outcome.error }
  }
}

/** Strikes of pipelines that have not run since are deleted. */
const STRIKE_TTL_MS = 86_400_000

/** Strikes per pipeline in SQLite. */
class SqlStrikeStore implements StrikeStore {
  readonly #sql: SqlStorage

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql
    migrate(storage, [
      'CREATE TABLE strikes (pipeline TEXT PRIMARY KEY, count INTEGER NOT NULL, until INTEGER NOT NULL)',
    ])
    this.#sql.exec('DELETE FROM strikes WHERE until < ?', Date.now() - STRIKE_TTL_MS)
  }

  get(pipeline: string): Strikes | null {
    const sql = 'SELECT count, until AS untilMs FROM strikes WHERE pipeline = ?'
    const [row] = this.#sql.exec<{ count: number; untilMs: number }>(sql, pipeline).toArray()
    return row ?? null
  }

  put(pipeline: string, { count, untilMs }: Strikes): void {
    this.#sql.exec('INSERT OR REPLACE INTO strikes (pipeline, count, until) VALUES (?, ?, ?)', pipeline, count, untilMs)
  }

  delete(pipeline: string): void {
    this.#sql.exec('DELETE FROM strikes WHERE pipeline = ?', pipeline)
  }
}
