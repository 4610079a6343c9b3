// userRole: role of an address: user, agent, vault, sub-account or missing. For agents and sub-accounts `data` names
// the main wallet. Same response as the exchange's API.

import * as z from 'zod'
import { kindsBy } from '../../core/open-kinds.ts'
import { Address } from '../../protocol/feed/block.ts'
import { OTHER_USER } from '../../protocol/info/examples.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const userRole = ofUserQuery({
  type: 'userRole',
  summary: 'Role of an address',
  example: { role: 'agent', data: { user: OTHER_USER } },
  response: () =>
    kindsBy('role', {
      missing: {},
      user: {},
      vault: {},
      agent: { data: z.looseObject({ user: Address }) },
      subAccount: { data: z.looseObject({ master: Address }) },
    }),
})
