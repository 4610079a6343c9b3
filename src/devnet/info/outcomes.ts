// Outcome markets beyond their list: what they are made from, how many a venue may open, how those before ours ended.

import type { Exchange } from '../exchange/exchange.ts'
import { MARKETS } from '../exchange/market.ts'
import { Prng, seedState } from '../exchange/prng.ts'
import { NOTHING, type SomeAnswers } from './answer.ts'

/** The one that deploys here. */
const VENUE = 'out'
const MOST_A_DAY = 500
const MOST_ACTIVE = 100
/** One binary market of a price: its words as they stand in descriptions. */
const TEMPLATE = {
  id: 'binaryPrice',
  role: { standaloneOutcome: { sideNames: ['Yes', 'No'] } },
  name: '{underlying} above {targetPrice}',
  description: 'class:priceBinary|underlying:{underlying}|expiry:{expiry}|targetPrice:{targetPrice}',
  keywords: [
    ['underlying', 'hlPerp'],
    ['expiry', 'dateTime'],
    ['targetPrice', 'uDecimal'],
  ],
}

/** Numbers of the outcomes that trade. */
const OPEN = new Set(
  MARKETS.filter(({ kind }) => kind === 'outcome').map(({ coin }) => Math.floor(Number(coin.slice(1)) / 10)),
)

/** Those with lower numbers than any that trades ended before the first block, by seed and number alone. */
function settled({ seed }: Exchange, outcome: number) {
  if (outcome >= Math.min(...OPEN)) return null
  const rng = new Prng(seedState(seed + 2 ** 41 + outcome))
  const price = rng.between(70_000, 90_000)
  const target = rng.between(70_000, 90_000)
  return {
    spec: {
      outcome,
      name: `BTC above ${target}`,
      description: `class:priceBinary|underlying:BTC|expiry:20260101-0000|targetPrice:${target}`,
      sideSpecs: [{ name: 'Yes' }, { name: 'No' }],
      quoteToken: 'USDC',
    },
    settleFraction: price > target ? '1.0' : '0.0',
    details: `price:${price}.0`,
  }
}

/** A venue that nobody deploys for does not exist. */
export const OUTCOME_ANSWERS = {
  outcomeTemplates: () => [TEMPLATE],
  outcomeDeployerLimits: (_scene, { venue }) =>
    venue === VENUE
      ? { nDailyOutcomesRemaining: MOST_A_DAY, nActiveOutcomesRemaining: MOST_ACTIVE - OPEN.size }
      : NOTHING,
  settledOutcome: ({ exchange }, { outcome }) => settled(exchange, outcome),
} satisfies SomeAnswers
