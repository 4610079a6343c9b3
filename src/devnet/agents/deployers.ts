// Deployers of builder-deployed DEXes push prices of all their perps about every three seconds.

import { type Exchange, markPx } from '../exchange/exchange.ts'
import { formatAmount } from '../exchange/fixed-point.ts'
import { perpsOf } from '../exchange/market.ts'

/** Blocks between two updates of a DEX, and between the updates of two DEXes. */
const UPDATE_BLOCKS = 43
const DEX_OFFSET_BLOCKS = 4

/** Writes the oracle updates of the DEXes whose turn it is. The oracle price is the fair price. */
export function deployersAct(x: Exchange): void {
  const { height, time, oracleUpdates } = x.block
  for (let dex = 1; dex < x.scale.dexes.length; dex++) {
    if ((height + dex * DEX_OFFSET_BLOCKS) % UPDATE_BLOCKS !== 0) continue
    const perps = perpsOf(dex, x.scale.markets)
    const pxs = (pxOf: (market: number) => bigint) =>
      perps.map(({ id, coin }) => [coin, formatAmount(pxOf(id))] as const)
    const states = (pxOf: (market: number) => bigint) =>
      perps.map(({ id, coin, base }) => {
        const state = { px: formatAmount(pxOf(id)), last_update_time: time, daily_px: formatAmount(base) }
        return [coin, state] as const
      })
    const fair = (market: number) => x.quotes[market]!.fair
    const mark = (market: number) => markPx(x, market)
    oracleUpdates.push({
      update_class: 'Deployer',
      mark_px_inputs: pxs(mark),
      spot_px_inputs: pxs(fair),
      external_perp_px_inputs: pxs(fair),
      oracle_pxs: {
        coin_to_mark_px: states(mark),
        coin_to_oracle_px: states(fair),
        coin_to_external_perp_px: states(fair),
      },
    })
  }
}
