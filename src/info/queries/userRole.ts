// userRole: what an address is: user, agent, vault, sub-account or missing; an agent and a sub-account name theirs in
// `data`. Wire-equal.

import * as z from 'zod'
import { kindsBy } from '../../core/open-kinds.ts'
import { Address } from '../../protocol/feed/block.ts'
import { OTHER_USER, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const userRole = passThroughQuery({
  type: 'userRole',
  summary: 'What an address is',
  example: { request: { user: USER }, response: { role: 'agent', data: { user: OTHER_USER } } },
  request: z.object({ type: z.literal('userRole'), user: UserAddress }),
  response: kindsBy('role', {
    missing: {},
    user: {},
    vault: {},
    agent: { data: z.looseObject({ user: Address }) },
    subAccount: { data: z.looseObject({ master: Address }) },
  }),
  freshness: { class: 'user' },
})
