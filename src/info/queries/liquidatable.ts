// liquidatable: accounts that can be liquidated now, normally none. Same response as the exchange's API. The entries
// are undocumented; their fields come from the types of one client.

import * as z from 'zod'
import { kindsByKey } from '../../core/open-kinds.ts'
import { Address } from '../../protocol/feed/block.ts'
import { USER } from '../../protocol/info/examples.ts'
import { bareQuery } from '../sources/pass-through.ts'

const Liquidatable = () =>
  z.looseObject({
    user: Address,
    positionIndex: kindsByKey({ isolated: z.looseObject({ asset: z.int().describe('Asset index') }) }).describe(
      'Position selector',
    ),
    marginAvailable: z
      .tuple([z.number().describe('Remaining margin, negative'), z.number().describe('Remaining margin, negative')])
      .describe('Remaining margin, negative'),
  })

const EXAMPLE = { user: USER, positionIndex: { isolated: { asset: 4 } }, marginAvailable: [-12.5, -12.5] }

export const liquidatable = bareQuery({
  type: 'liquidatable',
  summary: 'Accounts that can be liquidated now',
  example: [EXAMPLE],
  response: () => z.array(Liquidatable()),
  freshness: { class: 'block', freshMs: 500 },
})
