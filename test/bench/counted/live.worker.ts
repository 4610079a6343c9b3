// The objects as they are; meters also count the rows they write.

import { CreditMeter as RealCreditMeter } from '../../../src/credit/credit-meter.do.ts'
import { countRows } from './rows.worker.ts'

export { BookHub } from '../../../src/book/book-hub.do.ts'
export { BlockLog } from '../../../src/feed/block-log.do.ts'
export { Relay } from '../../../src/stream/relay.do.ts'
export { SourceBudget } from '../../../src/upstream/source-budget.do.ts'

let rowsWritten = 0

export class CreditMeter extends RealCreditMeter {
  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    countRows(ctx.storage, (rows) => (rowsWritten += rows))
    super(ctx, env)
  }

  /** Rows that all meters of this process wrote since the last look. */
  takeRowsWritten(): number {
    const rows = rowsWritten
    rowsWritten = 0
    return rows
  }
}

export default { fetch: () => new Response(null, { status: 404 }) } satisfies ExportedHandler
