// Markets beyond the small scale, up to the real exchange's 300 coins. Prices are made up; the names are those of
// well-known assets. They depend only on the tables here, so every seed has the same markets.

import { Prng, seedState } from './prng.ts'

/** A row of a market table. `base` and `tick` are decimal strings. */
export type MarketRow = [
  coin: string,
  szDecimals: number,
  base: string,
  tick: string,
  maxLeverage: number,
  volatility: number,
]

const MAIN = `BNB ADA TRX LTC BCH DOT UNI AAVE NEAR APT OP INJ TIA SEI ATOM FIL ICP RUNE LDO MKR CRV SNX COMP DYDX GMX
  STX IMX MANTA ALT STRK PYTH JUP JTO W ENA ONDO PENDLE WLD BLUR FET RNDR AR TAO AGIX OCEAN MATIC FTM KAS XLM XMR ZEC
  ETC DASH HBAR ALGO SAND MANA GALA AXS APE ENS GRT MINA ZRO ZK BLAST EIGEN ETHFI REZ IO NOT TON TURBO BOME MEW POPCAT
  BRETT MOODENG GOAT PNUT CHILLGUY FARTCOIN TRUMP MELANIA PENGU VIRTUAL AIXBT ZEREBRO GRIFFAIN S BERA IP KAITO LAYER
  RED NIL PAXG PROMPT BABY WCT HYPER INIT DOOD NXPC SOPH RESOLV SYRUP PUMP PROVE YZY XPL WLFI LINEA SKY ASTER AVNT STBL
  FF HEMI APEX ZORA MON MET MEGA CC ICX NEO IOTA ORDI SUSHI BADGER YGG POLYX GAS ARK BIGTIME BNT UMA TRB CAKE ACE USTC
  PEOPLE XAI RDNT MAV NTRN ORBS REQ STG PIXEL MYRO TNSR OMNI SAGA MERL DYM
  HMSTR CATI ZEN kSHIB kBONK kFLOKI kLUNC kNEIRO kDOGS`.split(/\s+/)

/** Builder-deployed DEXes beyond the small scale. */
export const MORE_DEXES = ['vntl', 'hyna', 'km', 'cash', 'para', 'mkts', 'io', 'prime'] as const
const STOCKS = `AAPL MSFT AMZN GOOGL META NFLX AMD INTC PLTR COIN HOOD MSTR CRCL ORCL MU BABA SNDK RIVN COST LLY XYZ100
  SILVER COPPER NATGAS PLATINUM EUR JPY GBP KR200 URNM RTX GME CRWV SMSN SKHX HYUNDAI DXY CL BRENT WHEAT`.split(/\s+/)

/** Number of assets that each builder-deployed DEX has beyond the small scale. */
const BUILT_COUNTS: readonly (readonly [dex: string, assets: number])[] = [
  ['xyz', STOCKS.length],
  ['flx', 10],
  ...MORE_DEXES.map((dex, i) => [dex, i < 4 ? 5 : 4] as const),
]
const SPOTS = 20
/** Number of outcomes, each of which has two sides. */
const OUTCOMES = 4

export interface MoreMarkets {
  readonly perps: readonly MarketRow[]
  readonly spots: readonly MarketRow[]
  readonly outcomes: readonly MarketRow[]
}

/** The tables of the markets beyond the small scale. */
export function moreMarkets(): MoreMarkets {
  const built = BUILT_COUNTS.flatMap(([dex, assets]) => STOCKS.slice(0, assets).map((name) => `${dex}:${name}`))
  return {
    perps: [...MAIN, ...built].map((coin) => rowOf(coin, 10)),
    spots: Array.from({ length: SPOTS }, (_, i) => rowOf(`@${i + 2}`, 1)),
    outcomes: Array.from({ length: OUTCOMES }, (_, i) => sidesOf(50 + i * 10)).flat(),
  }
}

/**
 * A market with a random base price of five significant figures, between 0.01 and about 10,000. Prices up to 1.4 times
 * the base need no more digits.
 */
function rowOf(coin: string, maxLeverage: number): MarketRow {
  const rng = new Prng(seedState([...coin].reduce((sum, c) => sum * 31 + c.charCodeAt(0), 7)))
  const pxDecimals = rng.between(1, 6)
  const tick = 10 ** -pxDecimals
  const base = rng.between(10_000, 70_000) * tick
  return [coin, Math.max(0, 5 - pxDecimals), base.toFixed(pxDecimals), tick.toFixed(pxDecimals), maxLeverage, 8]
}

function sidesOf(number: number): MarketRow[] {
  const yes = 200 + (number % 7) * 90
  return [yes, 1000 - yes].map((mills, side) => [`#${number + side}`, 0, (mills / 1000).toFixed(3), '0.001', 1, 20])
}
