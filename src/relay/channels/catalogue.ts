// Every channel that /ws serves. Adding one is a definition in a file of this folder and a line here.

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

/** In the order in which they are listed to people. */
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

/** What the `subscription` object of a frame asks for, or the first field that is wrong and what to send instead. */
export function readBody(sent: { readonly type: string }): Result<Target, Issue> {
  const channel = channelOf(sent.type)
  if (!channel) {
    const types = [...BY_TYPE.keys()]
    const meant = nearestName(sent.type, types)
    const question = meant === undefined ? '' : `; did you mean "${meant}"?`
    return err({ path: 'type', message: `unknown subscription type: use one of ${types.join(', ')}${question}` })
  }
  const body = parseWith<unknown>(channel.request, sent)
  if (!body.ok) return err(toFrameIssue(body.error[0]))
  return ok({ source: channel.source, channel, body: body.value } as Target)
}

/** Fields of a subscribe frame that stand beside the body, by where they are sent. */
const FRAME_LOCATIONS: ReadonlyMap<string, string> = new Map([
  ...['method', 'meta', 'fromBlock', 'replay'].map((name) => [name, 'beside "subscription"'] as const),
  ...['fromTime', 'toTime', 'toBlock', 'speed'].map(
    (name) => [name, 'inside "replay", which stands beside "subscription"'] as const,
  ),
])

/** Moves an error in a body to the field of the whole frame. */
function toFrameIssue({ path, message }: Issue): Issue {
  const place = FRAME_LOCATIONS.get(path)
  return place === undefined
    ? { path: path || 'subscription', message }
    : { path, message: `does not belong here: send it ${place}` }
}
