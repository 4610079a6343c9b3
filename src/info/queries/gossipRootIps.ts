// gossipRootIps: nodes that others may begin to gossip with. Wire-equal.

import * as z from 'zod'
import { passThroughQuery } from '../sources/pass-through.ts'

export const gossipRootIps = passThroughQuery({
  type: 'gossipRootIps',
  summary: 'Addresses of nodes to begin gossiping with',
  example: { request: {}, response: ['192.0.2.1'] },
  request: z.object({ type: z.literal('gossipRootIps') }),
  response: z.array(z.string()),
  freshness: { class: 'fixed' },
})
