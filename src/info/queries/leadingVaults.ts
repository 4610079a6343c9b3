// leadingVaults: vaults led by a user. Same response as the exchange's API.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { OTHER_USER } from '../../protocol/info/examples.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const leadingVaults = ofUserQuery({
  type: 'leadingVaults',
  summary: 'Vaults led by a user',
  example: [{ address: OTHER_USER, name: 'A vault' }],
  response: () => z.array(z.looseObject({ address: Address, name: z.string() })),
})
