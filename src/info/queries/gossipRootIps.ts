// gossipRootIps: nodes that others may begin to gossip with. Wire-equal.

import * as z from 'zod'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const GossipRootIpsRequest = z.object({ type: z.literal('gossipRootIps') })

export const gossipRootIps = defineQuery({
  type: 'gossipRootIps',
  summary: 'Addresses of nodes to begin gossiping with',
  example: { request: {}, response: ['192.0.2.1'] },
  request: GossipRootIpsRequest,
  response: z.array(z.string()),
  price: ONE_CREDIT,
  freshness: { class: 'fixed' },
  needs: ['upstream'],
  resolve: passThrough,
})
