// The 55 types of the interface: the 15 that it specifies, then the 40 that it names. A type beyond the specification
// is not added here.

export const SPECIFIED_TYPES = [
  ...['builderFills', 'userCompletedTradesByTime', 'candleSnapshot', 'clearinghouseState', 'l2BookDiffSnapshot'],
  ...['subAccounts', 'openOrders', 'allPerpMetas', 'delegatorHistory', 'spotDeployState', 'delegatorRewards'],
  ...['userAbstraction', 'vaultSummaries', 'perpDeployAuctionStatus', 'maxMarketOrderNtls'],
  ...['meta', 'metaAndAssetCtxs', 'perpDexs', 'perpDexLimits', 'perpsAtOpenInterestCap', 'outcomeMeta', 'l2Book'],
  ...['allMids', 'fundingHistory', 'spotMeta', 'spotMetaAndAssetCtxs', 'spotClearinghouseState'],
  ...['batchClearinghouseState', 'batchSpotClearinghouseState', 'portfolioState', 'frontendOpenOrders'],
  ...['historicalOrders', 'orderStatus', 'userFills', 'userFillsByTime', 'userTwapSliceFills'],
  ...['userTwapSliceFillsByTime', 'userCompletedTrades', 'userPnlSummary', 'userFees', 'userRateLimit', 'userRole'],
  ...['userToMultiSigSigners', 'extraAgents', 'delegatorSummary', 'delegations', 'vaultDetails'],
  ...['userVaultEquities', 'leadingVaults', 'maxBuilderFee', 'exchangeStatus', 'liquidatable', 'marginTable'],
  ...['validatorL1Votes', 'userNonFundingLedgerUpdates'],
] as const
