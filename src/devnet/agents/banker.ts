// The money movements that are seldom seen happen now and then. Chance comes from seed and height alone, apart from the
// exchange's own.

import { type Exchange, freeUsd } from '../exchange/exchange.ts'
import { abs, min, UNIT, units } from '../exchange/fixed-point.ts'
import { SUB_ACCOUNTS } from '../exchange/identities.ts'
import { USDC } from '../exchange/market.ts'
import { eventHash } from '../exchange/node-block.ts'
import { Prng, seedState } from '../exchange/prng.ts'
import * as rare from '../exchange/rare-transfers.ts'
import { BUILDERS, DEX_TAKERS, SPOT_TAKERS } from '../exchange/roles.ts'

/** Blocks between two moves. */
const MOVE_BLOCKS = 30
/** Of what is borrowed, at a withdrawal or repayment. */
const INTEREST_PARTS = 10_000n

type Move = (x: Exchange, rng: Prng, hash: string) => void

const someUsd = (rng: Prng, low: number, high: number) => units(rng.between(low * 100, high * 100)) / 100n

function freeSpot(x: Exchange, account: number): bigint {
  const { total, hold } = x.accounts[account]!.spot[USDC]!
  return total - hold
}

const MOVES: readonly Move[] = [
  (x, rng, hash) => {
    const { master, account } = rng.pick(SUB_ACCOUNTS)
    const [from, to] = rng.chance(500_000) ? [master, account] : [account, master]
    const usdc = someUsd(rng, 10, 500)
    if (freeUsd(x, from, 0) >= 2n * usdc) rare.subAccountTransfer(x, hash, from, to, usdc)
  },
  (x, rng, hash) => {
    const account = rng.pick(DEX_TAKERS)
    const dex = rng.between(1, 2)
    const usdc = someUsd(rng, 10, 500)
    if (freeSpot(x, account) >= usdc) rare.dexClassTransfer(x, hash, account, dex, usdc, true)
    else if (freeUsd(x, account, dex) >= 2n * usdc) rare.dexClassTransfer(x, hash, account, dex, usdc, false)
  },
  (x, rng, hash) => payGas(x, hash, rng.pick(SPOT_TAKERS), 'accountActivationGas', UNIT),
  (x, rng, hash) => payGas(x, hash, rng.pick([...BUILDERS, ...SPOT_TAKERS]), 'deployGasAuction', someUsd(rng, 10, 50)),
  (x, rng, hash) => {
    const vault = rng.pick(x.vaults)
    const usdc = someUsd(rng, 20, 200)
    if (freeUsd(x, vault.account, 0) >= 2n * usdc) rare.distribute(x, hash, vault, usdc)
  },
  lend,
]

/** A rare movement where its height has come. */
export function bankersAct(x: Exchange): void {
  if (x.height % MOVE_BLOCKS !== 7) return
  const rng = new Prng(seedState(x.seed + 2 ** 49 + x.height))
  rng.pick(MOVES)(x, rng, eventHash(x.height, rng.hex(27)))
  if (x.scale.dusting) sweep(x, rng)
}

function sweep(x: Exchange, rng: Prng): void {
  const account = rng.pick(SPOT_TAKERS)
  const market = rng.pick(x.scale.markets.filter(({ kind }) => kind === 'spot'))
  const { total, hold } = x.accounts[account]!.spot[market.token]!
  if (total - hold >= market.lot) rare.convertDust(x, account, market)
}

function payGas(
  x: Exchange,
  hash: string,
  account: number,
  type: 'accountActivationGas' | 'deployGasAuction',
  usdc: bigint,
) {
  if (freeSpot(x, account) >= usdc) rare.payGas(x, hash, account, type, usdc)
}

/** Who has lent takes back, who has borrowed repays; the others lend, or borrow what others have lent. */
function lend(x: Exchange, rng: Prng, hash: string): void {
  const account = rng.pick(SPOT_TAKERS)
  const held = x.pools.lent.get(account) ?? 0n
  let pool = 0n
  for (const amount of x.pools.lent.values()) pool += amount
  const some = someUsd(rng, 50, 1_000)
  const interest = abs(held) / INTEREST_PARTS
  const free = freeSpot(x, account)
  if (held > 0n && pool >= held) rare.borrowLend(x, hash, account, 'withdraw', held, interest)
  else if (held < 0n && free >= -held + interest) rare.borrowLend(x, hash, account, 'repay', -held, interest)
  else if (held === 0n && pool >= some && rng.chance(500_000)) rare.borrowLend(x, hash, account, 'borrow', some, 0n)
  else if (held >= 0n && free > 0n) rare.borrowLend(x, hash, account, 'supply', min(some, free), 0n)
}
