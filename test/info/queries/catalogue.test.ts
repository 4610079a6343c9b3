import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { differences, generated } from '../../../scripts/generate.ts'
import { CATALOGUE, queryOf } from '../../../src/info/queries/catalogue.ts'

// The 55 types of the interface: 15 specified and 40 named ones. Other types are not listed here.
const SPECIFIED_TYPES = [
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
]

describe('the catalog', () => {
  it('has every type of the interface', () => {
    const types = CATALOGUE.map(({ type }) => type)
    expect(new Set(SPECIFIED_TYPES).size).toBe(55)
    expect(new Set(types).size).toBe(types.length)
    expect(SPECIFIED_TYPES.filter((type) => !queryOf(type))).toEqual([])
    for (const { type } of CATALOGUE) expect(queryOf(type)?.type).toBe(type)
  })

  it('has one file per type', () => {
    const files = readdirSync(new URL('../../../src/info/queries/', import.meta.url))
    expect(files.filter((name) => name !== 'catalogue.ts').sort()).toEqual(
      CATALOGUE.map(({ type }) => `${type}.ts`).sort(),
    )
  })

  it.each(['__proto__', 'constructor', 'toString', ''])('does not know %j', (type) => {
    expect(queryOf(type)).toBeUndefined()
  })

  it('matches the committed schemas', () => {
    const files = generated()
    expect(differences(files)).toEqual([])
    for (const { type } of CATALOGUE) expect(files.has(`schemas/info/${type}.json`)).toBe(true)
    // Proves that the comparison detects a change.
    expect(differences(new Map([...files, ['schemas/info/meta.json', '{}']]))).toEqual(['schemas/info/meta.json'])
    expect(differences(new Map([...files].filter(([path]) => path !== 'schemas/info/meta.json')))).toEqual([
      'schemas/info/meta.json',
    ])
  })
})
