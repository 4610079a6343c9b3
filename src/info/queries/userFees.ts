// userFees: fee schedule, fee rates of a user and recent volume by day. Same response as the exchange's API.

import * as z from 'zod'
import { kindsBy } from '../../core/open-kinds.ts'
import { Address } from '../../protocol/feed/block.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

const StakingDiscount = () =>
  z.looseObject({
    bpsOfMaxSupply: Decimal.describe('Stake in basis points of the maximum supply'),
    discount: Decimal,
  })

/** Link through which a staking wallet lowers the fees of a trading wallet, seen from either side. */
const StakingLink = () =>
  kindsBy('type', {
    requested: { stakingUser: Address },
    tradingUser: { stakingUser: Address },
    stakingUser: { tradingUser: Address },
  })

const UserFees = () =>
  z.looseObject({
    dailyUserVlm: z.array(
      z.looseObject({
        date: z.string().describe('UTC day'),
        userCross: Decimal.describe('Taker volume of the user'),
        userAdd: Decimal.describe('Maker volume of the user'),
        exchange: Decimal.describe('Volume of the exchange'),
      }),
    ),
    feeSchedule: z.looseObject({
      cross: Decimal.describe('Taker fee as a fraction'),
      add: Decimal.describe('Maker fee as a fraction'),
      spotCross: Decimal.describe('Taker fee on spot'),
      spotAdd: Decimal.describe('Maker fee on spot'),
      tiers: z
        .looseObject({
          vip: z
            .array(
              z.looseObject({
                ntlCutoff: Decimal.describe('Minimum volume'),
                cross: Decimal.describe('Taker fee as a fraction'),
                add: Decimal.describe('Maker fee as a fraction'),
                spotCross: Decimal.describe('Taker fee on spot'),
                spotAdd: Decimal.describe('Maker fee on spot'),
              }),
            )
            .describe('Tiers by volume'),
          mm: z
            .array(
              z.looseObject({
                makerFractionCutoff: Decimal.describe('Minimum fraction of maker volume'),
                add: Decimal.describe('Maker fee as a fraction'),
              }),
            )
            .describe('Tiers by maker share'),
        })
        .describe('Fee tiers'),
      referralDiscount: Decimal,
      stakingDiscountTiers: z.array(StakingDiscount()),
    }),
    userCrossRate: Decimal.describe('Taker fee of the user'),
    userAddRate: Decimal.describe('Maker fee of the user'),
    userSpotCrossRate: Decimal.describe('Taker fee of the user on spot'),
    userSpotAddRate: Decimal.describe('Maker fee of the user on spot'),
    activeReferralDiscount: Decimal,
    /** No response with a value is known. */
    trial: z.unknown().describe('Fee trial; null: none'),
    /** Formerly `feeTrialReward`. */
    feeTrialEscrow: Decimal.optional().describe('Fees held in escrow until a fee trial ends'),
    feeTrialReward: Decimal.optional(),
    nextTrialAvailableTimestamp: z.int().nullable().describe('Start of the next trial'),
    stakingLink: StakingLink().nullable().describe('Link between a staking and a trading wallet; null: none'),
    activeStakingDiscount: StakingDiscount(),
  })

const EXAMPLE = {
  dailyUserVlm: [{ date: '2026-09-23', userCross: '813.07', userAdd: '0.0', exchange: '1000000.0' }],
  feeSchedule: {
    cross: '0.00045',
    add: '0.00015',
    spotCross: '0.0007',
    spotAdd: '0.0004',
    tiers: {
      vip: [{ ntlCutoff: '5000000.0', cross: '0.0004', add: '0.00012', spotCross: '0.0006', spotAdd: '0.0003' }],
      mm: [{ makerFractionCutoff: '0.005', add: '-0.00001' }],
    },
    referralDiscount: '0.04',
    stakingDiscountTiers: [{ bpsOfMaxSupply: '0.0', discount: '0.0' }],
  },
  userCrossRate: '0.00045',
  userAddRate: '0.00015',
  userSpotCrossRate: '0.0007',
  userSpotAddRate: '0.0004',
  activeReferralDiscount: '0.0',
  trial: null,
  feeTrialEscrow: '0.0',
  nextTrialAvailableTimestamp: null,
  stakingLink: null,
  activeStakingDiscount: { bpsOfMaxSupply: '0.0', discount: '0.0' },
}

export const userFees = ofUserQuery({
  type: 'userFees',
  summary: "A user's fee rates and recent volume",
  example: EXAMPLE,
  response: UserFees,
})
