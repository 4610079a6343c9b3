// twapStates: the TWAP orders of a user that are at work. No answer lists them but `webData2`, which knows the main DEX and
// spot: another `dex` is refused rather than shown without any.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { USER } from '../../protocol/info/examples.ts'
import { EXAMPLE_TWAP } from '../../protocol/info/twap-shapes.ts'
import { TwapStates } from '../../protocol/info/web-data-shapes.ts'
import { WalletAddress } from '../body-fields.ts'
import { userStateChannel } from '../states/user-state.ts'

const TYPE = 'twapStates'

export const twapStates = userStateChannel({
  type: TYPE,
  summary: 'The TWAP orders of a user that are at work',
  request: z.strictObject({
    type: z.literal(TYPE),
    user: WalletAddress,
    dex: z.literal('', 'must be empty or left out: TWAP orders of other DEXes are not listed anywhere').default(''),
  }),
  data: z.object({ dex: z.string(), user: Address, states: TwapStates.describe('Active TWAP orders') }),
  example: { request: { user: USER, dex: '' }, data: { dex: '', user: USER, states: [[3, EXAMPLE_TWAP]] } },
  ask: ({ user }) => ({ type: 'webData2', user }),
  show: ({ user, dex }, { value }) =>
    JSON.stringify({ dex, user, states: (value as { twapStates: unknown[] }).twapStates }),
})
