// vaultDetails: details of one vault, with the follower state of `user` if given; null for an unknown vault. Same
// response as the exchange's API. Shares and rates are JSON numbers here, as on the exchange.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { EXAMPLE_PORTFOLIO, Portfolio, VaultRelationship } from '../../protocol/info/account-shapes.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { OTHER_USER, TIME, USER } from '../../protocol/info/examples.ts'
import { optional, UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

const Follower = () =>
  z.looseObject({
    user: z.union([Address, z.literal('Leader')]),
    vaultEquity: Decimal,
    pnl: Decimal,
    allTimePnl: Decimal,
    daysFollowing: z.int(),
    vaultEntryTime: z.int(),
    lockupUntil: z.int().describe('Locked until, Unix milliseconds'),
  })

const VaultDetails = () =>
  z.looseObject({
    name: z.string(),
    vaultAddress: Address,
    leader: Address,
    description: z.string(),
    portfolio: Portfolio,
    apr: z.number().describe('Yearly return'),
    followerState: Follower().nullable().describe('Follower state of `user`; null: none'),
    leaderFraction: z.number().describe('Leader’s fraction of the vault'),
    leaderCommission: z.number().describe('Leader’s share of profits'),
    followers: z.array(Follower()),
    maxDistributable: z.number(),
    maxWithdrawable: z.number(),
    isClosed: z.boolean(),
    relationship: VaultRelationship.describe('Parent or child vaults'),
    allowDeposits: z.boolean(),
    alwaysCloseOnWithdraw: z.boolean(),
  })

const EXAMPLE = {
  name: 'A vault',
  vaultAddress: OTHER_USER,
  leader: USER,
  description: 'Example vault',
  portfolio: EXAMPLE_PORTFOLIO,
  apr: 0.36,
  followerState: null,
  leaderFraction: 0.5,
  leaderCommission: 0.1,
  followers: [
    {
      user: 'Leader',
      vaultEquity: '1000.0',
      pnl: '0.0',
      allTimePnl: '0.0',
      daysFollowing: 3,
      vaultEntryTime: TIME,
      lockupUntil: TIME,
    },
  ],
  maxDistributable: 500.5,
  maxWithdrawable: 100.5,
  isClosed: false,
  relationship: { type: 'normal' },
  allowDeposits: true,
  alwaysCloseOnWithdraw: false,
}

export const vaultDetails = passThroughQuery({
  type: 'vaultDetails',
  summary: "Details of one vault, with a user's share",
  example: { request: { vaultAddress: OTHER_USER }, response: EXAMPLE },
  request: z.object({
    type: z.literal('vaultDetails'),
    vaultAddress: UserAddress.describe('Vault'),
    user: optional(UserAddress).describe('Follower whose state is included'),
  }),
  response: () => VaultDetails().nullable(),
  freshness: { class: 'user' },
})
