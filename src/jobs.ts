// Worker 3: the Durable Objects that work in the background. Another script runs in other isolates, so its objects share no
// memory and no thread with those of live.ts, and a deploy closes no socket.

export { Archiver } from './archive/archive/archiver.do.ts'
export { Compactor } from './archive/files/compactor.do.ts'
export { OrderBook } from './order-books/order-book.do.ts'
export { PipelineFollower } from './pipelines/follower/pipeline-follower.do.ts'
export { Sink } from './pipelines/sink/sink.do.ts'

export default {
  fetch: () => new Response('This Worker only hosts Durable Objects. Send requests to the gateway.', { status: 404 }),
} satisfies ExportedHandler
