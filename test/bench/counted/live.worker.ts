// The objects as they are; meters also count the rows they write.

import { CreditMeter as RealCreditMeter } from '../../../src/credit/credit-meter.do.ts'

export { BookHub } from '../../../src/book/book-hub.do.ts'
export { BlockLog } from '../../../src/feed/block-log.do.ts'
export { Relay } from '../../../src/stream/relay.do.ts'
export { SourceBudget } from '../../../src/upstream/source-budget.do.ts'

let rowsWritten = 0

export class CreditMeter extends RealCreditMeter {
  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    countRows(ctx.storage)
    super(ctx, env)
  }

  /** Rows that all meters of this process wrote since the last look. */
  takeRowsWritten(): number {
    const rows = rowsWritten
    rowsWritten = 0
    return rows
  }
}

function countRows(storage: DurableObjectStorage): void {
  const { sql } = storage
  const exec = sql.exec.bind(sql)
  const setAlarm = storage.setAlarm.bind(storage)
  sql.exec = ((query: string, ...bindings: unknown[]) => {
    const cursor = exec(query, ...bindings)
    rowsWritten += cursor.rowsWritten
    return cursor
  }) as typeof sql.exec
  storage.setAlarm = (at, options) => {
    rowsWritten++
    return setAlarm(at, options)
  }
}

export default { fetch: () => new Response(null, { status: 404 }) } satisfies ExportedHandler
