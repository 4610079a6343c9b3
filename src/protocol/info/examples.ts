// Example values shared by several types, used in the published document and in tests. All are fictitious, except one wallet.

/**
 * A wallet that always trades: a strategy of the exchange's own vault. On the devnet, a market maker has this address, so
 * that samples return rows everywhere.
 */
export const USER = '0x010461c14e146ac35fe42271bdc1134ee31c703a'
/** On the devnet, this is a builder. */
export const OTHER_USER = '0x00000000000000000000000000000000000000cd'
export const HASH = `0x${'1f'.repeat(32)}`
export const TIME = 1_790_000_000_000

const MARGIN = { accountValue: '1250.5', totalNtlPos: '813.07', totalRawUsd: '437.43', totalMarginUsed: '81.307' }

export const PERP_STATE = {
  marginSummary: MARGIN,
  crossMarginSummary: MARGIN,
  crossMaintenanceMarginUsed: '8.1307',
  withdrawable: '1169.193',
  assetPositions: [
    {
      type: 'oneWay',
      position: {
        coin: 'BTC',
        szi: '0.01',
        leverage: { type: 'cross', value: 10 },
        entryPx: '80000.0',
        positionValue: '813.07',
        unrealizedPnl: '13.07',
        returnOnEquity: '0.163375',
        liquidationPx: null,
        marginUsed: '81.307',
        maxLeverage: 50,
        cumFunding: { allTime: '0.5', sinceOpen: '0.25', sinceChange: '0.0' },
      },
    },
  ],
  time: TIME,
}

export const SPOT_STATE = { balances: [{ coin: 'USDC', token: 0, total: '100.5', hold: '0.0', entryNtl: '0.0' }] }

export const PERP_META = {
  universe: [{ szDecimals: 5, name: 'BTC', maxLeverage: 50, marginTableId: 50 }],
  marginTables: [[50, { description: '', marginTiers: [{ lowerBound: '0.0', maxLeverage: 50 }] }]],
  collateralToken: 0,
}

export const SPOT_META = {
  universe: [{ tokens: [1, 0], name: 'PURR/USDC', index: 0, isCanonical: true }],
  tokens: [
    {
      name: 'USDC',
      szDecimals: 8,
      weiDecimals: 8,
      index: 0,
      tokenId: `0x${'6d'.repeat(16)}`,
      isCanonical: true,
      evmContract: null,
      fullName: null,
      deployerTradingFeeShare: '0.0',
    },
  ],
}

export const OPEN_ORDER = {
  coin: 'BTC',
  side: 'B',
  limitPx: '80000.0',
  sz: '0.5',
  oid: 7,
  timestamp: TIME,
  origSz: '0.5',
  cloid: null,
}

export const FRONTEND_ORDER = {
  coin: 'BTC',
  side: 'B',
  limitPx: '80000.0',
  sz: '0.5',
  oid: 7,
  timestamp: TIME,
  triggerCondition: 'N/A',
  isTrigger: false,
  triggerPx: '0.0',
  children: [],
  isPositionTpsl: false,
  reduceOnly: false,
  orderType: 'Limit',
  origSz: '0.5',
  tif: 'Gtc',
  cloid: null,
}

export const FILL = {
  coin: 'BTC',
  px: '81307.0',
  sz: '0.01',
  side: 'B',
  time: TIME,
  startPosition: '0.0',
  dir: 'Open Long',
  closedPnl: '0.0',
  hash: HASH,
  oid: 7,
  crossed: true,
  fee: '0.365881',
  tid: 1234567890,
  feeToken: 'USDC',
  twapId: null,
}

export const COMPLETED_TRADE = {
  user: USER,
  coin: 'BTC',
  position_type: 'Long',
  gross_pnl: '13.07',
  net_pnl: '12.088239',
  funding_pnl: '-0.25',
  entry_px: '80000',
  exit_px: '81307',
  position_closed_size: '0.01',
  fees: '0.731761',
  fills: 2,
  open_time: TIME - 240_000,
  close_time: TIME,
  duration_ms: 240_000,
  max_position_size: '0.01',
  maker_fills: 0,
  builder: null,
  tx_index: 0,
}

export const GAS_AUCTION = {
  startTimeSeconds: 1_789_990_000,
  durationSeconds: 111_600,
  startGas: '500.0',
  currentGas: '455.2',
  endGas: null,
}

export const LEVELS = [[{ px: '81306.0', sz: '1.5', n: 2 }], [{ px: '81307.0', sz: '0.25', n: 1 }]]
