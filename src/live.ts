// Worker 2: the Durable Objects that clients wait for. Deploy it rarely: each deploy resets the objects and drops their sockets.

export { Payer } from './billing/x402/payer.do.ts'
export { BlockLog } from './block-log/block-log.do.ts'
export { StatusCache } from './block-log/status-cache.do.ts'
export { CreditMeter } from './metering/credit-meter.do.ts'
export { Monitor } from './monitor/monitor.do.ts'
export { BookHub } from './order-books/book-hub.do.ts'
export { Relay } from './relay/relay.do.ts'
export { SourceBudget } from './upstream/source-budget.do.ts'

export default {
  fetch: () => new Response('This Worker only hosts Durable Objects. Send requests to the gateway.', { status: 404 }),
} satisfies ExportedHandler
