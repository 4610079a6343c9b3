// webData2: a user's account and the markets of the main DEX in one answer, as the exchange's own pages once asked for it; it
// is deprecated there. Wire-equal.

import * as z from 'zod'
import { USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { EXAMPLE_WEB_DATA, WebData2 } from '../../protocol/info/web-data-shapes.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const webData2 = passThroughQuery({
  type: 'webData2',
  summary: "A user's account and the markets in one answer (deprecated)",
  example: { request: { user: USER }, response: EXAMPLE_WEB_DATA },
  request: z.object({ type: z.literal('webData2'), user: UserAddress }),
  response: WebData2,
  freshness: { class: 'user' },
})
