// webData3: a user's settings, and what each perp DEX says of him: put together from the answers that know it. As in
// `subAccounts2`, `abstraction` is left out where it is the default.

import * as z from 'zod'
import { openEnum } from '../../core/open-kinds.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { OTHER_USER, TIME, USER } from '../../protocol/info/examples.ts'
import { ACCOUNT_FIELDS, EXAMPLE_WEB_DATA, LeadingVaults } from '../../protocol/info/web-data-shapes.ts'
import { WalletAddress } from '../body-fields.ts'
import { defineStateChannel, type StateRequest } from '../channel.ts'
import { DEXES_REQUEST, dexNames } from './asset-contexts.ts'
import { USER_STATE_MS } from './user-states.ts'

const TYPE = 'webData3'

/** Settings, and the markets at their cap of open interest, change seldom. */
const SLOW_MS = 60_000

type WebData = Readonly<Record<string, unknown>>

/** Vaults trade on the main DEX, to which their equity belongs. */
const NO_EQUITY = '0.0'

/** What it shows, and no more: the rest is large. */
function accountOf(value: unknown): WebData {
  const { agentAddress, agentValidUntil, cumLedger, serverTime, isVault, user, optOutOfSpotDusting, ...rest } =
    value as WebData
  const { totalVaultEquity, perpsAtOpenInterestCap, leadingVaults } = rest
  return {
    userState: { agentAddress, agentValidUntil, cumLedger, serverTime, isVault, user, optOutOfSpotDusting },
    main: { totalVaultEquity, perpsAtOpenInterestCap, leadingVaults },
  }
}

export const webData3 = defineStateChannel({
  type: TYPE,
  summary: "A user's settings, and what each perp DEX says of him",
  example: {
    request: { user: USER },
    data: {
      userState: {
        agentAddress: OTHER_USER,
        agentValidUntil: TIME,
        cumLedger: '-100.5',
        serverTime: TIME,
        isVault: false,
        user: USER,
        optOutOfSpotDusting: true,
        dexAbstractionEnabled: true,
        abstraction: 'unifiedAccount',
      },
      perpDexStates: [
        {
          totalVaultEquity: '500.5',
          perpsAtOpenInterestCap: ['DOGE'],
          leadingVaults: EXAMPLE_WEB_DATA.leadingVaults,
        },
      ],
    },
  },
  request: z.strictObject({ type: z.literal(TYPE), user: WalletAddress }),
  dataSchema: z.object({
    userState: z.object({
      ...ACCOUNT_FIELDS,
      dexAbstractionEnabled: z.boolean().optional().describe('Whether one balance is shared by all DEXes'),
      abstraction: openEnum('unifiedAccount', 'portfolioMargin', 'disabled', 'dexAbstraction')
        .optional()
        .describe('Account abstraction mode'),
    }),
    /** By index of the DEX. */
    perpDexStates: z
      .array(
        z.object({
          totalVaultEquity: Decimal,
          perpsAtOpenInterestCap: z.array(z.string()).optional().describe('Coins whose open interest is at its cap'),
          leadingVaults: LeadingVaults.optional(),
        }),
      )
      .describe('State of each perp DEX, main DEX first'),
  }),
  requests: ({ user }, names): readonly StateRequest[] => [
    DEXES_REQUEST,
    [{ type: 'webData2', user }, USER_STATE_MS],
    [{ type: 'userDexAbstraction', user }, SLOW_MS],
    [{ type: 'userAbstraction', user }, SLOW_MS],
    ...((names ?? []) as readonly string[]).map((dex) => [{ type: 'perpsAtOpenInterestCap', dex }, SLOW_MS] as const),
  ],
  extract: (answer, { type }): unknown => {
    if (type === 'perpDexs') return dexNames(answer)
    return type === 'webData2' ? accountOf(answer.value) : answer.value
  },
  data: (_, [, account, isDexAbstracted, abstraction, ...caps]) => {
    const { userState, main } = account as { readonly userState: object; readonly main: object }
    return JSON.stringify({
      userState: {
        ...userState,
        dexAbstractionEnabled: isDexAbstracted ?? undefined,
        abstraction: abstraction === 'default' ? undefined : abstraction,
      },
      perpDexStates: [
        main,
        ...caps.map((perpsAtOpenInterestCap) => ({ totalVaultEquity: NO_EQUITY, perpsAtOpenInterestCap })),
      ],
    })
  },
  repeats: true,
})
