// Every channel that /ws serves. Adding one is one file in channels/ and one line here.

import type { Issue } from '../core/failure.ts'
import { nearestName } from '../core/nearest.ts'
import { err, ok, type Result } from '../core/result.ts'
import { parseWith } from '../core/schema-words.ts'
import type { AnyChannel, Wanted } from './channel.ts'
import { activeAssetCtx } from './channels/activeAssetCtx.ts'
import { activeAssetData } from './channels/activeAssetData.ts'
import { allDexsAssetCtxs } from './channels/allDexsAssetCtxs.ts'
import { allDexsClearinghouseState } from './channels/allDexsClearinghouseState.ts'
import { allFills } from './channels/allFills.ts'
import { allMids } from './channels/allMids.ts'
import { assetCtxs } from './channels/assetCtxs.ts'
import { bbo } from './channels/bbo.ts'
import { builderFills } from './channels/builderFills.ts'
import { builderLiquidations } from './channels/builderLiquidations.ts'
import { candle } from './channels/candle.ts'
import { clearinghouseState } from './channels/clearinghouseState.ts'
import { fastAssetCtxs } from './channels/fastAssetCtxs.ts'
import { l2Book } from './channels/l2Book.ts'
import { l2BookDiff } from './channels/l2BookDiff.ts'
import { l2BookDiff2 } from './channels/l2BookDiff2.ts'
import { l4Book } from './channels/l4Book.ts'
import { liquidationFills } from './channels/liquidationFills.ts'
import { notification } from './channels/notification.ts'
import { openOrders } from './channels/openOrders.ts'
import { orderUpdates } from './channels/orderUpdates.ts'
import { outcomeMetaUpdates } from './channels/outcomeMetaUpdates.ts'
import { spotAssetCtxs } from './channels/spotAssetCtxs.ts'
import { spotState } from './channels/spotState.ts'
import { trades } from './channels/trades.ts'
import { twapStates } from './channels/twapStates.ts'
import { userEvents } from './channels/userEvents.ts'
import { userFills } from './channels/userFills.ts'
import { userFundings } from './channels/userFundings.ts'
import { userHistoricalOrders } from './channels/userHistoricalOrders.ts'
import { userNonFundingLedgerUpdates } from './channels/userNonFundingLedgerUpdates.ts'
import { userTwapHistory } from './channels/userTwapHistory.ts'
import { userTwapSliceFills } from './channels/userTwapSliceFills.ts'
import { webData2 } from './channels/webData2.ts'
import { webData3 } from './channels/webData3.ts'

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
