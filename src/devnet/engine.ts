// The exchange as one object: step() creates the next block. A block's content depends on seed and height only; the
// time passed to step() only becomes its timestamp and selects EVM transactions.

import { bridgeActs } from './agents/bridge.ts'
import { crowdActs } from './agents/crowd.ts'
import { deployersAct } from './agents/deployers.ts'
import { gamblersAct, sendInvalidOrders } from './agents/gambler.ts'
import { makersAct } from './agents/maker.ts'
import { walkPrices } from './agents/price-walk.ts'
import { arbitrageursAct, backstopActs, takersAct } from './agents/taker.ts'
import { bankersAct, stakersAct, treasurerActs } from './agents/treasurer.ts'
import { type ExchangeState, exchangeOf, exchangeState } from './exchange/checkpoint.ts'
import { type Exchange, emptyExchange } from './exchange/exchange.ts'
import { payFunding } from './exchange/funding.ts'
import { openWallets, payIn } from './exchange/genesis.ts'
import { liquidate } from './exchange/liquidation.ts'
import type { Market } from './exchange/market.ts'
import { type DevnetBlock, openBlock } from './exchange/node-block.ts'
import { type Scale, SMALL } from './exchange/scale.ts'
import { runTwaps } from './exchange/twap.ts'
import { BlockHistory } from './info/block-history.ts'
import { type PastMinute, pastDay } from './info/past-day.ts'

/** If step() gets no time, the time of block n is this plus n times 70 ms. */
const EPOCH_NS = 1_777_000_000_000_000_000n
const BLOCK_NS = 70_000_000n
/** Every wallet is checked for liquidation once in this many blocks. */
const LIQUIDATION_TURNS = 32

export interface Engine {
  readonly exchange: Exchange
  /** Not part of a checkpoint: a restored engine starts without history. */
  readonly history: BlockHistory
  /** Height of the last block; 0 before the first. */
  readonly height: number
  /**
   * Creates the next block. `timeNs`: its time in nanoseconds since 1970, which must be later than the previous
   * block's. By default, times follow a fixed series.
   */
  step(timeNs?: bigint): DevnetBlock
  /** Returns the state for restoreEngine(). It must be written or copied before the next step. */
  checkpoint(): ExchangeState
}

interface EngineOptions {
  /** Blocks between two funding payments. Default: that of the scale. */
  readonly fundingBlocks?: number
  /** Default: small. */
  readonly scale?: Scale
}

/** An exchange at height 0. Its wallets get their money and its books their orders in block 1 and later. */
export function createEngine(seed: number, options: EngineOptions = {}): Engine {
  const exchange = emptyExchange(seed, options.fundingBlocks, options.scale)
  openWallets(exchange)
  return engineOf(exchange)
}

/**
 * Restores a copy of checkpoint(); blocks continue as if it had never stopped. Throws if the value is not a checkpoint.
 */
export function restoreEngine(checkpoint: unknown, scale = SMALL): Engine {
  return engineOf(exchangeOf(checkpoint, scale))
}

function engineOf(exchange: Exchange): Engine {
  const history = new BlockHistory(exchange.scale.history, pastOf(exchange))
  return {
    exchange,
    history,
    get height() {
      return exchange.height
    },
    step(timeNs) {
      const block = step(exchange, timeNs ?? EPOCH_NS + BigInt(exchange.height + 1) * BLOCK_NS)
      history.record(block)
      return block
    },
    checkpoint: () => exchangeState(exchange),
  }
}

/** The day before the first block, made when it is first read. Empty before that block. */
function pastOf(x: Exchange): (market: Market) => readonly PastMinute[] {
  const days = new Map<number, readonly PastMinute[]>()
  return (market) => {
    if (!x.scale.hasPast || x.firstBlockMs === 0) return []
    const day = days.get(market.id) ?? pastDay(market, x.seed, x.firstBlockMs)
    days.set(market.id, day)
    return day
  }
}

function step(x: Exchange, timeNs: bigint): DevnetBlock {
  x.height++
  x.block = openBlock(x.height, timeNs)
  if (x.height === 1) {
    x.firstBlockMs = x.block.timeMs
    payIn(x)
  }
  if (x.height <= x.quietTo) return x.block
  walkPrices(x)
  makersAct(x)
  arbitrageursAct(x)
  takersAct(x)
  gamblersAct(x)
  sendInvalidOrders(x)
  runTwaps(x)
  backstopActs(x)
  treasurerActs(x)
  bankersAct(x)
  bridgeActs(x)
  liquidate(x, liquidationTurn(x))
  payFunding(x)
  stakersAct(x)
  deployersAct(x)
  crowdActs(x)
  return x.block
}

function* liquidationTurn(x: Exchange): Generator<number> {
  for (let i = x.height % LIQUIDATION_TURNS; i < x.accounts.length; i += LIQUIDATION_TURNS) yield i
}
