// webData2: a user's account and the markets of the main DEX in one frame. The public server serves it no more; SDKs still
// ask for it.

import * as z from 'zod'
import { USER } from '../../protocol/info/examples.ts'
import { EXAMPLE_WEB_DATA, WebData2 } from '../../protocol/info/web-data-shapes.ts'
import { WalletAddress } from '../body-fields.ts'
import { userStateChannel } from '../states/user-state.ts'

const TYPE = 'webData2'

export const webData2 = userStateChannel({
  type: TYPE,
  summary: "A user's account and the markets in one frame (deprecated)",
  request: z.strictObject({ type: z.literal(TYPE), user: WalletAddress }),
  data: WebData2,
  example: { request: { user: USER }, data: EXAMPLE_WEB_DATA },
  ask: ({ user }) => ({ type: TYPE, user }),
  show: (_, { text }) => text,
})
