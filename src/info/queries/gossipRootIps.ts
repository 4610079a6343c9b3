// gossipRootIps: IP addresses of bootstrap nodes for gossip. Same response as the exchange's API.

import * as z from 'zod'
import { bareQuery } from '../sources/pass-through.ts'

export const gossipRootIps = bareQuery({
  type: 'gossipRootIps',
  summary: 'IP addresses of gossip bootstrap nodes',
  example: ['192.0.2.1'],
  response: () => z.array(z.string()),
  freshness: { class: 'fixed' },
})
