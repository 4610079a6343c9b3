// Recorded answers of the real exchange: they fit our response schemas and come through byte for byte.
// Skipped where the recordings are absent: they are not part of the repository.

import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ok } from '../../src/core/result.ts'
import { queryOf } from '../../src/info/catalogue.ts'
import { createWorld } from './answer/desk-world.ts'

const SAMPLES = new URL('../../../shared/wire/samples/', import.meta.url)
/** A type, and its recording where that is not the one of its name. */
const CASSETTES: readonly (readonly [string, string?])[] = [
  ['allMids'],
  ['candleSnapshot'],
  ['clearinghouseState'],
  ['delegatorHistory'],
  ['extraAgents'],
  ['frontendOpenOrders'],
  ['fundingHistory'],
  ['fundingHistory', 'fundingHistory.2'],
  ['historicalOrders'],
  ['l2Book'],
  ['meta'],
  ['openOrders'],
  ['userFills'],
  ['userFillsByTime'],
  ['userNonFundingLedgerUpdates'],
  ['userNonFundingLedgerUpdates', 'userNonFundingLedgerUpdates.2'],
  ['userRateLimit'],
  ['userRole'],
  ['userTwapSliceFills'],
  ['userVaultEquities'],
]
const DOCUMENTED: readonly (readonly [string, string?])[] = [
  ['clearinghouseState'],
  ['delegations'],
  ['delegatorRewards'],
  ['delegatorSummary'],
  ['exchangeStatus', 'exchangeStatus.probed-20260924'],
  ['meta'],
  ['orderStatus'],
  ['orderStatus', 'orderStatus.unknown'],
  ['perpDeployAuctionStatus'],
  ['perpDeployAuctionStatus', 'gasAuction.ended'],
  ['perpDexLimits'],
  ['perpDexs'],
  ['perpsAtOpenInterestCap'],
  ['spotClearinghouseState'],
  ['userFees', 'userFees.truncated'],
  ['userRateLimit'],
  ['vaultDetails', 'vaultDetails.truncated'],
]
const pathsOf = (folder: string, samples: typeof CASSETTES) =>
  samples.map(([type, name = type]) => [type, `${folder}/${name}.json`] as const)
const RECORDED = [...pathsOf('python-sdk-cassettes', CASSETTES), ...pathsOf('docs-examples', DOCUMENTED)]

describe.skipIf(!existsSync(SAMPLES))('recorded answers', () => {
  it.each(RECORDED)('%s: %s', async (type, path) => {
    const text = readFileSync(new URL(path, SAMPLES), 'utf8')
    queryOf(type)!.response.parse(JSON.parse(text))
    if (!queryOf(type)!.needs.includes('upstream')) return
    const world = createWorld()
    world.upstream = () => ok(text)
    const { body } = await world.send({ type, ...queryOf(type)!.example.request })
    if (type !== 'openOrders') return expect(body).toBe(text)
    // The one key that the specification adds where the exchange leaves it out.
    const orders = JSON.parse(text) as { cloid?: string }[]
    expect(JSON.parse(body)).toEqual(orders.map((order) => ({ ...order, cloid: order.cloid ?? null })))
  })
})
