// vaultDetails: one vault, with the follower state of `user` where given; null for an unknown vault. Wire-equal: here the
// exchange answers shares and rates as JSON numbers.

import * as z from 'zod'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { Decimal } from '../shapes/common-shapes.ts'
import { OTHER_USER, USER } from '../shapes/examples.ts'
import { EXAMPLE_PORTFOLIO, Portfolio } from '../shapes/portfolio-shapes.ts'
import { optional, UserAddress } from '../shapes/request-fields.ts'
import { VaultRelationship } from '../shapes/vault-shapes.ts'
import { passThrough } from '../sources/pass-through.ts'

const VaultDetailsRequest = z.object({
  type: z.literal('vaultDetails'),
  vaultAddress: UserAddress,
  user: optional(UserAddress),
})

const VaultDetails = z.looseObject({
  name: z.string(),
  vaultAddress: z.string(),
  leader: z.string(),
  description: z.string(),
  portfolio: Portfolio,
  apr: z.number(),
  followerState: z.looseObject({}).nullable(),
  leaderFraction: z.number(),
  leaderCommission: z.number(),
  followers: z.array(z.looseObject({ user: z.string(), vaultEquity: Decimal, pnl: Decimal })),
  maxDistributable: z.number(),
  maxWithdrawable: z.number(),
  isClosed: z.boolean(),
  relationship: VaultRelationship,
  allowDeposits: z.boolean(),
  alwaysCloseOnWithdraw: z.boolean().optional(),
})

const EXAMPLE = {
  name: 'A vault',
  vaultAddress: OTHER_USER,
  leader: USER,
  description: 'Holds what it has',
  portfolio: EXAMPLE_PORTFOLIO,
  apr: 0.36,
  followerState: null,
  leaderFraction: 0.5,
  leaderCommission: 0.1,
  followers: [{ user: 'Leader', vaultEquity: '1000.0', pnl: '0.0', allTimePnl: '0.0', daysFollowing: 3 }],
  maxDistributable: 500.5,
  maxWithdrawable: 100,
  isClosed: false,
  relationship: { type: 'normal' },
  allowDeposits: true,
  alwaysCloseOnWithdraw: false,
}

export const vaultDetails = defineQuery({
  type: 'vaultDetails',
  summary: 'One vault, and the part of a user in it',
  example: { request: { vaultAddress: OTHER_USER }, response: EXAMPLE },
  request: VaultDetailsRequest,
  response: VaultDetails.nullable(),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
