// Groups of info types and channels, for the menu and the lists. Every type and every channel is in one group.

/** Titles, with names separated by white space. */
export type Groups = readonly (readonly [title: string, names: string])[]

export const TYPE_GROUPS: Groups = [
  [
    'Market data',
    `allMids candleSnapshot fundingHistory l2Book l2BookDiffSnapshot meta metaAndAssetCtxs predictedFundings recentTrades
    spotMeta spotMetaAndAssetCtxs x_slippage`,
  ],
  [
    'User: account',
    `activeAssetData batchClearinghouseState batchSpotClearinghouseState borrowLendUserState clearinghouseState
    maxMarketOrderNtls portfolio portfolioState positionsByUser preTransferCheck spotClearinghouseState subAccounts
    subAccounts2 userAbstraction userDexAbstraction userRole userToMultiSigSigners webData2`,
  ],
  [
    'User: orders and fills',
    `frontendOpenOrders historicalOrders openOrders orderStatus twapHistory userCompletedTrades userCompletedTradesByTime
    userFills userFillsByTime userPnlSummary userTwapSliceFills userTwapSliceFillsByTime`,
  ],
  [
    'User: payments and limits',
    `extraAgents isVip legalCheck referral userBorrowLendInterest userFees userFunding userNonFundingLedgerUpdates
    userRateLimit`,
  ],
  ['Vaults', 'leadingVaults userVaultEquities vaultDetails vaultSummaries'],
  ['Builders', 'approvedBuilders builderFills builderFillsByTime maxBuilderFee'],
  [
    'Staking and validators',
    'delegations delegatorHistory delegatorRewards delegatorSummary validatorL1Votes validatorSummaries',
  ],
  [
    'Perp markets and DEXes',
    `allPerpMetas liquidatable marginTable perpAnnotation perpCategories perpConciseAnnotations perpDeployAuctionStatus
    perpDexLimits perpDexStatus perpDexs perpsAtOpenInterestCap positionsByCoin`,
  ],
  [
    'Tokens and spot',
    `alignedQuoteTokenInfo allBorrowLendReserveStates borrowLendReserveState spotDeployState spotPairDeployAuctionStatus
    tokenAnnotation tokenConciseAnnotations tokenDetails usdcRouting`,
  ],
  ['Outcome markets', 'outcomeDeployerLimits outcomeMeta outcomeTemplates settledOutcome'],
  ['Exchange', 'exchangeStatus gossipPriorityAuctionStatus gossipRootIps'],
]

export const CHANNEL_GROUPS: Groups = [
  ['Order books', 'bbo l2Book l2BookDiff l2BookDiff2 l4Book'],
  [
    'Market data',
    `activeAssetCtx allDexsAssetCtxs allFills allMids assetCtxs candle fastAssetCtxs liquidationFills oracleUpdates
    outcomeMetaUpdates spotAssetCtxs trades writerActions`,
  ],
  [
    'User: orders and fills',
    'openOrders orderUpdates twapStates userFills userHistoricalOrders userTwapHistory userTwapSliceFills',
  ],
  [
    'User: account',
    `activeAssetData allDexsClearinghouseState clearinghouseState notification spotState userEvents userFundings
    userNonFundingLedgerUpdates webData2 webData3`,
  ],
  ['Builders', 'builderFills builderLiquidations'],
]

/** The definitions in the order of the groups and by name within a group, with their group. */
export function byGroup<Definition extends { readonly type: string }>(
  definitions: readonly Definition[],
  groups: Groups,
): (readonly [group: string, definition: Definition])[] {
  const groupOf = new Map(groups.flatMap(([title, names]) => names.split(/\s+/).map((name) => [name, title] as const)))
  const lost = definitions.find(({ type }) => !groupOf.has(type))
  if (lost !== undefined) throw new Error(`${lost.type} is in no group of type-groups.ts`)
  const sorted = definitions.toSorted((a, b) => (a.type.toLowerCase() < b.type.toLowerCase() ? -1 : 1))
  return groups.flatMap(([title]) =>
    sorted.filter(({ type }) => groupOf.get(type) === title).map((definition) => [title, definition] as const),
  )
}
