// approvedBuilders: builders that a user allows to charge fees. Same response as the exchange's API.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { OTHER_USER } from '../../protocol/info/examples.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const approvedBuilders = ofUserQuery({
  type: 'approvedBuilders',
  summary: 'Builders that a user allows to charge fees',
  example: [OTHER_USER],
  response: () => z.array(Address),
})
