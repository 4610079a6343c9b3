import { describe, expect, it } from 'vitest'
import { dexOf, marketTypeOf, shardOf } from '../../src/core/coin.ts'

describe('coin names', () => {
  it('tell their market', () => {
    expect(['BTC', 'xyz:GOLD', '@107', 'PURR/USDC', '#40', 'kPEPE'].map(marketTypeOf)).toEqual([
      'perp',
      'perp',
      'spot',
      'spot',
      'outcome',
      'perp',
    ])
  })

  it('tell their DEX', () => {
    expect(['BTC', 'xyz:GOLD', '@107', ':X'].map(dexOf)).toEqual(['', 'xyz', '', ''])
  })

  it('spread over shards evenly and never move', () => {
    // Recorded values: another hash would send every hub to reseed.
    expect(['BTC', 'ETH', 'xyz:GOLD', '@107'].map((coin) => shardOf(coin, 4))).toEqual([3, 1, 1, 0])
    const counts = [0, 0, 0, 0]
    for (let i = 0; i < 4000; i++) counts[shardOf(`coin${i}`, 4)]!++
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150)
  })
})
