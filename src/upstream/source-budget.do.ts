// One object per budgeted source, named `<chain>/<source>`. It alone grants the source's weight.

import { DurableObject } from 'cloudflare:workers'
import { countStart, reportCounters } from '../core/counter-reports.client.ts'
import { migrate } from '../core/migrate.store.ts'
import type { BudgetRequest, BudgetResponse, SourceBudgetApi } from './budget-api.ts'
import { WeightBucket } from './weight-bucket.ts'

export class SourceBudget extends DurableObject<Cloudflare.Env> implements SourceBudgetApi {
  readonly #bucket: WeightBucket

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    countStart('SourceBudget')
    migrate(ctx.storage, ['CREATE TABLE bucket (id INTEGER PRIMARY KEY, micro INTEGER, at INTEGER)'])
    const [row] = ctx.storage.sql.exec<{ micro: number; at: number }>('SELECT micro, at FROM bucket').toArray()
    this.#bucket = new WeightBucket(row === undefined ? null : { micro: row.micro, atMs: row.at })
  }

  async exchange(ask: BudgetRequest): Promise<BudgetResponse> {
    for (const weight of [
      ask.weight ?? 0,
      ask.least,
      ask.need,
      ask.forecast,
      ask.owed,
      ...ask.news.flatMap(({ returned, used }) => [returned, used]),
    ]) {
      if (!Number.isSafeInteger(weight) || weight < 0) throw new Error('weight must be a non-negative integer')
    }
    const answer = this.#bucket.exchange(ask, Date.now())
    // The response is sent only after this write, so that a crash does not make the bucket forget granted weight.
    if (answer.granted > 0 || ask.owed > 0 || ask.news.length > 0) {
      const { micro, atMs } = this.#bucket.stored
      this.ctx.storage.sql.exec('INSERT OR REPLACE INTO bucket (id, micro, at) VALUES (1, ?, ?)', micro, atMs)
    }
    reportCounters(this.ctx, this.env)
    return answer
  }
}
