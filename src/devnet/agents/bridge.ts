// Transfers from the EVM to the exchange. Each belongs to the EVM's latest derived transaction. The wallet and the amount depend
// on seed and height only, not on the exchange's generator.

import { EvmBlocks } from '../evm/blocks.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { units } from '../exchange/fixed-point.ts'
import { USDC } from '../exchange/market.ts'
import { eventHash } from '../exchange/node-block.ts'
import { Prng, seedState } from '../exchange/prng.ts'
import { SPOT_TAKERS } from '../exchange/roles.ts'
import { fromEvm, systemAddress } from '../exchange/transfers.ts'

/** Blocks between two transfers. */
const BRIDGE_BLOCKS = 101

/** Moves some USDC from the EVM to a wallet's spot balance when a transfer is due. */
export function bridgeActs(x: Exchange): void {
  if (x.height % BRIDGE_BLOCKS !== 13) return
  const transaction = new EvmBlocks(x).lastTransfer
  if (transaction === null) return
  const rng = new Prng(seedState(x.seed + 2 ** 51 + x.height))
  const account = rng.pick(SPOT_TAKERS)
  const usdc = units(rng.between(500, 5_000)) / 100n
  fromEvm(x, eventHash(x.height, rng.hex(27)), account, usdc)
  x.block.writerActions.push({
    user: systemAddress(USDC),
    nonce: Math.floor(x.height / BRIDGE_BLOCKS),
    evm_tx_hash: transaction,
    action: {
      type: 'SystemSpotSendAction',
      destination: x.accounts[account]!.address,
      token: USDC,
      wei: Number(usdc),
    },
  })
}
