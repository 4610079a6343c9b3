// webData2: a user's account and the markets of the main DEX in one answer, as the exchange's own pages once asked for it; it
// is deprecated there. Wire-equal.

import * as z from 'zod'
import { USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { EXAMPLE_WEB_DATA, WebData2 } from '../../protocol/info/web-data-shapes.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const WebData2Request = z.object({ type: z.literal('webData2'), user: UserAddress })

export const webData2 = defineQuery({
  type: 'webData2',
  summary: "A user's account and the markets in one answer (deprecated)",
  example: { request: { user: USER }, response: EXAMPLE_WEB_DATA },
  request: WebData2Request,
  response: WebData2,
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
