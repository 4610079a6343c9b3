// The fair price of every market: a random walk that reverts to its base, with bursts and jumps that cause
// liquidations. It stays between 0.7 and 1.4 times the base, the range for which the ticks are chosen.

import { type Exchange, marginOf, type Quote } from '../exchange/exchange.ts'
import { min, UNIT } from '../exchange/fixed-point.ts'
import { type Market, marketAt } from '../exchange/market.ts'
import { GAMBLERS } from '../exchange/roles.ts'

const MILLION = 1_000_000n
const BURST_BLOCKS = 60
/**
 * In millionths. Each of the 60 blocks of a burst moves a price by up to 12 times `burst`; a jump moves it by up to 50
 * times `jump`.
 */
const WILD = { burst: 80, jump: 1_000 }
const CALM = { burst: 10, jump: 60 }

/** Chance per block, in millionths, that the price moves against a gambler. */
const SQUEEZE_PPM = 2_500
/** Largest such move, in millionths. */
const MAX_SQUEEZE = 120_000n

/** Moves every fair price by one block. */
export function walkPrices(x: Exchange): void {
  for (const market of x.scale.markets) {
    const quote = x.quotes[market.id]!
    if (market.complementOf === null) walk(x, market, quote)
    else quote.fair = UNIT - x.quotes[market.complementOf]!.fair
  }
  if (x.rng.chance(SQUEEZE_PPM)) squeeze(x, x.rng.pick(GAMBLERS))
}

function walk(x: Exchange, market: Market, quote: Quote): void {
  const { rng } = x
  // The sum of four draws is nearly normally distributed. Dividing it by 1150 makes `volatility` its standard
  // deviation.
  const draw = rng.below(2001) + rng.below(2001) + rng.below(2001) + rng.below(2001) - 4000
  let step = Math.trunc((draw * market.volatility) / 1150)
  const { burst, jump } = market.big ? CALM : WILD
  if (rng.chance(x.scale.burstPpm)) {
    quote.burst = BURST_BLOCKS
    quote.drift = rng.between(-12, 12) * burst
  }
  if (quote.burst > 0) {
    quote.burst--
    step += quote.drift
  }
  if (rng.chance(x.scale.jumpPpm)) step += rng.between(-50, 50) * jump
  const pull = ((market.base - quote.fair) * 40n) / market.base
  const moved = quote.fair + (quote.fair * (BigInt(step) + pull)) / MILLION
  quote.fair = bounded(moved, market.base)
}

/** Moves the price so that a gambler loses half to nearly all of its margin, which causes most liquidations. */
function squeeze(x: Exchange, gambler: number): void {
  const margin = x.accounts[gambler]!.margin[0]!
  const { value, ntl } = marginOf(x, margin)
  const percent = BigInt(x.rng.between(50, 90))
  const [id, position] = margin.positions.entries().next().value ?? []
  if (id === undefined || position === undefined || value <= 0n) return
  // The mark price lags behind the fair price, so the price moves a little further than the margin requires.
  const ppm = min((value * percent * 10_000n) / ntl + 4_000n, MAX_SQUEEZE)
  const quote = x.quotes[id]!
  const move = (quote.fair * ppm) / MILLION
  quote.fair = bounded(position.szi > 0n ? quote.fair - move : quote.fair + move, marketAt(id).base)
}

function bounded(px: bigint, base: bigint): bigint {
  const low = (base * 7n) / 10n
  const high = (base * 14n) / 10n
  return px < low ? low : px > high ? high : px
}
