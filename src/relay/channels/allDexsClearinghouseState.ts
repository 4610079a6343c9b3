// allDexsClearinghouseState: a user's account on every perp DEX, the main one first.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { PerpState } from '../../protocol/info/common-shapes.ts'
import { PERP_STATE, USER } from '../../protocol/info/examples.ts'
import { WalletAddress } from '../body-fields.ts'
import { userStateChannel } from '../states/user-state.ts'

const TYPE = 'allDexsClearinghouseState'
/** One reading asks for each DEX. */
const EVERY_MS = 9_000
/** The main DEX in the answer, where its wire name is empty. */
const MAIN = 'native'

export const allDexsClearinghouseState = userStateChannel({
  type: TYPE,
  summary: "A user's account on every perp DEX",
  request: z.strictObject({ type: z.literal(TYPE), user: WalletAddress }),
  data: z.object({
    user: Address,
    clearinghouseStates: z
      .array(
        z.tuple([
          z.string().describe('Name of the DEX; empty: main DEX'),
          PerpState.describe('Perp account on that DEX'),
        ]),
      )
      .describe('Perp accounts by DEX'),
  }),
  example: { request: { user: USER }, data: { user: USER, clearinghouseStates: [['', PERP_STATE]] } },
  ask: ({ user }) => ({ type: 'clearinghouseState', user, dex: 'ALL_DEXES' }),
  everyMs: EVERY_MS,
  show: ({ user }, { value }) => {
    const states = Object.entries(value as Readonly<Record<string, object>>)
    // One that is missing would read as no position.
    if (states.some(([, state]) => 'error' in state)) throw new Error('a DEX has not answered')
    return JSON.stringify({ user, clearinghouseStates: states.map(([dex, state]) => [dex === MAIN ? '' : dex, state]) })
  },
})
