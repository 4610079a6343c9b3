// referral: referrer, referred users and referral rewards of a user. `stage` shows what is missing before the user can
// refer others. Amounts outside `tokenToState` are in USDC. Same response as the exchange's API.

import * as z from 'zod'
import { kindsBy } from '../../core/open-kinds.ts'
import { Address } from '../../protocol/feed/block.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { OTHER_USER, TIME } from '../../protocol/info/examples.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

const Rewards = {
  cumVlm: Decimal,
  unclaimedRewards: Decimal,
  claimedRewards: Decimal,
  builderRewards: Decimal.describe('Rewards earned as a builder'),
}
const Earned = { cumVlm: Decimal, cumRewardedFeesSinceReferred: Decimal, cumFeesRewardedToReferrer: Decimal }

/** One row per token index; absent in older responses. */
const byToken = (amounts: Readonly<Record<string, typeof Decimal>>) =>
  z.array(z.tuple([z.int().describe('Token index'), z.looseObject(amounts).describe('State of the token')])).optional()

const Referred = () =>
  z.looseObject({
    ...Earned,
    timeJoined: z.int().describe('Join time, Unix milliseconds'),
    user: Address,
    tokenToState: byToken(Earned),
  })

const Referral = () =>
  z.looseObject({
    referredBy: z
      .looseObject({ referrer: Address, code: z.string() })
      .nullable()
      .describe('Referrer of the user; null: none'),
    ...Rewards,
    referrerState: kindsBy('stage', {
      ready: {
        data: z.looseObject({
          code: z.string(),
          nReferrals: z.int().optional(),
          referralStates: z.array(Referred()),
        }),
      },
      needToCreateCode: {},
      needToTrade: { data: z.looseObject({ required: Decimal }) },
    }),
    rewardHistory: z.array(z.looseObject({ earned: Decimal, vlm: Decimal, referralVlm: Decimal, time: z.int() })),
    tokenToState: byToken(Rewards),
  })

const EARNED = { cumVlm: '960652.5', cumRewardedFeesSinceReferred: '196.838825', cumFeesRewardedToReferrer: '19.68' }
const REWARDS = { cumVlm: '149428.5', unclaimedRewards: '11.05', claimedRewards: '22.74', builderRewards: '0.03' }
const EXAMPLE = {
  referredBy: { referrer: OTHER_USER, code: 'WEIR' },
  ...REWARDS,
  referrerState: {
    stage: 'ready',
    data: {
      code: 'TEST',
      nReferrals: 1,
      referralStates: [{ ...EARNED, timeJoined: TIME, user: OTHER_USER, tokenToState: [[0, EARNED]] }],
    },
  },
  rewardHistory: [{ earned: '1.5', vlm: '100.0', referralVlm: '50.0', time: TIME }],
  tokenToState: [[0, REWARDS]],
}

export const referral = ofUserQuery({
  type: 'referral',
  summary: "A user's referrer, referred users and referral rewards",
  example: EXAMPLE,
  response: Referral,
})
