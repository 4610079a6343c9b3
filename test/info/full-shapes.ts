// Shapes shared by responses of several types, complete and with parts missing. All invented.

import { FRONTEND_ORDER, GAS_AUCTION, PERP_STATE } from '../../src/protocol/info/examples.ts'

export const CLOID = `0x${'c1'.repeat(16)}`
export const ENDED_AUCTION = { ...GAS_AUCTION, currentGas: null, endGas: '480.5' }

export const BRACKET = {
  ...FRONTEND_ORDER,
  isTrigger: true,
  tif: null,
  children: [{ ...FRONTEND_ORDER, reduceOnly: true }],
  cloid: CLOID,
}
const [cross] = PERP_STATE.assetPositions
const isolated = {
  ...cross!.position,
  leverage: { type: 'isolated', value: 5, rawUsd: '-650.5' },
  liquidationPx: '61000.5',
}
export const PERP_STATES = [
  { ...PERP_STATE, assetPositions: [{ type: 'oneWay', position: isolated }] },
  {
    ...PERP_STATE,
    assetPositions: [{ type: 'oneWay', position: { ...isolated, leverage: { type: 'kindOfTomorrow' } } }],
  },
]

const AMOUNTS = { total: '100.5', hold: '0.0', entryNtl: '0.0' }
export const SPOT_STATES = [
  { balances: [{ coin: '+40', ...AMOUNTS }] },
  {
    portfolioMarginEnabled: true,
    balances: [{ coin: 'HYPE', token: 150, ...AMOUNTS, spotHold: '0.0', ltv: '0.5', borrowed: '1.0', supplied: '2.0' }],
    evmEscrows: [{ coin: 'PURR', token: 1, total: '5.0' }],
    portfolioMarginRatio: '0.25',
    tokenToPortfolioBorrowRatio: [[0, '0.1']],
    tokenToPortfolioSupplyRatio: [[150, '0.2']],
    tokenToAvailableAfterMaintenance: [[0, '90.5']],
  },
]

const ASSET = { szDecimals: 3, name: 'xyz:GOLD', maxLeverage: 20, marginTableId: 20 }
export const CHANGED = '2025-11-23T17:21:40.390706535'
export const FULL_META = {
  universe: [
    {
      ...ASSET,
      onlyIsolated: true,
      isDelisted: true,
      marginMode: 'strictIsolated',
      growthMode: 'enabled',
      lastGrowthModeChangeTime: CHANGED,
      lastFeeScaleChangeTime: CHANGED,
      deployerFeeScale: '1.0',
    },
    { ...ASSET, lastFeeScaleChangeTime: null },
  ],
  marginTables: [[51, { description: 'tiered 10x', marginTiers: [{ lowerBound: '0.0', maxLeverage: 10 }] }]],
  collateralToken: 0,
}
const CTX = { funding: '0.0', openInterest: '0.0', prevDayPx: '0.37', dayNtlVlm: '0.0' }
export const DEAD_CTX = {
  ...CTX,
  premium: null,
  oraclePx: '0.37',
  markPx: '0.37',
  midPx: null,
  impactPxs: null,
  dayBaseVlm: '0.0',
}
