// SqlRunner: runs the SQL of some accounts, one batch at a time. A thin shell: whose turn it is stands in turns.ts, what may run
// in transforms.client.ts. Law: a request is read when it is its turn, so that what waits takes no memory.

import { DurableObject } from 'cloudflare:workers'
import { orReject } from '../../core/deadline.ts'
import { migrate } from '../../core/migrate.store.ts'
import { after, sleep } from '../../core/timers.client.ts'
import { answerText, readCaller, readRequest, type SqlAnswer, type SqlCaller, type SqlWait } from './sql-api.ts'
import { checkTransforms, transformed } from './transforms.client.ts'
import { type StrikeStore, type Strikes, Turns } from './turns.ts'

/** A caller that sends nothing holds up the others. */
const BODY_MS = 5_000
/** Where the clock stands still while SQL runs, at least this many steps are a millisecond. */
const STEPS_A_MS = 20_000

export class SqlRunner extends DurableObject<Cloudflare.Env> {
  readonly #turns: Turns<(refused: SqlWait | null) => void>
  #isRunning = false

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    this.#turns = new Turns(new StrikeRows(ctx.storage))
  }

  override async fetch(request: Request): Promise<Response> {
    const caller = readCaller(request.headers)
    if (!caller.ok) return new Response(caller.error, { status: 400 })
    return new Response(answerText(await this.#answer(caller.value, request)))
  }

  async #answer(caller: SqlCaller, request: Request): Promise<SqlAnswer> {
    const { account, kind } = caller
    if (kind === 'slot' && request.method === 'DELETE') {
      this.#turns.freeSlot(account)
      return { kind: 'rows', texts: [] }
    }
    if (kind === 'batch' || kind === 'test') return this.#inTurn(caller, request)
    const refused = this.#turns.takeSlot(account, Date.now())
    if (refused !== null) return { kind: 'wait', ...refused }
    if (kind === 'slot') return { kind: 'rows', texts: [] }
    return this.#inTurn(caller, request).finally(() => this.#turns.freeSlot(account))
  }

  async #inTurn(caller: SqlCaller, request: Request): Promise<SqlAnswer> {
    const refused = await new Promise<SqlWait | null>((go) => {
      this.#turns.enter(caller, go, Date.now())
      this.#goOn()
    })
    if (refused !== null) return { kind: 'wait', ...refused }
    try {
      return await this.#run(caller, await orReject(request.text(), BODY_MS, after))
    } finally {
      this.#isRunning = false
      this.#goOn()
    }
  }

  #goOn(): void {
    if (!this.#isRunning) this.#isRunning = this.#turns.next(Date.now())
  }

  async #run(caller: SqlCaller, text: string): Promise<SqlAnswer> {
    const { request, rows } = readRequest(text)
    const { transforms, table, defaults } = request
    if (this.#turns.begin(caller, Date.now())) await this.ctx.storage.sync()
    const begunMs = Date.now()
    const { outcome, steps } =
      defaults === null
        ? await checkTransforms(transforms, [table])
        : await transformed(transforms, table, rows, defaults)
    // Lets in who came meanwhile, and the clock go on.
    await sleep(0)
    const cpuMs = Math.max(Date.now() - begunMs, steps / STEPS_A_MS)
    const isOver = !outcome.ok && outcome.error.over !== undefined
    this.#turns.end(caller, cpuMs, isOver, Date.now())
    return outcome.ok ? { kind: 'rows', texts: outcome.value } : { kind: 'fault', ...outcome.error }
  }
}

/** Of a pipeline that has not run since. */
const KEPT_MS = 86_400_000

/** Runs of transforms that exceeded their budget, by pipeline. */
class StrikeRows implements StrikeStore {
  readonly #sql: SqlStorage

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql
    migrate(storage, [
      'CREATE TABLE strikes (pipeline TEXT PRIMARY KEY, count INTEGER NOT NULL, until INTEGER NOT NULL)',
    ])
    this.#sql.exec('DELETE FROM strikes WHERE until < ?', Date.now() - KEPT_MS)
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
