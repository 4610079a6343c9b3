// gossipRootIps: nodes that others may begin to gossip with. Wire-equal.

import * as z from 'zod'
import { bareQuery } from '../sources/pass-through.ts'

export const gossipRootIps = bareQuery({
  type: 'gossipRootIps',
  summary: 'Addresses of nodes to begin gossiping with',
  example: ['192.0.2.1'],
  response: z.array(z.string()),
  freshness: { class: 'fixed' },
})
