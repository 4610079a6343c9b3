// Written by `npm run generate` from the schemas that the gateway parses with: what `POST /info` takes and answers, and what
// channels take and send. Values that may grow are any text, their known ones first. Over 300 lines because it is all of them.

type LendingReserve = { borrowYearlyRate: string; supplyYearlyRate: string; balance: string; utilization: string; oraclePx: string; ltv: string; totalSupplied: string; totalBorrowed: string }

type MarginTable = { description: string; marginTiers: Array<{ lowerBound: string; maxLeverage: number }> }

type PerpMeta = { universe: Array<{ szDecimals: number; name: string; maxLeverage: number; marginTableId?: number | undefined; onlyIsolated?: boolean | undefined; isDelisted?: boolean | undefined; marginMode?: "strictIsolated" | "noCross" | (string & {}) | undefined; growthMode?: "enabled" | (string & {}) | undefined; lastGrowthModeChangeTime?: string | undefined; lastFeeScaleChangeTime?: string | null | undefined; deployerFeeScale?: string | undefined }>; marginTables?: Array<[number, MarginTable]> | undefined; collateralToken?: number | undefined }

type PerpState = { marginSummary: { accountValue: string; totalNtlPos: string; totalRawUsd: string; totalMarginUsed: string }; crossMarginSummary: { accountValue: string; totalNtlPos: string; totalRawUsd: string; totalMarginUsed: string }; crossMaintenanceMarginUsed?: string | undefined; withdrawable: string; assetPositions: Array<{ type: "oneWay" | (string & {}); position: { coin: string; szi: string; leverage: { type: "cross"; value: number } | { type: "isolated"; value: number; rawUsd: string } | { type: string }; entryPx: string; positionValue: string; unrealizedPnl: string; returnOnEquity: string; liquidationPx: string | null; marginUsed: string; maxLeverage?: number | undefined; cumFunding?: { allTime: string; sinceOpen: string; sinceChange: string } | undefined } }>; time?: number | undefined }

type FailedUser = { error: "upstream_error"; message: string; user: string }

type SpotState = { portfolioMarginEnabled?: boolean | undefined; balances: Array<{ coin: string; token?: number | undefined; total: string; hold: string; entryNtl: string; spotHold?: string | undefined; ltv?: string | undefined; borrowed?: string | undefined; supplied?: string | undefined }>; evmEscrows?: Array<{ coin: string; token: number; total: string }> | undefined; portfolioMarginRatio?: string | undefined; tokenToPortfolioBorrowRatio?: Array<[number, string]> | undefined; tokenToPortfolioSupplyRatio?: Array<[number, string]> | undefined; tokenToAvailableAfterMaintenance?: Array<[number, string]> | undefined }

type Candle = { t: number; T: number; s: string; i: "1m" | "3m" | "5m" | "15m" | "30m" | "1h" | "2h" | "4h" | "8h" | "12h" | "1d" | "3d" | "1w" | "1M" | (string & {}); o: string; c: string; h: string; l: string; v: string; n: number }

type FailedDex = { error: "upstream_error"; message: string; dex: string }

type FrontendOrder = { coin: string; side: "B" | "A"; limitPx: string; sz: string; oid: number; timestamp: number; origSz: string; cloid?: string | null | undefined; triggerCondition: string; isTrigger: boolean; triggerPx: string; children: Array<FrontendOrder>; isPositionTpsl: boolean; reduceOnly: boolean; orderType: "Market" | "Limit" | "Stop Market" | "Stop Limit" | "Take Profit Market" | "Take Profit Limit" | "Twap Slice" | "Vault Close" | "Spot Dust Conversion" | (string & {}); tif: "Gtc" | "Ioc" | "Alo" | "FrontendMarket" | "LiquidationMarket" | (string & {}) | null }

type GasAuction = { startTimeSeconds: number; durationSeconds: number; startGas: string; currentGas: string | null; endGas: string | null }

type OrderWithStatus = { order: FrontendOrder; status: "open" | "filled" | "canceled" | "triggered" | "rejected" | "marginCanceled" | "vaultWithdrawalCanceled" | "openInterestCapCanceled" | "selfTradeCanceled" | "reduceOnlyCanceled" | "siblingFilledCanceled" | "delistedCanceled" | "liquidatedCanceled" | "outcomeSettledCanceled" | "scheduledCancel" | "internalCancel" | "tickRejected" | "minTradeNtlRejected" | "perpMarginRejected" | "reduceOnlyRejected" | "badAloPxRejected" | "iocCancelRejected" | "badTriggerPxRejected" | "marketOrderNoLiquidityRejected" | "positionIncreaseAtOpenInterestCapRejected" | "positionFlipAtOpenInterestCapRejected" | "tooAggressiveAtOpenInterestCapRejected" | "openInterestIncreaseRejected" | "insufficientSpotBalanceRejected" | "oracleRejected" | "perpMaxPositionRejected" | "tooManyOpenOrdersRejected" | (string & {}); statusTimestamp: number }

type Level = { px: string; sz: string; n: number }

type PerpAssetCtx = { funding: string; openInterest: string; prevDayPx: string; dayNtlVlm: string; premium: string | null; oraclePx: string; markPx: string; midPx: string | null; impactPxs: [string, string] | null; dayBaseVlm: string }

type OpenOrder = { coin: string; side: "B" | "A"; limitPx: string; sz: string; oid: number; timestamp: number; origSz?: string | undefined; cloid?: string | null | undefined; reduceOnly?: boolean | undefined }

type Outcome = { outcome: number; name: string; description: string; sideSpecs: Array<{ name: string; token?: number | undefined }>; quoteToken: string; deployer?: string | undefined; venue?: string | undefined; deployerFeeScale?: string | undefined }

type Portfolio = Array<["day" | "week" | "month" | "allTime" | "perpDay" | "perpWeek" | "perpMonth" | "perpAllTime" | (string & {}), { accountValueHistory: Array<[number, string]>; pnlHistory: Array<[number, string]>; vlm: string }]>

type SpotMeta = { universe: Array<{ tokens: [number, number]; name: string; index: number; isCanonical: boolean }>; tokens: Array<{ name: string; szDecimals: number; weiDecimals: number; index: number; tokenId: string; isCanonical: boolean; evmContract: { address: string; evm_extra_wei_decimals: number } | null; fullName: string | null; deployerTradingFeeShare: string }> }

type SpotAssetCtx = { prevDayPx: string; dayNtlVlm: string; markPx: string; midPx: string | null; circulatingSupply: string; coin: string; totalSupply: string; dayBaseVlm: string }

type TwapState = { coin: string; user: string; side: "B" | "A"; sz: string; executedSz: string; executedNtl: string; minutes: number; reduceOnly: boolean; randomize: boolean; timestamp: number; trigger?: { px: string; above: boolean } | null | undefined; stopPx?: string | null | undefined }

type CompletedTrade = { user: string; coin: string; position_type: "Long" | "Short"; gross_pnl: string; net_pnl: string; funding_pnl: string; entry_px: string; exit_px: string; position_closed_size: string; fees: string; fills: number; open_time: number; close_time: number; duration_ms: number; max_position_size: string; maker_fills: number; builder: string | null; tx_index: number }

type Fill = { coin: string; px: string; sz: string; side: "B" | "A"; time: number; startPosition: string; dir: "Open Long" | "Open Short" | "Close Long" | "Close Short" | "Long > Short" | "Short > Long" | "Buy" | "Sell" | "Spot Dust Conversion" | "Net Child Vaults" | "Split Outcome" | "Merge Outcome" | "Merge Question" | (string & {}); closedPnl: string; hash: string; oid: number; crossed: boolean; fee: string; builderFee?: string | undefined; tid?: number | undefined; cloid?: string | null | undefined; liquidation?: { liquidatedUser?: string | undefined; markPx: string; method: "market" | "backstop" | (string & {}) } | undefined; feeToken?: string | undefined; feeTrialEscrow?: string | undefined; twapId?: number | null | undefined }

type LedgerDelta = { type: "deposit"; usdc: string } | { type: "withdraw"; usdc: string; nonce: number; fee: string } | { type: "internalTransfer"; usdc: string; user: string; destination: string; fee: string } | { type: "subAccountTransfer"; usdc: string; user: string; destination: string } | { type: "accountClassTransfer"; usdc: string; toPerp: boolean } | { type: "spotTransfer"; token: string; amount: string; usdcValue: string; user: string; destination: string; fee: string; nativeTokenFee: string; feeToken: string; nonce: number | null } | { type: "send"; token: string; amount: string; usdcValue: string; user: string; destination: string; fee: string; nativeTokenFee: string; feeToken: string; sourceDex: string; destinationDex: string; nonce: number } | { type: "liquidation"; liquidatedNtlPos: string; accountValue: string; leverageType: "Cross" | "Isolated" | (string & {}); liquidatedPositions: Array<{ coin: string; szi: string }> } | { type: "vaultCreate"; vault: string; usdc: string; fee: string } | { type: "vaultDeposit"; vault: string; usdc: string } | { type: "vaultWithdraw"; vault: string; user: string; requestedUsd: string; commission: string; closingCost: string; basis: string; netWithdrawnUsd: string } | { type: "vaultDistribution"; vault: string; usdc: string } | { type: "vaultLeaderCommission"; user: string; usdc: string } | { type: "spotGenesis"; token: string; amount: string } | { type: "rewardsClaim"; amount: string; token?: string | undefined } | { type: "accountActivationGas"; amount: string; token: string } | { type: "perpDexClassTransfer"; amount: string; token: string; dex: string; toPerp: boolean } | { type: "deployGasAuction"; token: string; amount: string } | { type: "cStakingTransfer"; token: string; amount: string; isDeposit: boolean } | { type: "borrowLend"; token: string; operation: "supply" | "withdraw" | "repay" | "borrow" | (string & {}); amount: string; interestAmount: string } | { type: "activateDexAbstraction"; dex: string; token: string; amount: string } | { type: "gossipPriorityGasAuction"; token: string; amount: string } | { type: string }

type LedgerUpdate = { time: number; hash: string; delta: LedgerDelta }

type TwapSliceFill = { fill: Fill; twapId: number }

type VaultRelationship = { type: "normal" } | { type: "child" } | { type: "parent"; data: { childAddresses: Array<string> } } | { type: string }

/** Types of `POST /info`. */
export interface InfoTypes {
  /** What a user can buy and sell of a coin now. */
  activeAssetData: {
    request: { type: "activeAssetData"; user: string; coin: string }
    answer: { user: string; coin: string; leverage: { type: "cross"; value: number } | { type: "isolated"; value: number; rawUsd: string } | { type: string }; maxTradeSzs: [string, string]; availableToTrade: [string, string]; markPx: string }
  }
  /** What is lent of every token, and at which rates. */
  allBorrowLendReserveStates: {
    request: { type: "allBorrowLendReserveStates" }
    answer: Array<[number, LendingReserve]>
  }
  /** The middle price of every coin of a DEX. */
  allMids: {
    request: { type: "allMids"; dex?: string | null | undefined }
    answer: Record<string, string>
  }
  /** The markets of every perp DEX. */
  allPerpMetas: {
    request: { type: "allPerpMetas" }
    answer: Array<PerpMeta>
  }
  /** The builders that a user lets charge fees. */
  approvedBuilders: {
    request: { type: "approvedBuilders"; user: string }
    answer: Array<string>
  }
  /** The perp accounts of up to 50 users on one DEX. */
  batchClearinghouseState: {
    request: { type: "batchClearinghouseState"; users: Array<string>; dex?: string | null | undefined }
    answer: Array<PerpState | FailedUser>
  }
  /** The spot balances of up to 50 users. */
  batchSpotClearinghouseState: {
    request: { type: "batchSpotClearinghouseState"; users: Array<string> }
    answer: Array<SpotState | FailedUser>
  }
  /** What is lent of one token, and at which rates. */
  borrowLendReserveState: {
    request: { type: "borrowLendReserveState"; token: number }
    answer: LendingReserve
  }
  /** What a user has borrowed and lent. */
  borrowLendUserState: {
    request: { type: "borrowLendUserState"; user: string }
    answer: { tokenToState: Array<[number, { borrow: { basis: string; value: string }; supply: { basis: string; value: string } }]>; health: "healthy" | "atRisk" | "marketLiquidatable" | "backstopLiquidatable" | (string & {}); healthFactor: string | null }
  }
  /** The fills that came through a builder. */
  builderFills: {
    request: { type: "builderFills"; builder: string; aggregateByTime?: boolean | null | undefined; cursor?: string | null | undefined }
    answer: Array<{ coin: string; px: string; sz: string; side: "B" | "A"; time: number; startPosition: string; dir: "Open Long" | "Open Short" | "Close Long" | "Close Short" | "Long > Short" | "Short > Long" | "Buy" | "Sell" | "Spot Dust Conversion" | "Net Child Vaults" | "Split Outcome" | "Merge Outcome" | "Merge Question" | (string & {}); closedPnl: string; hash: string; oid: number; crossed: boolean; fee: string; builderFee?: string | undefined; tid?: number | undefined; cloid?: string | null | undefined; liquidation?: { liquidatedUser?: string | undefined; markPx: string; method: "market" | "backstop" | (string & {}) } | undefined; feeToken?: string | undefined; feeTrialEscrow?: string | undefined; twapId?: number | null | undefined; user: string }>
  }
  /** The fills that came through a builder in a window. */
  builderFillsByTime: {
    request: { type: "builderFillsByTime"; builder: string; startTime?: number | null | undefined; endTime?: number | null | undefined; aggregateByTime?: boolean | null | undefined; cursor?: string | null | undefined }
    answer: Array<{ coin: string; px: string; sz: string; side: "B" | "A"; time: number; startPosition: string; dir: "Open Long" | "Open Short" | "Close Long" | "Close Short" | "Long > Short" | "Short > Long" | "Buy" | "Sell" | "Spot Dust Conversion" | "Net Child Vaults" | "Split Outcome" | "Merge Outcome" | "Merge Question" | (string & {}); closedPnl: string; hash: string; oid: number; crossed: boolean; fee: string; builderFee?: string | undefined; tid?: number | undefined; cloid?: string | null | undefined; liquidation?: { liquidatedUser?: string | undefined; markPx: string; method: "market" | "backstop" | (string & {}) } | undefined; feeToken?: string | undefined; feeTrialEscrow?: string | undefined; twapId?: number | null | undefined; user: string }>
  }
  /** The candles of a coin in a window, at most 5,000. */
  candleSnapshot: {
    request: { type: "candleSnapshot"; req: { coin: string; interval: "1m" | "3m" | "5m" | "15m" | "30m" | "1h" | "2h" | "4h" | "8h" | "12h" | "1d" | "3d" | "1w" | "1M"; startTime: number; endTime?: number | null | undefined } }
    answer: Array<Candle>
  }
  /** A user's perp account on one DEX, or on all of them (`*`, `ALL_DEXES`). */
  clearinghouseState: {
    request: { type: "clearinghouseState"; user: string; dex?: string | null | undefined }
    answer: PerpState | Record<string, PerpState | FailedDex>
  }
  /** A user's stake by validator. */
  delegations: {
    request: { type: "delegations"; user: string }
    answer: Array<{ validator: string; amount: string; lockedUntilTimestamp: number }>
  }
  /** What a user did with their stake. */
  delegatorHistory: {
    request: { type: "delegatorHistory"; user: string }
    answer: Array<{ time: number; hash: string; delta: { delegate: { validator: string; amount: string; isUndelegate: boolean } } | { cDeposit: { amount: string } } | { withdrawal: { amount: string; phase: "initiated" | "finalized" | (string & {}) } } | Record<string, unknown> }>
  }
  /** What a user earned by staking. */
  delegatorRewards: {
    request: { type: "delegatorRewards"; user: string }
    answer: Array<{ time: number; source: "delegation" | "commission" | (string & {}); totalAmount: string }>
  }
  /** What a user has staked. */
  delegatorSummary: {
    request: { type: "delegatorSummary"; user: string }
    answer: { delegated: string; undelegated: string; totalPendingWithdrawal: string; nPendingWithdrawals: number }
  }
  /** The clock of the exchange and its special statuses. */
  exchangeStatus: {
    request: { type: "exchangeStatus" }
    answer: { time: number; specialStatuses: string | null }
  }
  /** The named agents of a user. */
  extraAgents: {
    request: { type: "extraAgents"; user: string }
    answer: Array<{ name: string; address: string; validUntil: number | null }>
  }
  /** The resting orders of a user with triggers and kinds. */
  frontendOpenOrders: {
    request: { type: "frontendOpenOrders"; user: string; dex?: string | null | undefined }
    answer: Array<FrontendOrder>
  }
  /** Hourly funding rates of a coin. */
  fundingHistory: {
    request: { type: "fundingHistory"; coin: string; startTime: number; endTime?: number | null | undefined }
    answer: Array<{ coin: string; fundingRate: string; premium?: (string & {}) | "NaN" | undefined; time: number }>
  }
  /** The auctions for places in the gossip. */
  gossipPriorityAuctionStatus: {
    request: { type: "gossipPriorityAuctionStatus" }
    answer: [Array<string | null>, Array<GasAuction>]
  }
  /** Addresses of nodes to begin gossiping with. */
  gossipRootIps: {
    request: { type: "gossipRootIps" }
    answer: Array<string>
  }
  /** The last orders of a user and what became of them. */
  historicalOrders: {
    request: { type: "historicalOrders"; user: string }
    answer: Array<OrderWithStatus>
  }
  /** Whether a user is a VIP. */
  isVip: {
    request: { type: "isVip"; user: string }
    answer: boolean | null
  }
  /** Twenty levels a side, optionally aggregated. */
  l2Book: {
    request: { type: "l2Book"; coin: string; nSigFigs?: number | null | undefined; mantissa?: 1 | 2 | 5 | null | undefined }
    answer: { coin: string; time: number; levels: [Array<Level>, Array<Level>]; spread?: string | undefined } | null
  }
  /** The whole book of a coin and its place in the diff stream. */
  l2BookDiffSnapshot: {
    request: { type: "l2BookDiffSnapshot"; coin: string; block_height?: number | null | undefined }
    answer: { coin: string; time: number; height: number; epoch: string; seq: number; levels: [Array<Level>, Array<Level>] } | null
  }
  /** The vaults that a user leads. */
  leadingVaults: {
    request: { type: "leadingVaults"; user: string }
    answer: Array<{ address: string; name: string }>
  }
  /** What a user may do by law and terms. */
  legalCheck: {
    request: { type: "legalCheck"; user: string }
    answer: { acceptedTerms: boolean; userAllowed: boolean; restrictions: "n" | "a" | "o" | "u" | (string & {}) }
  }
  /** Accounts that could be liquidated now. */
  liquidatable: {
    request: { type: "liquidatable" }
    answer: Array<{ user: string; positionIndex: { isolated: { asset: number } } | Record<string, unknown>; marginAvailable: [number, number] }>
  }
  /** A margin table by its id. */
  marginTable: {
    request: { type: "marginTable"; id: number; dex?: string | null | undefined }
    answer: MarginTable | null
  }
  /** What a user lets a builder charge. */
  maxBuilderFee: {
    request: { type: "maxBuilderFee"; user: string; builder: string }
    answer: number
  }
  /** The largest market order by maximum leverage. */
  maxMarketOrderNtls: {
    request: { type: "maxMarketOrderNtls" }
    answer: Array<[number, string]>
  }
  /** The markets of one perp DEX. */
  meta: {
    request: { type: "meta"; dex?: string | null | undefined }
    answer: PerpMeta
  }
  /** The markets of one perp DEX with prices, funding and open interest. */
  metaAndAssetCtxs: {
    request: { type: "metaAndAssetCtxs"; dex?: string | null | undefined }
    answer: [PerpMeta, Array<PerpAssetCtx>]
  }
  /** The resting orders of a user on one DEX. */
  openOrders: {
    request: { type: "openOrders"; user: string; dex?: string | null | undefined }
    answer: Array<OpenOrder>
  }
  /** One order by its id or the client's own. */
  orderStatus: {
    request: { type: "orderStatus"; user: string; oid: number | string }
    answer: { status: "order"; order: OrderWithStatus } | { status: "unknownOid" } | { status: string }
  }
  /** How many outcome markets a venue may still open. */
  outcomeDeployerLimits: {
    request: { type: "outcomeDeployerLimits"; venue: string }
    answer: { nDailyOutcomesRemaining: number; nActiveOutcomesRemaining: number }
  }
  /** The open outcome markets and their questions. */
  outcomeMeta: {
    request: { type: "outcomeMeta" }
    answer: { outcomes: Array<Outcome>; questions: Array<{ question: number; name: string; description: string; fallbackOutcome: number; namedOutcomes: Array<number>; settledNamedOutcomes: Array<number> }>; deployers: Array<{ deployer: string; venue: string; subDeployers: Array<[string, Array<string>]> }>; feeScale: string }
  }
  /** The templates of outcome markets. */
  outcomeTemplates: {
    request: { type: "outcomeTemplates" }
    answer: Array<{ id: string; role: "question" | { standaloneOutcome: { sideNames: [string, string] } } | { questionOutcome: { parent: string } } | Record<string, unknown>; name: string; description: string; keywords: Array<[string, "dateTime" | "date" | "string" | "shortString" | "hlPerp" | "uInt" | "uDecimal" | (string & {})]> }>
  }
  /** What the deployer of a perp says about it. */
  perpAnnotation: {
    request: { type: "perpAnnotation"; coin: string }
    answer: { category: string; displayName?: string | undefined; keywords?: Array<string> | undefined; description: string } | null
  }
  /** The category of every perp that has one. */
  perpCategories: {
    request: { type: "perpCategories" }
    answer: Array<[string, string]>
  }
  /** What deployers say about their perps, in short. */
  perpConciseAnnotations: {
    request: { type: "perpConciseAnnotations" }
    answer: Array<[string, { category: string; displayName?: string | undefined; keywords?: Array<string> | undefined }]>
  }
  /** The gas auction for perp deployments. */
  perpDeployAuctionStatus: {
    request: { type: "perpDeployAuctionStatus" }
    answer: GasAuction
  }
  /** The caps of a builder-deployed DEX. */
  perpDexLimits: {
    request: { type: "perpDexLimits"; dex: string }
    answer: { totalOiCap: string; oiSzCapPerPerp: string; maxTransferNtl: string; coinToOiCap: Array<[string, string]> } | null
  }
  /** Every perp DEX, the main one as null. */
  perpDexs: {
    request: { type: "perpDexs" }
    answer: Array<{ name: string; fullName: string; deployer: string; oracleUpdater: string | null; feeRecipient: string | null; assetToStreamingOiCap: Array<[string, string]>; subDeployers?: Array<[string, Array<string>]> | undefined; deployerFeeScale?: string | undefined; lastDeployerFeeScaleChangeTime?: string | undefined; assetToFundingMultiplier?: Array<[string, string]> | undefined; assetToFundingInterestRate?: Array<[string, string]> | undefined; assetToFundingClamp?: Array<[string, string]> | undefined } | null>
  }
  /** What lies on a perp DEX. */
  perpDexStatus: {
    request: { type: "perpDexStatus"; dex: string }
    answer: { totalNetDeposit: string }
  }
  /** Coins at their cap of open interest. */
  perpsAtOpenInterestCap: {
    request: { type: "perpsAtOpenInterestCap"; dex?: string | null | undefined }
    answer: Array<string>
  }
  /** What an account was worth and has won over time. */
  portfolio: {
    request: { type: "portfolio"; user: string }
    answer: Portfolio
  }
  /** A user's perp account, spot balances and abstraction in one answer. */
  portfolioState: {
    request: { type: "portfolioState"; user: string; dex?: string | null | undefined }
    answer: { clearinghouseState: PerpState | Record<string, PerpState | FailedDex>; spotClearinghouseState: SpotState; userAbstraction: "unifiedAccount" | "portfolioMargin" | "disabled" | "default" | "dexAbstraction" | (string & {}) }
  }
  /** The next funding rates here and elsewhere. */
  predictedFundings: {
    request: { type: "predictedFundings" }
    answer: Array<[string, Array<[string, { fundingRate: string; nextFundingTime: number; fundingIntervalHours?: number | undefined } | null]>]>
  }
  /** What to know of a user before a transfer. */
  preTransferCheck: {
    request: { type: "preTransferCheck"; user: string; source: string }
    answer: { fee: string; isSanctioned: boolean; userExists: boolean; userHasSentTx: boolean }
  }
  /** The last trades of a coin, newest first. */
  recentTrades: {
    request: { type: "recentTrades"; coin: string; rows?: number | null | undefined }
    answer: Array<{ coin: string; side: "B" | "A"; px: string; sz: string; time: number; hash: string; tid: number; users: [string, string] }>
  }
  /** Who referred a user, whom they referred, and what it earned. */
  referral: {
    request: { type: "referral"; user: string }
    answer: { referredBy: { referrer: string; code: string } | null; cumVlm: string; unclaimedRewards: string; claimedRewards: string; builderRewards: string; referrerState: { stage: "ready"; data: { code: string; nReferrals?: number | undefined; referralStates: Array<{ cumVlm: string; cumRewardedFeesSinceReferred: string; cumFeesRewardedToReferrer: string; timeJoined: number; user: string; tokenToState?: Array<[number, { cumVlm: string; cumRewardedFeesSinceReferred: string; cumFeesRewardedToReferrer: string }]> | undefined }> } } | { stage: "needToCreateCode" } | { stage: "needToTrade"; data: { required: string } } | { stage: string }; rewardHistory: Array<{ earned: string; vlm: string; referralVlm: string; time: number }>; tokenToState?: Array<[number, { cumVlm: string; unclaimedRewards: string; claimedRewards: string; builderRewards: string }]> | undefined }
  }
  /** How an outcome market ended. */
  settledOutcome: {
    request: { type: "settledOutcome"; outcome: number }
    answer: { spec: Outcome; settleFraction: string; details: string; question?: { question: { active: number } | { settled: number } | Record<string, unknown>; name: string; description: string } | undefined } | null
  }
  /** The spot balances of a user. */
  spotClearinghouseState: {
    request: { type: "spotClearinghouseState"; user: string }
    answer: SpotState
  }
  /** Spot deployments of a user and their gas auction. */
  spotDeployState: {
    request: { type: "spotDeployState"; user: string }
    answer: { states: Array<{ token: number; spec: { name: string; szDecimals: number; weiDecimals: number }; fullName: string | null; deployerTradingFeeShare: string; spots: Array<number>; maxSupply: string | number | null; hyperliquidityGenesisBalance: string; totalGenesisBalanceWei: string; userGenesisBalances: Array<[string, string]>; existingTokenGenesisBalances: Array<[number, string]>; blacklistUsers: Array<string> }>; gasAuction: GasAuction }
  }
  /** The spot pairs and tokens. */
  spotMeta: {
    request: { type: "spotMeta" }
    answer: SpotMeta
  }
  /** The spot pairs and tokens with prices. */
  spotMetaAndAssetCtxs: {
    request: { type: "spotMetaAndAssetCtxs" }
    answer: [SpotMeta, Array<SpotAssetCtx>]
  }
  /** The gas auction for spot pairs. */
  spotPairDeployAuctionStatus: {
    request: { type: "spotPairDeployAuctionStatus" }
    answer: GasAuction
  }
  /** The sub-accounts of a master wallet. */
  subAccounts: {
    request: { type: "subAccounts"; user: string }
    answer: Array<{ name: string; subAccountUser: string; master: string; clearinghouseState: PerpState; spotState: SpotState }> | null
  }
  /** The sub-accounts of a master wallet over all DEXes. */
  subAccounts2: {
    request: { type: "subAccounts2"; user: string }
    answer: Array<{ name: string; subAccountUser: string; master: string; dexToClearinghouseState: Array<[string, PerpState]>; spotState: SpotState; abstraction?: "unifiedAccount" | "portfolioMargin" | "disabled" | "dexAbstraction" | (string & {}) | undefined }> | null
  }
  /** A spot token: supply, price and genesis. */
  tokenDetails: {
    request: { type: "tokenDetails"; tokenId: string }
    answer: { name: string; maxSupply: string; totalSupply: string; circulatingSupply: string; szDecimals: number; weiDecimals: number; midPx: string; markPx: string; prevDayPx: string; genesis: { userBalances: Array<[string, string]>; existingTokenBalances: Array<[number, string]>; blacklistUsers?: Array<string> | undefined } | null; deployer: string | null; deployGas: string | null; deployTime: string | null; seededUsdc: string; nonCirculatingUserBalances: Array<[string, string]>; futureEmissions: string }
  }
  /** What became of a user's TWAP orders. */
  twapHistory: {
    request: { type: "twapHistory"; user: string }
    answer: Array<{ time: number; state: TwapState; status: { status: "activated" | "finished" | "terminated" | "waitingForTrigger" | "stopped" | "error" | (string & {}); description?: string | undefined }; twapId?: number | undefined }>
  }
  /** The way of USDC to the exchange and back. */
  usdcRouting: {
    request: { type: "usdcRouting" }
    answer: { depositRoute: "bridge" | "cctp" | (string & {}); withdrawalRoute: "bridge" | "cctp" | (string & {}) }
  }
  /** How a user's balances are unified: a bare string. */
  userAbstraction: {
    request: { type: "userAbstraction"; user: string }
    answer: "unifiedAccount" | "portfolioMargin" | "disabled" | "default" | "dexAbstraction" | (string & {})
  }
  /** The interest that a user paid and got in a window. */
  userBorrowLendInterest: {
    request: { type: "userBorrowLendInterest"; user: string; startTime: number; endTime?: number | null | undefined }
    answer: Array<{ time: number; token: string; borrow: string; supply: string }>
  }
  /** The round trips that a wallet closed last, newest first. */
  userCompletedTrades: {
    request: { type: "userCompletedTrades"; user: string; builder?: string | null | undefined; dex?: string | null | undefined; limit?: number | null | undefined }
    answer: Array<CompletedTrade>
  }
  /** The round trips that a wallet closed in a window, oldest first. */
  userCompletedTradesByTime: {
    request: { type: "userCompletedTradesByTime"; user: string; startTime?: number | null | undefined; endTime?: number | null | undefined; cursor?: string | null | undefined; builder?: string | null | undefined; dex?: string | null | undefined; limit?: number | null | undefined }
    answer: Array<CompletedTrade>
  }
  /** Whether a user has one balance over all DEXes. */
  userDexAbstraction: {
    request: { type: "userDexAbstraction"; user: string }
    answer: boolean | null
  }
  /** Fee rates and recent volume of a user. */
  userFees: {
    request: { type: "userFees"; user: string }
    answer: { dailyUserVlm: Array<{ date: string; userCross: string; userAdd: string; exchange: string }>; feeSchedule: { cross: string; add: string; spotCross: string; spotAdd: string; tiers: { vip: Array<{ ntlCutoff: string; cross: string; add: string; spotCross: string; spotAdd: string }>; mm: Array<{ makerFractionCutoff: string; add: string }> }; referralDiscount: string; stakingDiscountTiers: Array<{ bpsOfMaxSupply: string; discount: string }> }; userCrossRate: string; userAddRate: string; userSpotCrossRate: string; userSpotAddRate: string; activeReferralDiscount: string; trial: unknown; feeTrialEscrow?: string | undefined; feeTrialReward?: string | undefined; nextTrialAvailableTimestamp: number | null; stakingLink: { type: "requested"; stakingUser: string } | { type: "tradingUser"; stakingUser: string } | { type: "stakingUser"; tradingUser: string } | { type: string } | null; activeStakingDiscount: { bpsOfMaxSupply: string; discount: string } }
  }
  /** The last fills of a user. */
  userFills: {
    request: { type: "userFills"; user: string; aggregateByTime?: boolean | null | undefined }
    answer: Array<Fill>
  }
  /** The fills of a user in a window. */
  userFillsByTime: {
    request: { type: "userFillsByTime"; user: string; startTime: number; endTime?: number | null | undefined; aggregateByTime?: boolean | null | undefined; reversed?: boolean | null | undefined }
    answer: Array<Fill>
  }
  /** The funding that a user paid and got. */
  userFunding: {
    request: { type: "userFunding"; user: string; startTime?: number | null | undefined; endTime?: number | null | undefined }
    answer: Array<{ time: number; hash: string; delta: { type: "funding"; coin: string; usdc: string; szi: string; fundingRate: string; nSamples: number | null } }>
  }
  /** Balance movements of a user. */
  userNonFundingLedgerUpdates: {
    request: { type: "userNonFundingLedgerUpdates"; user: string; startTime?: number | null | undefined; endTime?: number | null | undefined }
    answer: Array<LedgerUpdate>
  }
  /** Profits, volume and activity of a wallet. */
  userPnlSummary: {
    request: { type: "userPnlSummary"; user: string; startTime?: number | null | undefined; endTime?: number | null | undefined; dex?: string | null | undefined }
    answer: { user: string; totalPnl: string; winRate: number; lossRate: number; totalTrades: number; volumeTraded: string; totalFees: string; totalFunding: string; daysActive: number; accountAgeDays: number; tradedPairs: Array<string> }
  }
  /** What the exchange allows a user to send. */
  userRateLimit: {
    request: { type: "userRateLimit"; user: string }
    answer: { cumVlm: string; nRequestsUsed: number; nRequestsCap: number; nRequestsSurplus?: number | undefined }
  }
  /** What an address is. */
  userRole: {
    request: { type: "userRole"; user: string }
    answer: { role: "missing" } | { role: "user" } | { role: "vault" } | { role: "agent"; data: { user: string } } | { role: "subAccount"; data: { master: string } } | { role: string }
  }
  /** Who signs for a multi-sig user. */
  userToMultiSigSigners: {
    request: { type: "userToMultiSigSigners"; user: string }
    answer: { authorizedUsers: Array<string>; threshold: number } | null
  }
  /** The last fills of a user's TWAP orders. */
  userTwapSliceFills: {
    request: { type: "userTwapSliceFills"; user: string }
    answer: Array<TwapSliceFill>
  }
  /** The fills of a user's TWAP orders in a window. */
  userTwapSliceFillsByTime: {
    request: { type: "userTwapSliceFillsByTime"; user: string; startTime: number; endTime?: number | null | undefined; aggregateByTime?: boolean | null | undefined }
    answer: Array<TwapSliceFill>
  }
  /** What a user holds in vaults. */
  userVaultEquities: {
    request: { type: "userVaultEquities"; user: string }
    answer: Array<{ vaultAddress: string; equity: string; lockedUntilTimestamp: number }>
  }
  /** Open votes of the validators. */
  validatorL1Votes: {
    request: { type: "validatorL1Votes" }
    answer: Array<{ expireTime: number; action: { D: string } | { C: Array<string> } | { O: { registerTokensAndStandaloneOutcome: { quoteToken: number; nameAndDescription: [string, string] } } | { registerTokensAndQuestion: { quoteToken: number; questionNameAndDescription: [string, string]; fallbackNameAndDescription: [string, string]; namedOutcomes: Array<[string, string]> } } | { registerTemplate: { id: string; role: { standaloneOutcome: { sideNames: [string, string] } } | Record<string, unknown>; nameAndDescription: [string, string]; keywordToHint: Array<[string, "dateTime" | "date" | "string" | "hlPerp" | (string & {})]> } } | { settleOutcome: { outcome: number; settleFraction: string; details: string } } | { settleQuestion: { question: number; settleFractionsAndDetails: Array<[number, [string, string]]> } } | { settleQuestion2: { question: number; outcomeSettlements: Array<{ outcome: number; settleFraction: string; details: string; nameAndDescription: [string, string]; sideNames: [string, string] }>; nameAndDescription: [string, string] } } | Record<string, unknown> } | { E: { token: number; technicalStaker: string; treasuryStaker: string; treasuryEvmAddress: string; evmRebalanceContract: string } } | Record<string, unknown>; votes: Array<string>; quorumReached: boolean }>
  }
  /** The validators, their stake and how they did. */
  validatorSummaries: {
    request: { type: "validatorSummaries" }
    answer: Array<{ validator: string; signer: string; name: string; description: string; nRecentBlocks: number; stake: number; isJailed: boolean; unjailableAfter: number | null; isActive: boolean; commission: string; stats: Array<[string, { uptimeFraction: string; predictedApr: string; nSamples: number }]> }>
  }
  /** One vault, and the part of a user in it. */
  vaultDetails: {
    request: { type: "vaultDetails"; vaultAddress: string; user?: string | null | undefined }
    answer: { name: string; vaultAddress: string; leader: string; description: string; portfolio: Portfolio; apr: number; followerState: { user: (string & {}) | "Leader"; vaultEquity: string; pnl: string; allTimePnl: string; daysFollowing: number; vaultEntryTime: number; lockupUntil: number } | null; leaderFraction: number; leaderCommission: number; followers: Array<{ user: (string & {}) | "Leader"; vaultEquity: string; pnl: string; allTimePnl: string; daysFollowing: number; vaultEntryTime: number; lockupUntil: number }>; maxDistributable: number; maxWithdrawable: number; isClosed: boolean; relationship: VaultRelationship; allowDeposits: boolean; alwaysCloseOnWithdraw: boolean } | null
  }
  /** A line per vault. */
  vaultSummaries: {
    request: { type: "vaultSummaries" }
    answer: Array<{ name: string; vaultAddress: string; leader: string; tvl: string; isClosed: boolean; relationship: VaultRelationship; createTimeMillis: number }>
  }
  /** A user's account and the markets in one answer (deprecated). */
  webData2: {
    request: { type: "webData2"; user: string }
    answer: { clearinghouseState: PerpState; leadingVaults: Array<{ address: string; name: string }>; totalVaultEquity: string; openOrders: Array<FrontendOrder>; agentAddress: string | null; agentValidUntil: number | null; cumLedger: string; serverTime: number; isVault: boolean; user: string; optOutOfSpotDusting?: boolean | undefined; meta: PerpMeta; assetCtxs: Array<PerpAssetCtx>; twapStates: Array<[number, TwapState]>; spotState?: SpotState | undefined; spotAssetCtxs: Array<SpotAssetCtx>; perpsAtOpenInterestCap?: Array<string> | undefined }
  }
}

/** Channels of `/ws`. */
export interface ChannelTypes {
  /** Fills of up to 1,000 wallets. */
  userFills: {
    body: { type: "userFills"; addresses?: Array<string> | undefined; users?: Array<string> | undefined; user?: string | undefined; aggregateByTime?: boolean | undefined }
    frame: { channel: "userFills"; fills: Array<[string, { coin: string; px: string; sz: string; side: "B" | "A"; time: number; startPosition: string; dir: "Open Long" | "Open Short" | "Close Long" | "Close Short" | "Long > Short" | "Short > Long" | "Buy" | "Sell" | "Spot Dust Conversion" | "Net Child Vaults" | "Split Outcome" | "Merge Outcome" | "Merge Question" | (string & {}); closedPnl: string; hash: string; oid: number; crossed: boolean; fee: string; builderFee?: string | undefined; tid?: number | undefined; cloid?: string | null | undefined; liquidation?: { liquidatedUser?: string | undefined; markPx: string; method: "market" | "backstop" | (string & {}) } | undefined; feeToken?: string | undefined; feeTrialEscrow?: string | undefined; twapId?: number | null | undefined; builder?: string | undefined; deployerFee?: string | undefined }]>; block_height?: number | undefined; time?: number | undefined; data?: { user: string; fills: Array<{ coin: string; px: string; sz: string; side: "B" | "A"; time: number; startPosition: string; dir: "Open Long" | "Open Short" | "Close Long" | "Close Short" | "Long > Short" | "Short > Long" | "Buy" | "Sell" | "Spot Dust Conversion" | "Net Child Vaults" | "Split Outcome" | "Merge Outcome" | "Merge Question" | (string & {}); closedPnl: string; hash: string; oid: number; crossed: boolean; fee: string; builderFee?: string | undefined; tid?: number | undefined; cloid?: string | null | undefined; liquidation?: { liquidatedUser?: string | undefined; markPx: string; method: "market" | "backstop" | (string & {}) } | undefined; feeToken?: string | undefined; feeTrialEscrow?: string | undefined; twapId?: number | null | undefined; builder?: string | undefined; deployerFee?: string | undefined }> } | undefined }
  }
  /** Balance movements, funding payments excepted, of up to 1,000 wallets. */
  userNonFundingLedgerUpdates: {
    body: { type: "userNonFundingLedgerUpdates"; addresses?: Array<string> | undefined; users?: Array<string> | undefined; user?: string | undefined }
    frame: { channel: "userNonFundingLedgerUpdates"; data: { user: string; isSnapshot: boolean; nonFundingLedgerUpdates: Array<LedgerUpdate>; block_height?: number | undefined; time?: number | undefined } }
  }
  /** Fills of everyone, in one market or in all. */
  allFills: {
    body: { type: "allFills"; coin?: string | undefined; aggregateByTime?: boolean | undefined }
    frame: { channel: "allFills"; fills: Array<[string, { coin: string; px: string; sz: string; side: "B" | "A"; time: number; startPosition: string; dir: "Open Long" | "Open Short" | "Close Long" | "Close Short" | "Long > Short" | "Short > Long" | "Buy" | "Sell" | "Spot Dust Conversion" | "Net Child Vaults" | "Split Outcome" | "Merge Outcome" | "Merge Question" | (string & {}); closedPnl: string; hash: string; oid: number; crossed: boolean; fee: string; builderFee?: string | undefined; tid?: number | undefined; cloid?: string | null | undefined; liquidation?: { liquidatedUser?: string | undefined; markPx: string; method: "market" | "backstop" | (string & {}) } | undefined; feeToken?: string | undefined; feeTrialEscrow?: string | undefined; twapId?: number | null | undefined; builder?: string | undefined; deployerFee?: string | undefined }]>; block_height?: number | undefined; time?: number | undefined }
  }
  /** Full-depth books: a Snapshot of each coin, then the changed levels of each block. */
  l2BookDiff: {
    body: { type: "l2BookDiff"; coin?: string | Array<string> | undefined; marketTypes?: Array<"perp" | "spot" | "outcome" | "*"> | undefined }
    frame: { channel: "l2BookDiff"; data: { Snapshot: { coin: string; time: number; block_height: number; levels: [Array<{ px: string; sz: string; n: number }>, Array<{ px: string; sz: string; n: number }>] } } | { Updates: { time: number; block_height: number; book_diffs: Array<{ coin: string; levels: [Array<{ px: string; sz: string; n: number }>, Array<{ px: string; sz: string; n: number }>] }> } } }
  }
  /** Changed levels of full-depth books with sequence numbers; books come from `l2BookDiffSnapshot`. */
  l2BookDiff2: {
    body: { type: "l2BookDiff2"; coin?: string | Array<string> | undefined; marketTypes?: Array<"perp" | "spot" | "outcome" | "*"> | undefined; checksum?: boolean | undefined }
    frame: { channel: "l2BookDiff2"; data: { Updates: { time: number; block_height: number; epoch: string; cursor: string; book_diffs: Array<{ coin: string; seq: number; prev_seq: number; levels: [Array<{ px: string; sz: string; n: number }>, Array<{ px: string; sz: string; n: number }>]; checksum?: number | undefined }> } } }
  }
  /** Every order of a book: a Snapshot, then the order statuses and book diffs of each block. */
  l4Book: {
    body: { type: "l4Book"; coin: string }
    frame: { channel: "l4Book"; data: { Snapshot: { coin: string; time: number; block_height: number; epoch: string | null; levels: [Array<{ user: string; coin: string; side: "B" | "A"; limitPx: string; sz: string; oid: number; timestamp: number; triggerCondition: string; isTrigger: boolean; triggerPx: string; isPositionTpsl: boolean; reduceOnly: boolean; orderType: string; tif: string | null; cloid: string | null }>, Array<{ user: string; coin: string; side: "B" | "A"; limitPx: string; sz: string; oid: number; timestamp: number; triggerCondition: string; isTrigger: boolean; triggerPx: string; isPositionTpsl: boolean; reduceOnly: boolean; orderType: string; tif: string | null; cloid: string | null }>] } } | { Updates: { time: number; block_height: number; epoch: string | null; prev_block_height: number; order_statuses: Array<{ time: string; user: string; status: string; order: { coin: string; side: "B" | "A"; limitPx: string; sz: string; oid: number; timestamp: number; triggerCondition: string; isTrigger: boolean; triggerPx: string; isPositionTpsl: boolean; reduceOnly: boolean; orderType: string; tif: string | null; cloid: string | null } }>; book_diffs: Array<{ user: string; oid: number; coin: string; side: "B" | "A"; px: string; raw_book_diff: "remove" | { new: { sz: string } } | { update: { origSz: string; newSz: string } } }> } } }
  }
  /** Trades in one market, as the public server shows them. */
  trades: {
    body: { type: "trades"; coin: string }
    frame: { channel: "trades"; data: Array<{ coin: string; side: "B" | "A"; px: string; sz: string; time: number; hash: string; tid: number; users: [string, string] }>; block_height?: number | undefined; time?: number | undefined }
  }
  /** Fills of orders that came through one builder, or up to 1,000. */
  builderFills: {
    body: { type: "builderFills"; builder?: string | undefined; addresses?: Array<string> | undefined; aggregateByTime?: boolean | undefined }
    frame: { channel: "builderFills"; fills: Array<[string, { coin: string; px: string; sz: string; side: "B" | "A"; time: number; startPosition: string; dir: "Open Long" | "Open Short" | "Close Long" | "Close Short" | "Long > Short" | "Short > Long" | "Buy" | "Sell" | "Spot Dust Conversion" | "Net Child Vaults" | "Split Outcome" | "Merge Outcome" | "Merge Question" | (string & {}); closedPnl: string; hash: string; oid: number; crossed: boolean; fee: string; builderFee?: string | undefined; tid?: number | undefined; cloid?: string | null | undefined; liquidation?: { liquidatedUser?: string | undefined; markPx: string; method: "market" | "backstop" | (string & {}) } | undefined; feeToken?: string | undefined; feeTrialEscrow?: string | undefined; twapId?: number | null | undefined; builder: string; deployerFee?: string | undefined }]>; block_height?: number | undefined; time?: number | undefined }
  }
  /** Fills of liquidations, of everyone. */
  liquidationFills: {
    body: { type: "liquidationFills" }
    frame: { channel: "liquidationFills"; fills: Array<[string, { coin: string; px: string; sz: string; side: "B" | "A"; time: number; startPosition: string; dir: "Open Long" | "Open Short" | "Close Long" | "Close Short" | "Long > Short" | "Short > Long" | "Buy" | "Sell" | "Spot Dust Conversion" | "Net Child Vaults" | "Split Outcome" | "Merge Outcome" | "Merge Question" | (string & {}); closedPnl: string; hash: string; oid: number; crossed: boolean; fee: string; builderFee?: string | undefined; tid?: number | undefined; cloid?: string | null | undefined; liquidation: { liquidatedUser?: string | undefined; markPx: string; method: "market" | "backstop" | (string & {}) }; feeToken?: string | undefined; feeTrialEscrow?: string | undefined; twapId?: number | null | undefined; builder?: string | undefined; deployerFee?: string | undefined }]>; block_height?: number | undefined; time?: number | undefined }
  }
  /** Liquidations of positions last traded through a builder. */
  builderLiquidations: {
    body: { type: "builderLiquidations"; builder: string; dex?: string | undefined; aggregateByTime?: boolean | undefined }
    frame: { channel: "builderLiquidations"; fills: Array<[string, { coin: string; px: string; sz: string; side: "B" | "A"; time: number; startPosition: string; dir: "Open Long" | "Open Short" | "Close Long" | "Close Short" | "Long > Short" | "Short > Long" | "Buy" | "Sell" | "Spot Dust Conversion" | "Net Child Vaults" | "Split Outcome" | "Merge Outcome" | "Merge Question" | (string & {}); closedPnl: string; hash: string; oid: number; crossed: boolean; fee: string; builderFee?: string | undefined; tid?: number | undefined; cloid?: string | null | undefined; liquidation: { liquidatedUser?: string | undefined; markPx: string; method: "market" | "backstop" | (string & {}) }; feeToken?: string | undefined; feeTrialEscrow?: string | undefined; twapId?: number | null | undefined; builder: string; deployerFee?: string | undefined }]>; block_height?: number | undefined; time?: number | undefined }
  }
  /** Fills, TWAP orders, orders ended by others and funding of a user. */
  userEvents: {
    body: { type: "userEvents"; user: string }
    frame: { channel: "user"; data: { fills: Array<{ coin: string; px: string; sz: string; side: "B" | "A"; time: number; startPosition: string; dir: "Open Long" | "Open Short" | "Close Long" | "Close Short" | "Long > Short" | "Short > Long" | "Buy" | "Sell" | "Spot Dust Conversion" | "Net Child Vaults" | "Split Outcome" | "Merge Outcome" | "Merge Question" | (string & {}); closedPnl: string; hash: string; oid: number; crossed: boolean; fee: string; builderFee?: string | undefined; tid?: number | undefined; cloid?: string | null | undefined; liquidation?: { liquidatedUser?: string | undefined; markPx: string; method: "market" | "backstop" | (string & {}) } | undefined; feeToken?: string | undefined; feeTrialEscrow?: string | undefined; twapId?: number | null | undefined; builder?: string | undefined; deployerFee?: string | undefined }> } | { twapSliceFills: Array<TwapSliceFill> } | { twapHistory: Array<{ time: number; state: TwapState; status: { status: "activated" | "finished" | "terminated" | "waitingForTrigger" | "stopped" | "error" | (string & {}); description?: string | undefined }; twapId?: number | undefined }> } | { nonUserCancel: Array<{ coin: string; oid: number }> } | { funding: { time: number; coin: string; usdc: string; szi: string; fundingRate: string; nSamples: number | null } }; block_height?: number | undefined; time?: number | undefined }
  }
  /** The funding that a user paid and got. */
  userFundings: {
    body: { type: "userFundings"; user: string }
    frame: { channel: "userFundings"; data: { isSnapshot?: true | undefined; user: string; fundings: Array<{ time: number; coin: string; usdc: string; szi: string; fundingRate: string; nSamples: number | null }> }; block_height?: number | undefined; time?: number | undefined }
  }
  /** Fills of the slices of a user's TWAP orders. */
  userTwapSliceFills: {
    body: { type: "userTwapSliceFills"; user: string }
    frame: { channel: "userTwapSliceFills"; data: { isSnapshot?: true | undefined; user: string; twapSliceFills: Array<TwapSliceFill> }; block_height?: number | undefined; time?: number | undefined }
  }
  /** What became of a user's TWAP orders. */
  userTwapHistory: {
    body: { type: "userTwapHistory"; user: string }
    frame: { channel: "userTwapHistory"; data: { isSnapshot?: true | undefined; user: string; history: Array<{ time: number; state: TwapState; status: { status: "activated" | "finished" | "terminated" | "waitingForTrigger" | "stopped" | "error" | (string & {}); description?: string | undefined }; twapId?: number | undefined }> }; block_height?: number | undefined; time?: number | undefined }
  }
  /** A sentence for each resting order of a user that was filled. */
  notification: {
    body: { type: "notification"; user: string }
    frame: { channel: "notification"; data: { notification: string }; block_height?: number | undefined; time?: number | undefined }
  }
  /** Outcome markets and questions that were created, changed or settled. */
  outcomeMetaUpdates: {
    body: { type: "outcomeMetaUpdates" }
    frame: { channel: "outcomeMetaUpdates"; data: Array<{ outcomeCreated: { outcome: number; name: string; description: string; sideSpecs: Array<{ name: string; token?: number | undefined }>; quoteToken: string; venue?: string | undefined; deployerFeeScale?: string | undefined } } | { outcomeSettled: number } | { questionUpdated: { question: number; name: string; description: string; fallbackOutcome: number; namedOutcomes: Array<number>; settledNamedOutcomes: Array<number> } } | { questionSettled: number } | Record<string, unknown>>; block_height?: number | undefined; time?: number | undefined }
  }
  /** What becomes of the orders of up to 1,000 wallets. */
  orderUpdates: {
    body: { type: "orderUpdates"; addresses?: Array<string> | undefined; users?: Array<string> | undefined; user?: string | undefined }
    frame: { channel: "orderUpdates"; updates: Array<{ order: { coin: string; side: "B" | "A"; limitPx: string; sz: string; oid: number; timestamp: number; origSz?: string | undefined; cloid?: string | undefined; reduceOnly?: boolean | undefined }; status: "open" | "filled" | "canceled" | "triggered" | "rejected" | "marginCanceled" | "vaultWithdrawalCanceled" | "openInterestCapCanceled" | "selfTradeCanceled" | "reduceOnlyCanceled" | "siblingFilledCanceled" | "delistedCanceled" | "liquidatedCanceled" | "outcomeSettledCanceled" | "scheduledCancel" | "internalCancel" | "tickRejected" | "minTradeNtlRejected" | "perpMarginRejected" | "reduceOnlyRejected" | "badAloPxRejected" | "iocCancelRejected" | "badTriggerPxRejected" | "marketOrderNoLiquidityRejected" | "positionIncreaseAtOpenInterestCapRejected" | "positionFlipAtOpenInterestCapRejected" | "tooAggressiveAtOpenInterestCapRejected" | "openInterestIncreaseRejected" | "insufficientSpotBalanceRejected" | "oracleRejected" | "perpMaxPositionRejected" | "tooManyOpenOrdersRejected" | (string & {}); statusTimestamp: number; user: string }>; data?: Array<{ order: { coin: string; side: "B" | "A"; limitPx: string; sz: string; oid: number; timestamp: number; origSz?: string | undefined; cloid?: string | undefined; reduceOnly?: boolean | undefined }; status: "open" | "filled" | "canceled" | "triggered" | "rejected" | "marginCanceled" | "vaultWithdrawalCanceled" | "openInterestCapCanceled" | "selfTradeCanceled" | "reduceOnlyCanceled" | "siblingFilledCanceled" | "delistedCanceled" | "liquidatedCanceled" | "outcomeSettledCanceled" | "scheduledCancel" | "internalCancel" | "tickRejected" | "minTradeNtlRejected" | "perpMarginRejected" | "reduceOnlyRejected" | "badAloPxRejected" | "iocCancelRejected" | "badTriggerPxRejected" | "marketOrderNoLiquidityRejected" | "positionIncreaseAtOpenInterestCapRejected" | "positionFlipAtOpenInterestCapRejected" | "tooAggressiveAtOpenInterestCapRejected" | "openInterestIncreaseRejected" | "insufficientSpotBalanceRejected" | "oracleRejected" | "perpMaxPositionRejected" | "tooManyOpenOrdersRejected" | (string & {}); statusTimestamp: number }> | undefined; block_height?: number | undefined; time?: number | undefined }
  }
  /** Twenty levels a side, or five, rounded or not, as the public server shows them. */
  l2Book: {
    body: { type: "l2Book"; coin?: string | undefined; marketTypes?: Array<"perp" | "spot" | "outcome" | "*"> | undefined; nSigFigs?: number | null | undefined; mantissa?: 1 | 2 | 5 | null | undefined; fast?: boolean | undefined; interval?: number | undefined }
    frame: { channel: "l2Book"; data: { coin: string; time: number; levels: [Array<{ px: string; sz: string; n: number }>, Array<{ px: string; sz: string; n: number }>]; spread?: string | undefined; fast?: true | undefined } }
  }
  /** The best level of each side of a market, as the public server shows it. */
  bbo: {
    body: { type: "bbo"; coin: string }
    frame: { channel: "bbo"; data: { coin: string; time: number; bbo: [{ px: string; sz: string; n: number } | null, { px: string; sz: string; n: number } | null] } }
  }
  /** The middle price of every coin of a DEX, as the public server shows them. */
  allMids: {
    body: { type: "allMids"; dex?: string | undefined; interval?: number | undefined }
    frame: { channel: "allMids"; data: { dex?: string | undefined; mids: Record<string, string> } }
  }
  /** The running candle of a market, as the public server shows it. */
  candle: {
    body: { type: "candle"; interval: "1m" | "3m" | "5m" | "15m" | "30m" | "1h" | "2h" | "4h" | "8h" | "12h" | "1d" | "3d" | "1w" | "1M"; coin: string }
    frame: { channel: "candle"; data: Candle; block_height?: number | undefined; time?: number | undefined }
  }
  /** A user's account on one perp DEX. */
  clearinghouseState: {
    body: { type: "clearinghouseState"; user: string; dex?: string | undefined }
    frame: { channel: "clearinghouseState"; data: { dex: string; user: string; clearinghouseState: PerpState } }
  }
  /** The resting orders of a user on one perp DEX. */
  openOrders: {
    body: { type: "openOrders"; user: string; dex?: string | undefined }
    frame: { channel: "openOrders"; data: { dex: string; user: string; orders: Array<FrontendOrder> } }
  }
  /** The spot balances of a user. */
  spotState: {
    body: { type: "spotState"; user: string; ignorePortfolioMargin?: boolean | undefined; isPortfolioMargin?: boolean | undefined }
    frame: { channel: "spotState"; data: { user: string; spotState: SpotState } }
  }
  /** What a user can buy and sell of a perp. */
  activeAssetData: {
    body: { type: "activeAssetData"; user: string; coin: string }
    frame: { channel: "activeAssetData"; data: { user: string; coin: string; leverage: { type: "cross"; value: number } | { type: "isolated"; value: number; rawUsd: string } | { type: string }; maxTradeSzs: [string, string]; availableToTrade: [string, string]; markPx: string } }
  }
  /** What one market trades at. */
  activeAssetCtx: {
    body: { type: "activeAssetCtx"; coin: string }
    frame: { channel: "activeAssetCtx"; data: { coin: string; ctx: PerpAssetCtx } } | { channel: "activeSpotAssetCtx"; data: { coin: string; ctx: SpotAssetCtx } }
  }
  /** A user's account and the markets in one frame (deprecated). */
  webData2: {
    body: { type: "webData2"; user: string }
    frame: { channel: "webData2"; data: { clearinghouseState: PerpState; leadingVaults: Array<{ address: string; name: string }>; totalVaultEquity: string; openOrders: Array<FrontendOrder>; agentAddress: string | null; agentValidUntil: number | null; cumLedger: string; serverTime: number; isVault: boolean; user: string; optOutOfSpotDusting?: boolean | undefined; meta: PerpMeta; assetCtxs: Array<PerpAssetCtx>; twapStates: Array<[number, TwapState]>; spotState?: SpotState | undefined; spotAssetCtxs: Array<SpotAssetCtx>; perpsAtOpenInterestCap?: Array<string> | undefined } }
  }
  /** A user's settings, and what each perp DEX says of him. */
  webData3: {
    body: { type: "webData3"; user: string }
    frame: { channel: "webData3"; data: { userState: { agentAddress: string | null; agentValidUntil: number | null; cumLedger: string; serverTime: number; isVault: boolean; user: string; optOutOfSpotDusting?: boolean | undefined; dexAbstractionEnabled?: boolean | undefined; abstraction?: "unifiedAccount" | "portfolioMargin" | "disabled" | "dexAbstraction" | (string & {}) | undefined }; perpDexStates: Array<{ totalVaultEquity: string; perpsAtOpenInterestCap?: Array<string> | undefined; leadingVaults?: Array<{ address: string; name: string }> | undefined }> } }
  }
  /** What became of a user's orders. */
  userHistoricalOrders: {
    body: { type: "userHistoricalOrders"; user: string }
    frame: { channel: "userHistoricalOrders"; data: { isSnapshot?: true | undefined; user: string; orderHistory: Array<OrderWithStatus> } }
  }
  /** The TWAP orders of a user that are at work. */
  twapStates: {
    body: { type: "twapStates"; user: string; dex?: "" | undefined }
    frame: { channel: "twapStates"; data: { dex: string; user: string; states: Array<[number, TwapState]> } }
  }
  /** A user's account on every perp DEX. */
  allDexsClearinghouseState: {
    body: { type: "allDexsClearinghouseState"; user: string }
    frame: { channel: "allDexsClearinghouseState"; data: { user: string; clearinghouseStates: Array<[string, PerpState]> } }
  }
  /** What the markets of one perp DEX trade at. */
  assetCtxs: {
    body: { type: "assetCtxs"; dex?: string | undefined }
    frame: { channel: "assetCtxs"; data: { dex: string; ctxs: Array<PerpAssetCtx> } }
  }
  /** What all spot markets trade at. */
  spotAssetCtxs: {
    body: { type: "spotAssetCtxs" }
    frame: { channel: "spotAssetCtxs"; data: Array<SpotAssetCtx> }
  }
  /** Mark and middle of every market: base64 of raw DEFLATE of `{coin: {markPx, midPx}}`. */
  fastAssetCtxs: {
    body: { type: "fastAssetCtxs" }
    frame: { channel: "fastAssetCtxs"; data: string }
  }
  /** What the markets of every perp DEX trade at. */
  allDexsAssetCtxs: {
    body: { type: "allDexsAssetCtxs" }
    frame: { channel: "allDexsAssetCtxs"; data: { ctxs: Array<[string, Array<PerpAssetCtx>]> } }
  }
}
