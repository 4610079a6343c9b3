// userRole: what an address is: user, agent, vault, sub-account or missing; an agent and a sub-account name theirs in
// `data`. Wire-equal.

import * as z from 'zod'
import { kindsBy } from '../../core/open-kinds.ts'
import { Address } from '../../protocol/feed/block.ts'
import { OTHER_USER } from '../../protocol/info/examples.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const userRole = ofUserQuery({
  type: 'userRole',
  summary: 'What an address is',
  example: { role: 'agent', data: { user: OTHER_USER } },
  response: kindsBy('role', {
    missing: {},
    user: {},
    vault: {},
    agent: { data: z.looseObject({ user: Address }) },
    subAccount: { data: z.looseObject({ master: Address }) },
  }),
})
