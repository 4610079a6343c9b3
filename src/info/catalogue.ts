// Every type that POST /info serves. Adding one is one file in queries/ and one line here.

import { allMids } from './queries/allMids.ts'
import { allPerpMetas } from './queries/allPerpMetas.ts'
import { batchClearinghouseState } from './queries/batchClearinghouseState.ts'
import { batchSpotClearinghouseState } from './queries/batchSpotClearinghouseState.ts'
import { builderFills } from './queries/builderFills.ts'
import { candleSnapshot } from './queries/candleSnapshot.ts'
import { clearinghouseState } from './queries/clearinghouseState.ts'
import { delegations } from './queries/delegations.ts'
import { delegatorHistory } from './queries/delegatorHistory.ts'
import { delegatorRewards } from './queries/delegatorRewards.ts'
import { delegatorSummary } from './queries/delegatorSummary.ts'
import { exchangeStatus } from './queries/exchangeStatus.ts'
import { extraAgents } from './queries/extraAgents.ts'
import { frontendOpenOrders } from './queries/frontendOpenOrders.ts'
import { fundingHistory } from './queries/fundingHistory.ts'
import { historicalOrders } from './queries/historicalOrders.ts'
import { l2Book } from './queries/l2Book.ts'
import { l2BookDiffSnapshot } from './queries/l2BookDiffSnapshot.ts'
import { leadingVaults } from './queries/leadingVaults.ts'
import { liquidatable } from './queries/liquidatable.ts'
import { marginTable } from './queries/marginTable.ts'
import { maxBuilderFee } from './queries/maxBuilderFee.ts'
import { maxMarketOrderNtls } from './queries/maxMarketOrderNtls.ts'
import { meta } from './queries/meta.ts'
import { metaAndAssetCtxs } from './queries/metaAndAssetCtxs.ts'
import { openOrders } from './queries/openOrders.ts'
import { orderStatus } from './queries/orderStatus.ts'
import { outcomeMeta } from './queries/outcomeMeta.ts'
import { perpDeployAuctionStatus } from './queries/perpDeployAuctionStatus.ts'
import { perpDexLimits } from './queries/perpDexLimits.ts'
import { perpDexs } from './queries/perpDexs.ts'
import { perpsAtOpenInterestCap } from './queries/perpsAtOpenInterestCap.ts'
import { portfolioState } from './queries/portfolioState.ts'
import { spotClearinghouseState } from './queries/spotClearinghouseState.ts'
import { spotDeployState } from './queries/spotDeployState.ts'
import { spotMeta } from './queries/spotMeta.ts'
import { spotMetaAndAssetCtxs } from './queries/spotMetaAndAssetCtxs.ts'
import { subAccounts } from './queries/subAccounts.ts'
import { userAbstraction } from './queries/userAbstraction.ts'
import { userCompletedTrades } from './queries/userCompletedTrades.ts'
import { userCompletedTradesByTime } from './queries/userCompletedTradesByTime.ts'
import { userFees } from './queries/userFees.ts'
import { userFills } from './queries/userFills.ts'
import { userFillsByTime } from './queries/userFillsByTime.ts'
import { userNonFundingLedgerUpdates } from './queries/userNonFundingLedgerUpdates.ts'
import { userPnlSummary } from './queries/userPnlSummary.ts'
import { userRateLimit } from './queries/userRateLimit.ts'
import { userRole } from './queries/userRole.ts'
import { userToMultiSigSigners } from './queries/userToMultiSigSigners.ts'
import { userTwapSliceFills } from './queries/userTwapSliceFills.ts'
import { userTwapSliceFillsByTime } from './queries/userTwapSliceFillsByTime.ts'
import { userVaultEquities } from './queries/userVaultEquities.ts'
import { validatorL1Votes } from './queries/validatorL1Votes.ts'
import { vaultDetails } from './queries/vaultDetails.ts'
import { vaultSummaries } from './queries/vaultSummaries.ts'
import type { AnyQuery } from './query.ts'

export const CATALOGUE: readonly AnyQuery[] = [
  allMids,
  allPerpMetas,
  batchClearinghouseState,
  batchSpotClearinghouseState,
  builderFills,
  candleSnapshot,
  clearinghouseState,
  delegations,
  delegatorHistory,
  delegatorRewards,
  delegatorSummary,
  exchangeStatus,
  extraAgents,
  frontendOpenOrders,
  fundingHistory,
  historicalOrders,
  l2Book,
  l2BookDiffSnapshot,
  leadingVaults,
  liquidatable,
  marginTable,
  maxBuilderFee,
  maxMarketOrderNtls,
  meta,
  metaAndAssetCtxs,
  openOrders,
  orderStatus,
  outcomeMeta,
  perpDeployAuctionStatus,
  perpDexLimits,
  perpDexs,
  perpsAtOpenInterestCap,
  portfolioState,
  spotClearinghouseState,
  spotDeployState,
  spotMeta,
  spotMetaAndAssetCtxs,
  subAccounts,
  userAbstraction,
  userCompletedTrades,
  userCompletedTradesByTime,
  userFees,
  userFills,
  userFillsByTime,
  userNonFundingLedgerUpdates,
  userPnlSummary,
  userRateLimit,
  userRole,
  userToMultiSigSigners,
  userTwapSliceFills,
  userTwapSliceFillsByTime,
  userVaultEquities,
  validatorL1Votes,
  vaultDetails,
  vaultSummaries,
]

// Maps, so that `__proto__` and `constructor` are unknown types like any other.
const BY_TYPE: ReadonlyMap<string, AnyQuery> = new Map(CATALOGUE.map((query) => [query.type, query]))

/** The query of a wire type, undefined where none is served. */
export function queryOf(type: string): AnyQuery | undefined {
  return BY_TYPE.get(type)
}
