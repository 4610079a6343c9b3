// Every channel that /ws serves. Adding one is one file in channels/ and one line here.

import type { Issue } from '../../core/failure.ts'
import { nearestName } from '../../core/nearest.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { parseWith } from '../../core/schema-words.ts'
import type { AnyChannel, Wanted } from '../channel.ts'
import { activeAssetCtx } from './activeAssetCtx.ts'
import { activeAssetData } from './activeAssetData.ts'
import { allDexsAssetCtxs } from './allDexsAssetCtxs.ts'
import { allDexsClearinghouseState } from './allDexsClearinghouseState.ts'
import { allFills } from './allFills.ts'
import { allMids } from './allMids.ts'
import { assetCtxs } from './assetCtxs.ts'
import { bbo } from './bbo.ts'
import { builderFills } from './builderFills.ts'
import { builderLiquidations } from './builderLiquidations.ts'
import { candle } from './candle.ts'
import { clearinghouseState } from './clearinghouseState.ts'
import { fastAssetCtxs } from './fastAssetCtxs.ts'
import { l2Book } from './l2Book.ts'
import { l2BookDiff } from './l2BookDiff.ts'
import { l2BookDiff2 } from './l2BookDiff2.ts'
import { l4Book } from './l4Book.ts'
import { liquidationFills } from './liquidationFills.ts'
import { notification } from './notification.ts'
import { openOrders } from './openOrders.ts'
import { orderUpdates } from './orderUpdates.ts'
import { outcomeMetaUpdates } from './outcomeMetaUpdates.ts'
import { spotAssetCtxs } from './spotAssetCtxs.ts'
import { spotState } from './spotState.ts'
import { trades } from './trades.ts'
import { twapStates } from './twapStates.ts'
import { userEvents } from './userEvents.ts'
import { userFills } from './userFills.ts'
import { userFundings } from './userFundings.ts'
import { userHistoricalOrders } from './userHistoricalOrders.ts'
import { userNonFundingLedgerUpdates } from './userNonFundingLedgerUpdates.ts'
import { userTwapHistory } from './userTwapHistory.ts'
import { userTwapSliceFills } from './userTwapSliceFills.ts'
import { webData2 } from './webData2.ts'
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
export function readBody(sent: { readonly type: string }): Result<Wanted, Issue> {
  const channel = channelOf(sent.type)
  if (!channel) {
    const types = [...BY_TYPE.keys()]
    const meant = nearestName(sent.type, types)
    const question = meant === undefined ? '' : `; did you mean "${meant}"?`
    return err({ path: 'type', message: `unknown subscription type: use one of ${types.join(', ')}${question}` })
  }
  const body = parseWith<unknown>(channel.request, sent)
  if (!body.ok) return err(ofFrame(body.error[0]))
  return ok({ source: channel.source, channel, body: body.value } as Wanted)
}

/** Fields of a subscribe frame that stand beside the body, by where they are sent. */
const BESIDE: ReadonlyMap<string, string> = new Map([
  ...['method', 'meta', 'fromBlock', 'replay'].map((name) => [name, 'beside "subscription"'] as const),
  ...['fromTime', 'toTime', 'toBlock', 'speed'].map(
    (name) => [name, 'inside "replay", which stands beside "subscription"'] as const,
  ),
])

/** What is wrong with a body, in the frame that holds it. */
function ofFrame({ path, message }: Issue): Issue {
  const place = BESIDE.get(path)
  return place === undefined
    ? { path: path || 'subscription', message }
    : { path, message: `does not belong here: send it ${place}` }
}
