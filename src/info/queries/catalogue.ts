// All types of POST /info. To add one, create a file in queries/ and list it here.

import type { AnyQuery } from '../query.ts'
import { activeAssetData } from './activeAssetData.ts'
import { alignedQuoteTokenInfo } from './alignedQuoteTokenInfo.ts'
import { allBorrowLendReserveStates } from './allBorrowLendReserveStates.ts'
import { allMids } from './allMids.ts'
import { allPerpMetas } from './allPerpMetas.ts'
import { approvedBuilders } from './approvedBuilders.ts'
import { batchClearinghouseState } from './batchClearinghouseState.ts'
import { batchSpotClearinghouseState } from './batchSpotClearinghouseState.ts'
import { borrowLendReserveState } from './borrowLendReserveState.ts'
import { borrowLendUserState } from './borrowLendUserState.ts'
import { builderFills } from './builderFills.ts'
import { builderFillsByTime } from './builderFillsByTime.ts'
import { candleSnapshot } from './candleSnapshot.ts'
import { clearinghouseState } from './clearinghouseState.ts'
import { delegations } from './delegations.ts'
import { delegatorHistory } from './delegatorHistory.ts'
import { delegatorRewards } from './delegatorRewards.ts'
import { delegatorSummary } from './delegatorSummary.ts'
import { exchangeStatus } from './exchangeStatus.ts'
import { extraAgents } from './extraAgents.ts'
import { frontendOpenOrders } from './frontendOpenOrders.ts'
import { fundingHistory } from './fundingHistory.ts'
import { gossipPriorityAuctionStatus } from './gossipPriorityAuctionStatus.ts'
import { gossipRootIps } from './gossipRootIps.ts'
import { historicalOrders } from './historicalOrders.ts'
import { isVip } from './isVip.ts'
import { l2Book } from './l2Book.ts'
import { l2BookDiffSnapshot } from './l2BookDiffSnapshot.ts'
import { leadingVaults } from './leadingVaults.ts'
import { legalCheck } from './legalCheck.ts'
import { liquidatable } from './liquidatable.ts'
import { marginTable } from './marginTable.ts'
import { maxBuilderFee } from './maxBuilderFee.ts'
import { maxMarketOrderNtls } from './maxMarketOrderNtls.ts'
import { meta } from './meta.ts'
import { metaAndAssetCtxs } from './metaAndAssetCtxs.ts'
import { openOrders } from './openOrders.ts'
import { orderStatus } from './orderStatus.ts'
import { outcomeDeployerLimits } from './outcomeDeployerLimits.ts'
import { outcomeMeta } from './outcomeMeta.ts'
import { outcomeTemplates } from './outcomeTemplates.ts'
import { perpAnnotation } from './perpAnnotation.ts'
import { perpCategories } from './perpCategories.ts'
import { perpConciseAnnotations } from './perpConciseAnnotations.ts'
import { perpDeployAuctionStatus } from './perpDeployAuctionStatus.ts'
import { perpDexLimits } from './perpDexLimits.ts'
import { perpDexStatus } from './perpDexStatus.ts'
import { perpDexs } from './perpDexs.ts'
import { perpsAtOpenInterestCap } from './perpsAtOpenInterestCap.ts'
import { portfolio } from './portfolio.ts'
import { portfolioState } from './portfolioState.ts'
import { positionsByCoin } from './positionsByCoin.ts'
import { positionsByUser } from './positionsByUser.ts'
import { predictedFundings } from './predictedFundings.ts'
import { preTransferCheck } from './preTransferCheck.ts'
import { recentTrades } from './recentTrades.ts'
import { referral } from './referral.ts'
import { settledOutcome } from './settledOutcome.ts'
import { spotClearinghouseState } from './spotClearinghouseState.ts'
import { spotDeployState } from './spotDeployState.ts'
import { spotMeta } from './spotMeta.ts'
import { spotMetaAndAssetCtxs } from './spotMetaAndAssetCtxs.ts'
import { spotPairDeployAuctionStatus } from './spotPairDeployAuctionStatus.ts'
import { subAccounts } from './subAccounts.ts'
import { subAccounts2 } from './subAccounts2.ts'
import { tokenAnnotation } from './tokenAnnotation.ts'
import { tokenConciseAnnotations } from './tokenConciseAnnotations.ts'
import { tokenDetails } from './tokenDetails.ts'
import { twapHistory } from './twapHistory.ts'
import { usdcRouting } from './usdcRouting.ts'
import { userAbstraction } from './userAbstraction.ts'
import { userBorrowLendInterest } from './userBorrowLendInterest.ts'
import { userCompletedTrades } from './userCompletedTrades.ts'
import { userCompletedTradesByTime } from './userCompletedTradesByTime.ts'
import { userDexAbstraction } from './userDexAbstraction.ts'
import { userFees } from './userFees.ts'
import { userFills } from './userFills.ts'
import { userFillsByTime } from './userFillsByTime.ts'
import { userFunding } from './userFunding.ts'
import { userNonFundingLedgerUpdates } from './userNonFundingLedgerUpdates.ts'
import { userPnlSummary } from './userPnlSummary.ts'
import { userRateLimit } from './userRateLimit.ts'
import { userRole } from './userRole.ts'
import { userToMultiSigSigners } from './userToMultiSigSigners.ts'
import { userTwapSliceFills } from './userTwapSliceFills.ts'
import { userTwapSliceFillsByTime } from './userTwapSliceFillsByTime.ts'
import { userVaultEquities } from './userVaultEquities.ts'
import { validatorL1Votes } from './validatorL1Votes.ts'
import { validatorSummaries } from './validatorSummaries.ts'
import { vaultDetails } from './vaultDetails.ts'
import { vaultSummaries } from './vaultSummaries.ts'
import { webData2 } from './webData2.ts'
import { x_slippage } from './x_slippage.ts'

export const CATALOGUE: readonly AnyQuery[] = [
  activeAssetData,
  alignedQuoteTokenInfo,
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
  positionsByCoin,
  positionsByUser,
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
  tokenAnnotation,
  tokenConciseAnnotations,
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
  x_slippage,
]

// Maps, so that `__proto__` and `constructor` are treated like any other unknown type.
const BY_TYPE: ReadonlyMap<string, AnyQuery> = new Map(CATALOGUE.map((query) => [query.type, query]))

/** Query of a wire type; undefined if unknown. */
export function queryOf(type: string): AnyQuery | undefined {
  return BY_TYPE.get(type)
}
