// Every type that POST /info serves. Adding one is one file in queries/ and one line here.

import { activeAssetData } from './queries/activeAssetData.ts'
import { allBorrowLendReserveStates } from './queries/allBorrowLendReserveStates.ts'
import { allMids } from './queries/allMids.ts'
import { allPerpMetas } from './queries/allPerpMetas.ts'
import { approvedBuilders } from './queries/approvedBuilders.ts'
import { batchClearinghouseState } from './queries/batchClearinghouseState.ts'
import { batchSpotClearinghouseState } from './queries/batchSpotClearinghouseState.ts'
import { borrowLendReserveState } from './queries/borrowLendReserveState.ts'
import { borrowLendUserState } from './queries/borrowLendUserState.ts'
import { builderFills } from './queries/builderFills.ts'
import { builderFillsByTime } from './queries/builderFillsByTime.ts'
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
import { gossipPriorityAuctionStatus } from './queries/gossipPriorityAuctionStatus.ts'
import { gossipRootIps } from './queries/gossipRootIps.ts'
import { historicalOrders } from './queries/historicalOrders.ts'
import { isVip } from './queries/isVip.ts'
import { l2Book } from './queries/l2Book.ts'
import { l2BookDiffSnapshot } from './queries/l2BookDiffSnapshot.ts'
import { leadingVaults } from './queries/leadingVaults.ts'
import { legalCheck } from './queries/legalCheck.ts'
import { liquidatable } from './queries/liquidatable.ts'
import { marginTable } from './queries/marginTable.ts'
import { maxBuilderFee } from './queries/maxBuilderFee.ts'
import { maxMarketOrderNtls } from './queries/maxMarketOrderNtls.ts'
import { meta } from './queries/meta.ts'
import { metaAndAssetCtxs } from './queries/metaAndAssetCtxs.ts'
import { openOrders } from './queries/openOrders.ts'
import { orderStatus } from './queries/orderStatus.ts'
import { outcomeDeployerLimits } from './queries/outcomeDeployerLimits.ts'
import { outcomeMeta } from './queries/outcomeMeta.ts'
import { outcomeTemplates } from './queries/outcomeTemplates.ts'
import { perpAnnotation } from './queries/perpAnnotation.ts'
import { perpCategories } from './queries/perpCategories.ts'
import { perpConciseAnnotations } from './queries/perpConciseAnnotations.ts'
import { perpDeployAuctionStatus } from './queries/perpDeployAuctionStatus.ts'
import { perpDexLimits } from './queries/perpDexLimits.ts'
import { perpDexStatus } from './queries/perpDexStatus.ts'
import { perpDexs } from './queries/perpDexs.ts'
import { perpsAtOpenInterestCap } from './queries/perpsAtOpenInterestCap.ts'
import { portfolio } from './queries/portfolio.ts'
import { portfolioState } from './queries/portfolioState.ts'
import { predictedFundings } from './queries/predictedFundings.ts'
import { preTransferCheck } from './queries/preTransferCheck.ts'
import { recentTrades } from './queries/recentTrades.ts'
import { referral } from './queries/referral.ts'
import { settledOutcome } from './queries/settledOutcome.ts'
import { spotClearinghouseState } from './queries/spotClearinghouseState.ts'
import { spotDeployState } from './queries/spotDeployState.ts'
import { spotMeta } from './queries/spotMeta.ts'
import { spotMetaAndAssetCtxs } from './queries/spotMetaAndAssetCtxs.ts'
import { spotPairDeployAuctionStatus } from './queries/spotPairDeployAuctionStatus.ts'
import { subAccounts } from './queries/subAccounts.ts'
import { subAccounts2 } from './queries/subAccounts2.ts'
import { tokenDetails } from './queries/tokenDetails.ts'
import { twapHistory } from './queries/twapHistory.ts'
import { usdcRouting } from './queries/usdcRouting.ts'
import { userAbstraction } from './queries/userAbstraction.ts'
import { userBorrowLendInterest } from './queries/userBorrowLendInterest.ts'
import { userCompletedTrades } from './queries/userCompletedTrades.ts'
import { userCompletedTradesByTime } from './queries/userCompletedTradesByTime.ts'
import { userDexAbstraction } from './queries/userDexAbstraction.ts'
import { userFees } from './queries/userFees.ts'
import { userFills } from './queries/userFills.ts'
import { userFillsByTime } from './queries/userFillsByTime.ts'
import { userFunding } from './queries/userFunding.ts'
import { userNonFundingLedgerUpdates } from './queries/userNonFundingLedgerUpdates.ts'
import { userPnlSummary } from './queries/userPnlSummary.ts'
import { userRateLimit } from './queries/userRateLimit.ts'
import { userRole } from './queries/userRole.ts'
import { userToMultiSigSigners } from './queries/userToMultiSigSigners.ts'
import { userTwapSliceFills } from './queries/userTwapSliceFills.ts'
import { userTwapSliceFillsByTime } from './queries/userTwapSliceFillsByTime.ts'
import { userVaultEquities } from './queries/userVaultEquities.ts'
import { validatorL1Votes } from './queries/validatorL1Votes.ts'
import { validatorSummaries } from './queries/validatorSummaries.ts'
import { vaultDetails } from './queries/vaultDetails.ts'
import { vaultSummaries } from './queries/vaultSummaries.ts'
import { webData2 } from './queries/webData2.ts'
import type { AnyQuery } from './query.ts'

export const CATALOGUE: readonly AnyQuery[] = [
  activeAssetData,
  allBorrowLendReserveStates,
  allMids,
  allPerpMetas,
  approvedBuilders,
  batchClearinghouseState,
  batchSpotClearinghouseState,
  borrowLendReserveState,
  borrowLendUserState,
  builderFills,
  builderFillsByTime,
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
  gossipPriorityAuctionStatus,
  gossipRootIps,
  historicalOrders,
  isVip,
  l2Book,
  l2BookDiffSnapshot,
  leadingVaults,
  legalCheck,
  liquidatable,
  marginTable,
  maxBuilderFee,
  maxMarketOrderNtls,
  meta,
  metaAndAssetCtxs,
  openOrders,
  orderStatus,
  outcomeDeployerLimits,
  outcomeMeta,
  outcomeTemplates,
  perpAnnotation,
  perpCategories,
  perpConciseAnnotations,
  perpDeployAuctionStatus,
  perpDexLimits,
  perpDexs,
  perpDexStatus,
  perpsAtOpenInterestCap,
  portfolio,
  portfolioState,
  predictedFundings,
  preTransferCheck,
  recentTrades,
  referral,
  settledOutcome,
  spotClearinghouseState,
  spotDeployState,
  spotMeta,
  spotMetaAndAssetCtxs,
  spotPairDeployAuctionStatus,
  subAccounts,
  subAccounts2,
  tokenDetails,
  twapHistory,
  usdcRouting,
  userAbstraction,
  userBorrowLendInterest,
  userCompletedTrades,
  userCompletedTradesByTime,
  userDexAbstraction,
  userFees,
  userFills,
  userFillsByTime,
  userFunding,
  userNonFundingLedgerUpdates,
  userPnlSummary,
  userRateLimit,
  userRole,
  userToMultiSigSigners,
  userTwapSliceFills,
  userTwapSliceFillsByTime,
  userVaultEquities,
  validatorL1Votes,
  validatorSummaries,
  vaultDetails,
  vaultSummaries,
  webData2,
]

// Maps, so that `__proto__` and `constructor` are unknown types like any other.
const BY_TYPE: ReadonlyMap<string, AnyQuery> = new Map(CATALOGUE.map((query) => [query.type, query]))

/** The query of a wire type, undefined where none is served. */
export function queryOf(type: string): AnyQuery | undefined {
  return BY_TYPE.get(type)
}
