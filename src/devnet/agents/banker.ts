// The money movements that are seldom seen happen now and then, those of stakes among them. Chance comes from seed and height alone, apart from the
// exchange's own.

import { type Exchange, freeUsd } from '../exchange/exchange.ts'
import { abs, formatAmount, min, UNIT, units } from '../exchange/fixed-point.ts'
import { USDC } from '../exchange/market.ts'
import { eventHash, type NodeMiscEvent, recordLedger, ZERO_HASH } from '../exchange/node-block.ts'
import { Prng, seedState } from '../exchange/prng.ts'
import { BUILDERS, DEX_TAKERS, SPOT_TAKERS, STAKERS, SUB_ACCOUNTS } from '../exchange/roles.ts'
import * as transfers from '../exchange/transfers.ts'

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
    if (freeUsd(x, from, 0) >= 2n * usdc) transfers.subAccountTransfer(x, hash, from, to, usdc)
  },
  (x, rng, hash) => {
    const account = rng.pick(DEX_TAKERS)
    const dex = rng.between(1, 2)
    const usdc = someUsd(rng, 10, 500)
    if (freeSpot(x, account) >= usdc) transfers.dexClassTransfer(x, hash, account, dex, usdc)
    else if (freeUsd(x, account, dex) >= 2n * usdc) transfers.dexClassTransfer(x, hash, account, dex, -usdc)
  },
  (x, rng, hash) => {
    const account = rng.pick(SPOT_TAKERS)
    if (freeSpot(x, account) >= UNIT) transfers.payGas(x, hash, account, 'accountActivationGas', UNIT)
  },
  (x, rng, hash) => {
    const account = rng.pick([...BUILDERS, ...SPOT_TAKERS])
    const usdc = someUsd(rng, 10, 50)
    if (freeSpot(x, account) >= usdc) transfers.payGas(x, hash, account, 'deployGasAuction', usdc)
  },
  (x, rng, hash) => {
    const vault = rng.pick(x.vaults)
    const usdc = someUsd(rng, 20, 200)
    if (freeUsd(x, vault.account, 0) >= 2n * usdc) transfers.distribute(x, hash, vault, usdc)
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
  if (total - hold >= market.lot) transfers.convertDust(x, account, market)
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
  if (held > 0n && pool >= held) transfers.borrowLend(x, hash, account, 'withdraw', held, interest)
  else if (held < 0n && free >= -held + interest) transfers.borrowLend(x, hash, account, 'repay', -held, interest)
  else if (held === 0n && pool >= some && rng.chance(500_000)) transfers.borrowLend(x, hash, account, 'borrow', some)
  else if (held >= 0n && free > 0n) transfers.borrowLend(x, hash, account, 'supply', min(some, free))
}

/** Blocks between two moves of stakes. */
const STAKE_BLOCKS = 20

/**
 * Stakers deposit, delegate, take it back and withdraw, one after the other and always the same amount: nothing of it is
 * kept, since the tokens come from outside the spot balances. Validators, which builders run, get rewards with each funding.
 */
export function stakersAct(x: Exchange): void {
  const record = (hash: string, inner: NodeMiscEvent['inner']) =>
    x.block.miscEvents.push({ time: x.block.time, hash, inner })
  const addressOf = (account: number) => x.accounts[account]!.address
  if (x.height % x.fundingBlocks === 0) {
    const rewards = BUILDERS.map((validator) => [addressOf(validator), '0.01'] as const)
    record(ZERO_HASH, { ValidatorRewards: { validator_to_reward: rewards } })
  }
  if (x.height % STAKE_BLOCKS !== 11) return
  const turn = Math.floor(x.height / STAKE_BLOCKS)
  const account = STAKERS[turn % STAKERS.length]!
  const user = addressOf(account)
  const amount = formatAmount(units(100 + account))
  const delegation = { user, validator: addressOf(BUILDERS[account % BUILDERS.length]!), amount }
  const hash = eventHash(x.height, new Prng(seedState(x.seed + 2 ** 50 + x.height)).hex(27))
  const transfer = (isDeposit: boolean) =>
    recordLedger(x.block, hash, [user], { type: 'cStakingTransfer', token: 'HYPE', amount, isDeposit })
  switch (Math.floor(turn / STAKERS.length) % 5) {
    case 0:
      record(hash, { CDeposit: { user, amount } })
      return transfer(true)
    case 1:
      return void record(hash, { Delegation: { ...delegation, is_undelegate: false } })
    case 2:
      return void record(hash, { Delegation: { ...delegation, is_undelegate: true } })
    case 3:
      return void record(hash, { CWithdrawal: { user, amount, is_finalized: false } })
    default:
      record(hash, { CWithdrawal: { user, amount, is_finalized: true } })
      return transfer(false)
  }
}
