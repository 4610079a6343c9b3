// leadingVaults: the vaults that a user leads. Wire-equal.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { OTHER_USER } from '../../protocol/info/examples.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const leadingVaults = ofUserQuery({
  type: 'leadingVaults',
  summary: 'The vaults that a user leads',
  example: [{ address: OTHER_USER, name: 'A vault' }],
  response: z.array(z.looseObject({ address: Address, name: z.string() })),
})
