// Additional responses by type. Together with the examples they contain every field, each kind of an open set, and
// every optional or nullable part both present and absent. All invented.

import { queryOf } from '../../src/info/queries/catalogue.ts'
import {
  COMPLETED_TRADE,
  FILL,
  HASH,
  OPEN_ORDER,
  OTHER_USER,
  PERP_STATE,
  TIME,
  USER,
} from '../../src/protocol/info/examples.ts'
import { channelOf } from '../../src/relay/channels/catalogue.ts'
import { BEYOND_ANSWERS, exampleOf } from './beyond-answers.ts'
import { BRACKET, CHANGED, CLOID, DEAD_CTX, ENDED_AUCTION, FULL_META, PERP_STATES, SPOT_STATES } from './full-shapes.ts'

const AMOUNT = { token: 'HYPE', amount: '12.5' }
const SENT = {
  token: 'USDC',
  amount: '100.0',
  usdcValue: '100.0',
  user: USER,
  destination: OTHER_USER,
  fee: '1.0',
  nativeTokenFee: '0.0',
  feeToken: 'USDC',
}
const DELTAS = [
  { type: 'aDeltaOfTomorrow', x: {} },
  { type: 'deposit', usdc: '250.0' },
  { type: 'withdraw', usdc: '100.0', nonce: TIME, fee: '1.0' },
  { type: 'internalTransfer', usdc: '50.0', user: USER, destination: OTHER_USER, fee: '1.0' },
  { type: 'subAccountTransfer', usdc: '50.0', user: USER, destination: OTHER_USER },
  { type: 'accountClassTransfer', usdc: '75.5', toPerp: true },
  { type: 'spotTransfer', ...SENT, nonce: null },
  { type: 'spotTransfer', ...SENT, nonce: TIME },
  { type: 'send', ...SENT, sourceDex: 'spot', destinationDex: 'xyz', nonce: TIME },
  {
    type: 'liquidation',
    liquidatedNtlPos: '145.503',
    accountValue: '-0.25',
    leverageType: 'Cross',
    liquidatedPositions: [{ coin: 'WIF', szi: '-234.0' }],
  },
  { type: 'vaultCreate', vault: OTHER_USER, usdc: '1000.0', fee: '100.0' },
  { type: 'vaultDeposit', vault: OTHER_USER, usdc: '500.0' },
  {
    type: 'vaultWithdraw',
    vault: OTHER_USER,
    user: USER,
    requestedUsd: '120.0',
    commission: '2.0',
    closingCost: '0.0',
    basis: '100.0',
    netWithdrawnUsd: '118.0',
  },
  { type: 'vaultDistribution', vault: OTHER_USER, usdc: '10.0' },
  { type: 'vaultLeaderCommission', user: USER, usdc: '2.0' },
  { type: 'spotGenesis', token: 'PURR', amount: '-5.0' },
  { type: 'rewardsClaim', ...AMOUNT },
  { type: 'rewardsClaim', amount: '3.25' },
  { type: 'accountActivationGas', token: 'USDC', amount: '1.0' },
  { type: 'perpDexClassTransfer', token: 'USDC', amount: '20.0', dex: 'xyz', toPerp: true },
  { type: 'deployGasAuction', ...AMOUNT },
  { type: 'cStakingTransfer', ...AMOUNT, isDeposit: true },
  { type: 'borrowLend', ...AMOUNT, operation: 'supply', interestAmount: '0.001' },
  { type: 'activateDexAbstraction', dex: 'xyz', token: 'USDC', amount: '20.0' },
  { type: 'gossipPriorityGasAuction', ...AMOUNT },
]
/** One ledger update per kind. */
const LEDGER = DELTAS.map((delta) => ({ time: TIME, hash: HASH, delta }))

const FULL_FILL = {
  ...FILL,
  builderFee: '0.081307',
  cloid: CLOID,
  liquidation: { liquidatedUser: USER, markPx: '81300.0', method: 'market' },
  feeTrialEscrow: '0.1',
  twapId: 3,
}
const { liquidatedUser: _, ...unnamed } = FULL_FILL.liquidation
/** A fill with all optional fields, and one with an anonymous liquidation. */
const FILLS = [FULL_FILL, { ...FULL_FILL, cloid: null, liquidation: unnamed }]

const STATUSED = { order: BRACKET, status: 'open', statusTimestamp: TIME }

const SPOT_TOKEN = { szDecimals: 2, weiDecimals: 8, tokenId: `0x${'6e'.repeat(16)}`, deployerTradingFeeShare: '0.0' }
const FULL_SPOT_META = {
  universe: [{ tokens: [150, 0], name: '@107', index: 107, isCanonical: false }],
  tokens: [
    {
      ...SPOT_TOKEN,
      name: 'HYPE',
      index: 150,
      isCanonical: false,
      fullName: 'A token',
      evmContract: { address: USER, evm_extra_wei_decimals: -2 },
    },
  ],
}

const DEX = { name: 'flx', fullName: 'FLX', deployer: USER, oracleUpdater: OTHER_USER, feeRecipient: USER }
const OI_CAPS = [['flx:OIL', '1000000.0']]
const FOLLOWER = { user: OTHER_USER, vaultEquity: '10.0', pnl: '0.0', allTimePnl: '0.0' }
const FOLLOWING = { ...FOLLOWER, daysFollowing: 3, vaultEntryTime: TIME, lockupUntil: TIME }
const RELATIONSHIPS = [
  { type: 'child' },
  { type: 'parent', data: { childAddresses: [USER] } },
  { type: 'kindOfTomorrow' },
]

const DEPLOYMENT = {
  token: 300,
  spec: { name: 'WEIR', szDecimals: 2, weiDecimals: 8 },
  deployerTradingFeeShare: '0.0',
  spots: [12],
  hyperliquidityGenesisBalance: '0.0',
  totalGenesisBalanceWei: '10000000000000000',
  userGenesisBalances: [[USER, '100.0']],
  existingTokenGenesisBalances: [[1, '0.0']],
  blacklistUsers: [OTHER_USER],
}

const NAMED: [string, string] = ['a name', 'a description']
const ACTIONS = [
  { C: ['a proposal'] },
  { O: { registerTokensAndStandaloneOutcome: { quoteToken: 0, nameAndDescription: NAMED } } },
  {
    O: {
      registerTokensAndQuestion: {
        quoteToken: 0,
        questionNameAndDescription: NAMED,
        fallbackNameAndDescription: NAMED,
        namedOutcomes: [NAMED],
      },
    },
  },
  {
    O: {
      registerTemplate: {
        id: 'template:one',
        role: { standaloneOutcome: { sideNames: ['Yes', 'No'] } },
        nameAndDescription: NAMED,
        keywordToHint: [['when', 'dateTime']],
      },
    },
  },
  { O: { settleOutcome: { outcome: 4, settleFraction: '1.0', details: 'as said' } } },
  { O: { settleQuestion: { question: 2, settleFractionsAndDetails: [[4, ['1.0', 'as said']]] } } },
  {
    O: {
      settleQuestion2: {
        question: 2,
        nameAndDescription: NAMED,
        outcomeSettlements: [
          {
            outcome: 4,
            settleFraction: '1.0',
            details: 'as said',
            nameAndDescription: NAMED,
            sideNames: ['Yes', 'No'],
          },
        ],
      },
    },
  },
  {
    E: {
      token: 150,
      technicalStaker: USER,
      treasuryStaker: USER,
      treasuryEvmAddress: USER,
      evmRebalanceContract: USER,
    },
  },
]

const FAILED = { error: 'upstream_error', message: 'no answer in time' }

const [, [SPOT_CTX]] = queryOf('spotMetaAndAssetCtxs')!.example.response as [object, [object]]

/** Additional responses by type. */
export const MORE_ANSWERS: Readonly<Record<string, readonly unknown[]>> = {
  ...BEYOND_ANSWERS,
  allPerpMetas: [[FULL_META]],
  batchClearinghouseState: [PERP_STATES, [{ ...FAILED, user: USER }]],
  batchSpotClearinghouseState: [SPOT_STATES, [{ ...FAILED, user: USER }]],
  builderFills: [FILLS.map((fill) => ({ user: USER, ...fill })), [{ user: USER, ...FILL }]],
  builderFillsByTime: [FILLS.map((fill) => ({ user: USER, ...fill })), [{ user: USER, ...FILL }]],
  clearinghouseState: [
    ...PERP_STATES,
    ...[PERP_STATE, ...PERP_STATES].map((native) => ({ native })),
    { xyz: { ...FAILED, dex: 'xyz' } },
  ],
  delegatorHistory: [
    [
      { cDeposit: { amount: '5.0' } },
      { withdrawal: { amount: '5.0', phase: 'initiated' } },
      { aDeltaOfTomorrow: { amount: 5 } },
    ].map((delta) => ({ time: TIME, hash: HASH, delta })),
  ],
  exchangeStatus: [{ specialStatuses: 'postOnly', time: TIME }],
  extraAgents: [[{ name: 'bot', address: OTHER_USER, validUntil: null }]],
  frontendOpenOrders: [[BRACKET]],
  fundingHistory: [
    [{ coin: 'BTC', fundingRate: '0.0', premium: 'NaN', time: TIME }],
    [{ coin: 'BTC', fundingRate: '0.0', time: TIME }],
  ],
  historicalOrders: [[STATUSED]],
  l2Book: [null, { coin: 'BTC', time: TIME, levels: [[], []], spread: '1.0' }],
  l2BookDiffSnapshot: [null],
  marginTable: [null],
  meta: [FULL_META],
  metaAndAssetCtxs: [[FULL_META, [DEAD_CTX]]],
  openOrders: [[{ ...OPEN_ORDER, cloid: CLOID, reduceOnly: true }]],
  orderStatus: [{ status: 'order', order: STATUSED }, { status: 'unknownOid' }, { status: 'statusOfTomorrow' }],
  outcomeMeta: [
    {
      ...exampleOf('outcomeMeta'),
      outcomes: [
        {
          outcome: 5,
          name: 'No other',
          description: '',
          sideSpecs: [{ name: 'Yes' }, { name: 'No' }],
          quoteToken: 'USDC',
        },
      ],
    },
  ],
  perpDeployAuctionStatus: [ENDED_AUCTION],
  perpDexLimits: [null],
  perpDexs: [
    [
      {
        ...DEX,
        assetToStreamingOiCap: OI_CAPS,
        subDeployers: [['setOracle', [OTHER_USER]]],
        deployerFeeScale: '1.0',
        lastDeployerFeeScaleChangeTime: CHANGED,
        assetToFundingMultiplier: OI_CAPS,
        assetToFundingInterestRate: OI_CAPS,
        assetToFundingClamp: OI_CAPS,
      },
    ],
  ],
  portfolioState: [...PERP_STATES, PERP_STATE].flatMap((state, i) => [
    { clearinghouseState: state, spotClearinghouseState: SPOT_STATES[i % 2], userAbstraction: 'default' },
    {
      clearinghouseState: { native: state, xyz: { ...FAILED, dex: 'xyz' } },
      spotClearinghouseState: SPOT_STATES[i % 2],
      userAbstraction: 'default',
    },
  ]),
  spotClearinghouseState: SPOT_STATES,
  spotDeployState: [
    {
      states: [null, '1000.0', 1000].map((maxSupply) => ({ ...DEPLOYMENT, fullName: null, maxSupply })),
      gasAuction: ENDED_AUCTION,
    },
    { states: [{ ...DEPLOYMENT, fullName: 'A token', maxSupply: null }], gasAuction: ENDED_AUCTION },
  ],
  spotMeta: [FULL_SPOT_META],
  spotMetaAndAssetCtxs: [[FULL_SPOT_META, [{ ...SPOT_CTX, midPx: null }]]],
  subAccounts: [
    null,
    PERP_STATES.map((clearinghouseState, i) => ({
      name: 'a',
      subAccountUser: USER,
      master: OTHER_USER,
      clearinghouseState,
      spotState: SPOT_STATES[i],
    })),
  ],
  userCompletedTrades: [[{ ...COMPLETED_TRADE, builder: OTHER_USER }]],
  userCompletedTradesByTime: [[{ ...COMPLETED_TRADE, builder: OTHER_USER }]],
  userFees: [
    { type: 'requested', stakingUser: USER },
    { type: 'tradingUser', stakingUser: USER },
    { type: 'stakingUser', tradingUser: USER },
    { type: 'kindOfTomorrow' },
  ].map((stakingLink) => {
    const { feeTrialEscrow, ...fees } = exampleOf('userFees')
    return { ...fees, feeTrialReward: feeTrialEscrow, nextTrialAvailableTimestamp: TIME, stakingLink }
  }),
  userFills: [FILLS],
  userFillsByTime: [FILLS],
  userNonFundingLedgerUpdates: [LEDGER],
  userRole: [
    ...['missing', 'user', 'vault', 'roleOfTomorrow'].map((role) => ({ role })),
    { role: 'subAccount', data: { master: OTHER_USER } },
  ],
  userToMultiSigSigners: [null],
  userTwapSliceFills: [FILLS.map((fill) => ({ fill, twapId: 3 }))],
  userTwapSliceFillsByTime: [FILLS.map((fill) => ({ fill, twapId: 3 }))],
  validatorL1Votes: [ACTIONS.map((action) => ({ expireTime: TIME, action, votes: [USER], quorumReached: true }))],
  vaultDetails: [
    null,
    ...RELATIONSHIPS.map((relationship) => ({
      ...exampleOf('vaultDetails'),
      followerState: FOLLOWING,
      followers: [FOLLOWING],
      relationship,
    })),
  ],
  vaultSummaries: [
    RELATIONSHIPS.map((relationship) => ({ ...(exampleOf('vaultSummaries') as unknown as object[])[0], relationship })),
  ],
}

const fillFrames = (channel: string) =>
  [FILL, ...FILLS].map((fill) => ({
    channel,
    fills: [[USER, { ...fill, deployerFee: '0.1' }]],
    block_height: 7,
    time: TIME,
  }))

type FillFrames = ReturnType<typeof fillFrames>
const throughBuilder = (frames: FillFrames) =>
  frames.map((frame) => ({
    ...frame,
    fills: frame.fills.map(([user, fill]) => [user, { ...(fill as object), builder: OTHER_USER }]),
  }))
const liquidationFrames = (channel: string) => {
  const [, ...liquidated] = fillFrames(channel)
  return [...liquidated, ...throughBuilder(liquidated)] as FillFrames
}

const outcomesOf = (type: string) =>
  [exampleOf(type), ...(MORE_ANSWERS[type] ?? [])].flatMap(
    (meta) => (meta as { outcomes: { deployer?: unknown }[] }).outcomes,
  )
const rowsOf = (type: string) => [exampleOf(type), ...(MORE_ANSWERS[type] ?? [])].flat() as object[]
const PAYMENTS = (rowsOf('userFunding') as { time: number; delta: { type: string } }[]).map(
  ({ time, delta: { type: _, ...amounts } }) => ({ time, ...amounts }),
)
const listFrames = (channel: string, list: string, rows: readonly object[]) => [
  { channel, data: { isSnapshot: true, user: USER, [list]: rows } },
  { channel, data: { user: USER, [list]: rows }, block_height: 7, time: TIME },
]

const BEST = { px: '81307.0', sz: '0.5', n: 2 }
const statesOf = (channel: string, field: string, states: readonly unknown[], more: object = {}) =>
  states.map((state) => ({ channel, data: { ...more, user: USER, [field]: state } }))
const WEB_DATA = [exampleOf('webData2'), ...BEYOND_ANSWERS.webData2!] as { twapStates: unknown }[]
const STATE_FRAMES: Readonly<Record<string, readonly unknown[]>> = {
  clearinghouseState: statesOf('clearinghouseState', 'clearinghouseState', PERP_STATES, { dex: 'xyz' }),
  spotState: statesOf('spotState', 'spotState', SPOT_STATES),
  openOrders: statesOf('openOrders', 'orders', [[BRACKET]], { dex: 'xyz' }),
  activeAssetData: BEYOND_ANSWERS.activeAssetData!.map((data) => ({ channel: 'activeAssetData', data })),
  activeAssetCtx: [
    { channel: 'activeAssetCtx', data: { coin: 'BTC', ctx: DEAD_CTX } },
    ...[SPOT_CTX, { ...SPOT_CTX, midPx: null }].map((ctx) => ({
      channel: 'activeSpotAssetCtx',
      data: { coin: 'PURR/USDC', ctx },
    })),
  ],
  webData2: BEYOND_ANSWERS.webData2!.map((data) => ({ channel: 'webData2', data })),
  webData3: [
    {
      channel: 'webData3',
      data: {
        userState: {
          agentAddress: null,
          agentValidUntil: null,
          cumLedger: '5.0',
          serverTime: TIME,
          isVault: true,
          user: USER,
        },
        perpDexStates: [{ totalVaultEquity: '0.0' }],
      },
    },
  ],
  userHistoricalOrders: statesOf('userHistoricalOrders', 'orderHistory', [[STATUSED]]),
  twapStates: WEB_DATA.map(({ twapStates: states }) => ({
    channel: 'twapStates',
    data: { dex: '', user: USER, states },
  })),
  allDexsClearinghouseState: statesOf(
    'allDexsClearinghouseState',
    'clearinghouseStates',
    PERP_STATES.map((state) => [['xyz', state]]),
  ),
  assetCtxs: [{ channel: 'assetCtxs', data: { dex: 'xyz', ctxs: [DEAD_CTX] } }],
  spotAssetCtxs: [{ channel: 'spotAssetCtxs', data: [{ ...SPOT_CTX, midPx: null }] }],
  allDexsAssetCtxs: [{ channel: 'allDexsAssetCtxs', data: { ctxs: [['xyz', [DEAD_CTX]]] } }],
}

const { updates } = channelOf('orderUpdates')!.example.frame as { updates: { user?: string; order: object }[] }
const { user: _user, ...UPDATE } = updates[0]!
const ORDER_UPDATE = { ...UPDATE, order: { ...UPDATE.order, reduceOnly: true } }

/** Additional frames by channel. */
const L4_PLACE = { time: TIME, block_height: 7, epoch: 'e' }
const L4_ORDER = {
  coin: 'BTC',
  side: 'B',
  limitPx: '81307.0',
  sz: '0.5',
  oid: 90001,
  timestamp: TIME,
  triggerCondition: 'N/A',
  isTrigger: false,
  triggerPx: '0.0',
  isPositionTpsl: false,
  reduceOnly: false,
  orderType: 'Limit',
  tif: 'Alo',
  cloid: '0x00000000000000000000000000000001',
}

const ORACLE_PX = { px: '1.0', last_update_time: '1970-01-01T00:00:00', daily_px: '1.0' }
const ACTION = { user: USER, nonce: 1, evm_tx_hash: `0x${'0c'.repeat(32)}` }
const SEND = {
  type: 'SystemSendAssetAction',
  destination: USER,
  token: 0,
  wei: 1,
  sourceDexOrSpot: 0,
  destinationDexOrSpot: 1,
  fromSubAccount: null,
}

export const MORE_FRAMES: Readonly<Record<string, readonly unknown[]>> = {
  userNonFundingLedgerUpdates: LEDGER.map((update) => ({
    channel: 'userNonFundingLedgerUpdates',
    data: { user: USER, isSnapshot: true, nonFundingLedgerUpdates: [update], block_height: 7, time: TIME },
  })),
  userFills: fillFrames('userFills').map((frame) => ({
    ...frame,
    data: { user: USER, fills: [...frame.fills.map(([, fill]) => fill), { ...FILL, builder: OTHER_USER }] },
  })),
  allFills: fillFrames('allFills'),
  trades: [{ ...(channelOf('trades')!.example.frame as object), block_height: 7, time: TIME }],
  builderFills: throughBuilder(fillFrames('builderFills')),
  liquidationFills: liquidationFrames('liquidationFills'),
  builderLiquidations: throughBuilder(liquidationFrames('builderLiquidations')),
  userEvents: [
    ...fillFrames('user').flatMap(({ fills, ...frame }) => [
      { ...frame, data: { fills: fills.map(([, fill]) => fill) } },
    ]),
    { channel: 'user', data: { fills: [{ ...FILL, builder: OTHER_USER }] } },
    { channel: 'user', data: { twapSliceFills: rowsOf('userTwapSliceFills') } },
    { channel: 'user', data: { twapHistory: rowsOf('twapHistory') } },
    ...PAYMENTS.map((funding) => ({ channel: 'user', data: { funding } })),
    { channel: 'user', data: { nonUserCancel: [{ coin: 'BTC', oid: 90001 }] } },
  ],
  orderUpdates: [
    {
      channel: 'orderUpdates',
      updates: [{ user: USER, ...ORDER_UPDATE }],
      data: [ORDER_UPDATE, UPDATE],
      block_height: 7,
      time: TIME,
    },
  ],
  userFundings: listFrames('userFundings', 'fundings', PAYMENTS),
  userTwapSliceFills: listFrames('userTwapSliceFills', 'twapSliceFills', rowsOf('userTwapSliceFills')),
  userTwapHistory: listFrames('userTwapHistory', 'history', rowsOf('twapHistory')),
  oracleUpdates: [
    {
      channel: 'oracleUpdates',
      data: [
        { coin: 'xyz:OIL', update_class: 'Fallback', external_perp_px_inputs: ['1.0'], external_perp_px: ORACLE_PX },
      ],
      block_height: 7,
      time: TIME,
    },
  ],
  writerActions: [
    {
      channel: 'writerActions',
      data: {
        actions: [
          ...['9007199254740993', 7].map((wei) => ({ ...ACTION, action: { ...SEND, wei, fromSubAccount: USER } })),
          { ...ACTION, action: { ...SEND, sourceDexOrSpot: null, destinationDexOrSpot: null } },
          { ...ACTION, action: { type: 'actionOfTomorrow' } },
        ],
        block_height: 7,
        time: TIME,
      },
    },
  ],
  outcomeMetaUpdates: [
    {
      channel: 'outcomeMetaUpdates',
      data: [
        ...outcomesOf('outcomeMeta').map(({ deployer: _, ...outcome }) => ({ outcomeCreated: outcome })),
        { somethingOfTomorrow: {} },
      ],
      block_height: 7,
      time: TIME,
    },
  ],
  l2BookDiff2: [
    {
      channel: 'l2BookDiff2',
      data: {
        Updates: {
          time: TIME,
          block_height: 7,
          epoch: 'e',
          cursor: '7',
          book_diffs: [{ coin: 'BTC', seq: 7, prev_seq: 6, levels: [[BEST], [BEST]] }],
        },
      },
    },
  ],
  l4Book: [
    {
      channel: 'l4Book',
      data: {
        Snapshot: { coin: 'BTC', ...L4_PLACE, levels: [[{ user: USER, ...L4_ORDER }], [{ user: USER, ...L4_ORDER }]] },
      },
    },
    {
      channel: 'l4Book',
      data: {
        Updates: {
          ...L4_PLACE,
          epoch: null,
          prev_block_height: 6,
          order_statuses: [L4_ORDER, { ...L4_ORDER, tif: null }].map((order) => ({
            time: '2026-09-21T14:13:20.000000000',
            user: USER,
            status: 'open',
            order,
          })),
          book_diffs: ['remove', { new: { sz: '0.5' } }, { update: { origSz: '0.5', newSz: '0.25' } }].map(
            (raw_book_diff) => ({
              user: USER,
              oid: 90001,
              coin: 'BTC',
              side: 'B',
              px: '81307.0',
              raw_book_diff,
            }),
          ),
        },
      },
    },
    {
      channel: 'l4Book',
      data: {
        Snapshot: {
          coin: 'BTC',
          ...L4_PLACE,
          epoch: null,
          levels: [[], [{ user: USER, ...L4_ORDER, tif: null, cloid: null }]],
        },
      },
    },
  ],
  l2Book: [
    { channel: 'l2Book', data: { coin: 'BTC', time: TIME, levels: [[BEST], [BEST]], spread: '1.0', fast: true } },
  ],
  bbo: [[null, BEST] as const, [BEST, null] as const, [null, null] as const].map((bbo) => ({
    channel: 'bbo',
    data: { coin: 'BTC', time: TIME, bbo },
  })),
  allMids: [{ channel: 'allMids', data: { mids: { BTC: '81306.5' } } }],
  candle: [{ ...(channelOf('candle')!.example.frame as object), block_height: 7, time: TIME }],
  notification: [{ channel: 'notification', data: { notification: 'A remark' }, block_height: 7, time: TIME }],
  ...STATE_FRAMES,
}
