// Every channel that /ws serves. To add one, define it in this folder and list it here.

import type { Issue } from '../../core/failure.ts'
import { nearestName } from '../../core/nearest.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { parseWith } from '../../core/validation-errors.ts'
import type { AnyChannel, Target } from '../channel.ts'
import { activeAssetCtx, allDexsAssetCtxs, assetCtxs, fastAssetCtxs, spotAssetCtxs } from './asset-contexts.ts'
import { allMids, bbo, l2Book } from './book-views.ts'
import { candle } from './candle.ts'
import { allFills, builderFills, builderLiquidations, liquidationFills, userFills } from './fills.ts'
import { l4Book } from './l4Book.ts'
import { l2BookDiff, l2BookDiff2 } from './level-diffs.ts'
import { notification } from './notification.ts'
import { oracleUpdates } from './oracleUpdates.ts'
import { orderUpdates } from './orderUpdates.ts'
import { outcomeMetaUpdates } from './outcomeMetaUpdates.ts'
import { trades } from './trades.ts'
import { userFundings, userTwapHistory, userTwapSliceFills } from './user-rows.ts'
import {
  activeAssetData,
  allDexsClearinghouseState,
  clearinghouseState,
  openOrders,
  spotState,
  twapStates,
  webData2,
} from './user-states.ts'
import { userEvents } from './userEvents.ts'
import { userHistoricalOrders } from './userHistoricalOrders.ts'
import { userNonFundingLedgerUpdates } from './userNonFundingLedgerUpdates.ts'
import { webData3 } from './webData3.ts'
import { writerActions } from './writerActions.ts'

/** In documentation order. */
export const CHANNELS = [
  userFills,
  userNonFundingLedgerUpdates,
  allFills,
  l2BookDiff,
  l2BookDiff2,
  l4Book,
  trades,
  builderFills,
  liquidationFills,
  builderLiquidations,
  userEvents,
  userFundings,
  userTwapSliceFills,
  userTwapHistory,
  notification,
  outcomeMetaUpdates,
  oracleUpdates,
  writerActions,
  orderUpdates,
  l2Book,
  bbo,
  allMids,
  candle,
  clearinghouseState,
  openOrders,
  spotState,
  activeAssetData,
  activeAssetCtx,
  webData2,
  webData3,
  userHistoricalOrders,
  twapStates,
  allDexsClearinghouseState,
  assetCtxs,
  spotAssetCtxs,
  fastAssetCtxs,
  allDexsAssetCtxs,
] as const satisfies readonly AnyChannel[]

const BY_TYPE: ReadonlyMap<string, (typeof CHANNELS)[number]> = new Map(
  CHANNELS.map((channel) => [channel.type, channel]),
)

export function channelOf(type: string): (typeof CHANNELS)[number] | undefined {
  return BY_TYPE.get(type)
}

/** Parses the `subscription` object of a frame. On failure it returns the first invalid field and the fix. */
export function readBody(sent: { readonly type: string }): Result<Target, Issue> {
  const channel = channelOf(sent.type)
  if (!channel) {
    const types = [...BY_TYPE.keys()]
    const nearest = nearestName(sent.type, types)
    const suggestion = nearest === undefined ? '' : ` (did you mean "${nearest}"?)`
    return err({ path: 'type', message: `unknown subscription type${suggestion}. Use one of ${types.join(', ')}` })
  }
  const body = parseWith<unknown>(channel.request, sent)
  if (!body.ok) return err(toFrameIssue(body.error[0]))
  return ok({ source: channel.source, channel, body: body.value } as Target)
}

/** Fields of a subscribe frame that do not belong in the body, with their correct location. */
const FRAME_LOCATIONS: ReadonlyMap<string, string> = new Map([
  ...['method', 'meta', 'fromBlock', 'replay'].map((name) => [name, 'next to "subscription"'] as const),
  ...['fromTime', 'toTime', 'toBlock', 'speed'].map(
    (name) => [name, 'inside "replay", next to "subscription"'] as const,
  ),
])

/** Converts an issue of a body to one of the whole frame. */
function toFrameIssue({ path, message }: Issue): Issue {
  const location = FRAME_LOCATIONS.get(path)
  return location === undefined
    ? { path: path || 'subscription', message }
    : { path, message: `does not belong here. Send it ${location}` }
}
