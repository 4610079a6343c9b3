// userFees: the fee schedule, a user's own rates and recent volume by day. Wire-equal.

import * as z from 'zod'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { Decimal } from '../shapes/common-shapes.ts'
import { USER } from '../shapes/examples.ts'
import { UserAddress } from '../shapes/request-fields.ts'
import { passThrough } from '../sources/pass-through.ts'

const UserFeesRequest = z.object({ type: z.literal('userFees'), user: UserAddress })

const UserFees = z.looseObject({
  dailyUserVlm: z.array(z.looseObject({ date: z.string(), userCross: Decimal, userAdd: Decimal, exchange: Decimal })),
  feeSchedule: z.looseObject({
    cross: Decimal,
    add: Decimal,
    tiers: z.looseObject({ vip: z.array(z.looseObject({})), mm: z.array(z.looseObject({})) }),
  }),
  userCrossRate: Decimal,
  userAddRate: Decimal,
  activeReferralDiscount: Decimal.optional(),
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
