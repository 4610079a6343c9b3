// The queries that are answered from the state of the exchange, parsed once. Unknown fields are ignored, as on the real
// node. Those that are answered from an example have the schema of their query.

import * as z from 'zod'
import { INTERVALS } from '../../core/candle-interval.ts'

const user = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .toLowerCase()
const dex = z
  .string()
  .max(64)
  .nullish()
  .transform((name) => name ?? '')
const coin = z.string().max(64)
const timeMs = z.int().min(0)
const endTime = timeMs.nullish()
const aggregateByTime = z.boolean().nullish()

/** The queries that take nothing. */
const PLAIN = ['perpDexs', 'allPerpMetas', 'spotMeta', 'spotMetaAndAssetCtxs', 'exchangeStatus', 'outcomeMeta'] as const
/** The queries that take a DEX. */
const OF_DEX = ['meta', 'metaAndAssetCtxs', 'perpsAtOpenInterestCap', 'perpDexLimits', 'allMids'] as const
/** The queries that take a wallet. */
const OF_USER = [
  'spotClearinghouseState',
  'historicalOrders',
  'userTwapSliceFills',
  'userRole',
  'userAbstraction',
  'delegatorHistory',
  'twapHistory',
] as const
/** The queries that take a wallet and a DEX. */
const OF_USER_AND_DEX = ['clearinghouseState', 'openOrders', 'frontendOpenOrders'] as const

/** Addresses come out in lower case, a DEX that is left out as the main one. */
export const StateRequest = z.discriminatedUnion('type', [
  z.object({ type: z.enum(PLAIN) }),
  z.object({ type: z.enum(OF_DEX), dex }),
  z.object({ type: z.enum(OF_USER), user }),
  z.object({ type: z.enum(OF_USER_AND_DEX), user, dex }),
  z.object({ type: z.literal('recentTrades'), coin }),
  z.object({ type: z.literal('activeAssetData'), user, coin }),
  z.object({ type: z.literal('userFunding'), user, startTime: timeMs.nullish(), endTime }),
  z.object({ type: z.literal('marginTable'), id: z.int(), dex }),
  z.object({ type: z.literal('fundingHistory'), coin, startTime: timeMs, endTime }),
  z.object({
    type: z.literal('candleSnapshot'),
    req: z.object({ coin, interval: z.enum(INTERVALS), startTime: timeMs, endTime }),
  }),
  z.object({
    type: z.literal('orderStatus'),
    user,
    oid: z.union([
      z.int().min(0),
      z
        .string()
        .regex(/^0x[0-9a-fA-F]{32}$/)
        .toLowerCase(),
    ]),
  }),
  z.object({ type: z.literal('userFills'), user, aggregateByTime }),
  z.object({
    type: z.literal('userFillsByTime'),
    user,
    startTime: timeMs,
    endTime,
    aggregateByTime,
    reversed: z.boolean().nullish(),
  }),
  z.object({ type: z.literal('userTwapSliceFillsByTime'), user, startTime: timeMs, endTime }),
  z.object({ type: z.literal('userNonFundingLedgerUpdates'), user, startTime: timeMs.nullish(), endTime }),
  z.object({ type: z.literal('maxBuilderFee'), user, builder: user }),
  z.object({
    type: z.literal('l2Book'),
    coin,
    nSigFigs: z.union([z.literal(2), z.literal(3), z.literal(4), z.literal(5)]).nullish(),
    mantissa: z.union([z.literal(1), z.literal(2), z.literal(5)]).nullish(),
  }),
])
export type StateRequest = z.infer<typeof StateRequest>
export type StateType = StateRequest['type']
/** The fields of one query. */
export type RequestOf<T extends StateType, R = StateRequest> = R extends { type: unknown }
  ? T extends R['type']
    ? R
    : never
  : never

/** The node's own query: a file with every resting order. */
export const FileSnapshotRequest = z.object({
  type: z.literal('fileSnapshot'),
  request: z.object({
    type: z.literal('l4Snapshots'),
    includeUsers: z.boolean(),
    includeTriggerOrders: z.boolean(),
  }),
  outPath: z.string().min(1).max(4096),
  includeHeightInOutput: z.boolean(),
})
export type FileSnapshotRequest = z.infer<typeof FileSnapshotRequest>
