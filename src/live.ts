// Worker 2: the Durable Objects. Deployed rarely, because every deploy resets them and drops their sockets.

export { BookHub } from './book/book-hub.do.ts'
export { OrderBook } from './book/order-book.do.ts'
export { CreditMeter } from './credit/credit-meter.do.ts'
export { BlockLog } from './feed/block-log.do.ts'
export { Archiver } from './history/archive/archiver.do.ts'
export { Compactor } from './history/files/compactor.do.ts'
export { Sink } from './pipeline/sink/sink.do.ts'
export { Relay } from './stream/relay.do.ts'
export { SourceBudget } from './upstream/source-budget.do.ts'

export default {
  fetch: () => new Response('This Worker holds objects; ask the gateway.', { status: 404 }),
} satisfies ExportedHandler
