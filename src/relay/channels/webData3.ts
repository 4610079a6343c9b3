// webData3: a user's settings and state on each perp DEX, combined from several info responses. A default `abstraction`
// is omitted, as in `subAccounts2`.

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

/** Settings, and markets at their open-interest cap, rarely change. */
const SLOW_MS = 60_000

type WebData = Readonly<Record<string, unknown>>

/** Vaults trade on the main DEX, so all vault equity belongs to it. */
const NO_EQUITY = '0.0'

/** Keeps only the needed fields, because the rest is large. */
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
  summary: "A user's settings, and the state on each perp DEX",
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
      dexAbstractionEnabled: z.boolean().optional().describe('Whether all DEXes share one balance'),
      abstraction: openEnum('unifiedAccount', 'portfolioMargin', 'disabled', 'dexAbstraction')
        .optional()
        .describe('Account abstraction mode'),
    }),
    /** Indexed by DEX. */
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
  extract: (response, { type }): unknown => {
    if (type === 'perpDexs') return dexNames(response)
    return type === 'webData2' ? accountOf(response.value) : response.value
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
