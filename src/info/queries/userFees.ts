// userFees: the fee schedule, a user's own rates and recent volume by day. Wire-equal.

import * as z from 'zod'
import { kindsBy } from '../../core/open-kinds.ts'
import { Address } from '../../feed/block.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { Decimal } from '../shapes/common-shapes.ts'
import { USER } from '../shapes/examples.ts'
import { UserAddress } from '../shapes/request-fields.ts'
import { passThrough } from '../sources/pass-through.ts'

const UserFeesRequest = z.object({ type: z.literal('userFees'), user: UserAddress })

const StakingDiscount = z.looseObject({ bpsOfMaxSupply: Decimal, discount: Decimal })

/** Whose stake lowers whose fees: told to the trading user, asked for or granted, or to the staking one. */
const StakingLink = kindsBy('type', {
  requested: { stakingUser: Address },
  tradingUser: { stakingUser: Address },
  stakingUser: { tradingUser: Address },
})

const UserFees = z.looseObject({
  dailyUserVlm: z.array(z.looseObject({ date: z.string(), userCross: Decimal, userAdd: Decimal, exchange: Decimal })),
  feeSchedule: z.looseObject({
    cross: Decimal,
    add: Decimal,
    spotCross: Decimal,
    spotAdd: Decimal,
    tiers: z.looseObject({
      vip: z.array(
        z.looseObject({ ntlCutoff: Decimal, cross: Decimal, add: Decimal, spotCross: Decimal, spotAdd: Decimal }),
      ),
      mm: z.array(z.looseObject({ makerFractionCutoff: Decimal, add: Decimal })),
    }),
    referralDiscount: Decimal,
    stakingDiscountTiers: z.array(StakingDiscount),
  }),
  userCrossRate: Decimal,
  userAddRate: Decimal,
  userSpotCrossRate: Decimal,
  userSpotAddRate: Decimal,
  activeReferralDiscount: Decimal,
  /** No answer with one is known. */
  trial: z.unknown(),
  /** Called `feeTrialReward` before. */
  feeTrialEscrow: Decimal.optional(),
  feeTrialReward: Decimal.optional(),
  nextTrialAvailableTimestamp: z.int().nullable(),
  stakingLink: StakingLink.nullable(),
  activeStakingDiscount: StakingDiscount,
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

export const userFees = defineQuery({
  type: 'userFees',
  summary: 'Fee rates and recent volume of a user',
  example: { request: { user: USER }, response: EXAMPLE },
  request: UserFeesRequest,
  response: UserFees,
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
