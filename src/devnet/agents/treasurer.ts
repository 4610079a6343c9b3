// Money movements that are not trades: random deposits, withdrawals, transfers and vault movements, rarer ledger
// events, staking, and a regular rebalancing that keeps every wallet's wealth within bounds. The randomness of the
// rarer movements depends on seed and height only, not on the exchange's generator.

import { type Exchange, freeUsd, markPxs, type Vault } from '../exchange/exchange.ts'
import { abs, formatAmount, min, UNIT, units } from '../exchange/fixed-point.ts'
import { USDC } from '../exchange/market.ts'
import { eventHash, type NodeMiscEvent, recordLedger, ZERO_HASH } from '../exchange/node-block.ts'
import { Prng, seedState } from '../exchange/prng.ts'
import * as roles from '../exchange/roles.ts'
import * as transfers from '../exchange/transfers.ts'
import { createVault, depositToVault, vaultEquity, withdrawFromVault } from '../exchange/vault.ts'
import { marginState } from '../exchange/wallet.ts'

const ACT_PPM = 60_000
const EVEN_OUT_BLOCKS = 500
const LOW_PERCENT = 25n
const HIGH_PERCENT = 300n

type Move = (x: Exchange) => void

/** A random amount of USDC in whole cents. */
const someUsd = (rng: Prng, low: number, high: number) => units(rng.between(low * 100, high * 100)) / 100n

function freeSpot(x: Exchange, account: number, token = USDC): bigint {
  const { total, hold } = x.accounts[account]!.spot[token]!
  return total - hold
}

const MOVES: readonly Move[] = [
  (x) => transfers.deposit(x, x.rng.pick(roles.TAKERS), someUsd(x.rng, 100, 5_000)),
  (x) =>
    spend(x, x.rng.pick(roles.TAKERS), 0, someUsd(x.rng, 100, 4_000), (from, usd) => transfers.withdraw(x, from, usd)),
  (x) =>
    spend(x, x.rng.pick(roles.TAKERS), 0, someUsd(x.rng, 10, 2_000), (from, usd) =>
      transfers.internalTransfer(x, from, other(x, roles.TAKERS, from), usd),
    ),
  (x) => classTransfer(x, x.rng.pick(roles.TAKERS)),
  (x) => {
    const from = x.rng.pick(roles.DEX_TAKERS)
    const [source, target] = x.rng.pick([
      [0, 1],
      [0, 2],
      [1, 0],
      [2, 0],
    ] as const)
    spend(x, from, source, someUsd(x.rng, 10, 1_000), (_, usd) => transfers.send(x, from, from, source, target, usd))
  },
  (x) => sendSpot(x, x.rng.pick(roles.SPOT_TAKERS)),
  (x) => transferToken(x, x.rng.pick(roles.SPOT_TAKERS)),
  (x) => enterVault(x),
  (x) => leaveVault(x),
  (x) => transfers.claimRewards(x, x.rng.pick(roles.BUILDERS)),
]

/** Occasionally makes a random movement, and rebalances when due. */
export function treasurerActs(x: Exchange): void {
  if (x.rng.chance(ACT_PPM)) x.rng.pick(MOVES)(x)
  if (x.vaults.length < roles.MAX_VAULTS && x.rng.chance(1_500)) foundVault(x)
  if (x.height % EVEN_OUT_BLOCKS === 0) evenOut(x)
}

function other(x: Exchange, list: readonly number[], not: number): number {
  const choice = x.rng.pick(list)
  return choice === not ? list[(list.indexOf(not) + 1) % list.length]! : choice
}

/** Makes a movement only if the wallet can afford it. */
function spend(x: Exchange, from: number, dex: number, usd: bigint, move: (from: number, usd: bigint) => void): void {
  if (freeUsd(x, from, dex) >= 2n * usd) move(from, usd)
}

function classTransfer(x: Exchange, account: number): void {
  const usd = someUsd(x.rng, 10, 1_000)
  if (freeSpot(x, account) >= usd) transfers.classTransfer(x, account, usd, true)
  else spend(x, account, 0, usd, (from, amount) => transfers.classTransfer(x, from, amount, false))
}

function sendSpot(x: Exchange, from: number): void {
  const usd = someUsd(x.rng, 10, 500)
  if (freeSpot(x, from) >= usd) transfers.send(x, from, other(x, roles.SPOT_TAKERS, from), 'spot', 'spot', usd)
}

function transferToken(x: Exchange, from: number): void {
  const token = x.rng.between(1, 2)
  const amount = min(freeSpot(x, from, token) / 10n, units(x.rng.between(1, 500)))
  if (amount > 0n) transfers.spotTransfer(x, from, other(x, roles.SPOT_TAKERS, from), token, amount)
}

function enterVault(x: Exchange): void {
  const vault = x.rng.pick(x.vaults)
  spend(x, x.rng.pick(roles.TAKERS), 0, someUsd(x.rng, 100, 3_000), (from, usd) => depositToVault(x, vault, from, usd))
}

function leaveVault(x: Exchange): void {
  const vault = x.rng.pick(x.vaults)
  const followers = [...vault.followers.keys()].filter((account) => account !== vault.leader)
  if (followers.length > 0) withdrawFromVault(x, vault, x.rng.pick(followers), BigInt(x.rng.pick([25, 50, 100])))
}

function foundVault(x: Exchange): void {
  const leader = x.rng.pick(roles.TAKERS)
  spend(x, leader, 0, someUsd(x.rng, 2_000, 6_000), (from, usd) =>
    createVault(x, from, `Vault ${x.vaults.length}`, usd),
  )
}

/** Rebalances: poor wallets deposit and rich wallets withdraw, measured against the initial amount of their role. */
function evenOut(x: Exchange): void {
  const marks = markPxs(x)
  const even = (account: number, dex: number, usd: number) => {
    const { value } = marginState(x.accounts[account]!.margin[dex]!, marks)
    const aim = units(usd)
    if (value * 100n < aim * LOW_PERCENT) {
      const missing = aim - value
      transfers.deposit(x, account, missing)
      if (dex > 0) transfers.send(x, account, account, 0, dex, missing)
    } else if (value * 100n > aim * HIGH_PERCENT && freeUsd(x, account, dex) > aim) {
      if (dex > 0) transfers.send(x, account, account, dex, 0, aim)
      transfers.withdraw(x, account, aim)
    }
  }
  for (const account of [...roles.MAIN_MAKERS, ...roles.ARBITRAGEURS]) even(account, 0, 20_000_000)
  for (const account of [...roles.DEX_MAKERS, ...roles.ARBITRAGEURS])
    for (const dex of [1, 2]) even(account, dex, 5_000_000)
  for (const account of roles.TAKERS) even(account, 0, 100_000)
  for (const account of roles.DEX_TAKERS) for (const dex of [1, 2]) even(account, dex, 100_000)
  for (const account of roles.TWAPPERS) even(account, 0, 3_000_000)
  for (const account of roles.SPOT_TAKERS) refillSpot(x, account)
  for (const vault of x.vaults) refillVault(x, vault)
}

function refillSpot(x: Exchange, account: number): void {
  if (freeSpot(x, account) > units(10_000)) return
  transfers.deposit(x, account, units(50_000))
  transfers.classTransfer(x, account, units(50_000), false)
}

function refillVault(x: Exchange, vault: Vault): void {
  const aim = vault.account === x.vaults[0]!.account ? units(5_000_000) : units(1_000)
  if (vaultEquity(x, vault) * 2n > aim) return
  transfers.deposit(x, vault.leader, aim)
  depositToVault(x, vault, vault.leader, aim)
}

/** Blocks between two rare movements. */
const MOVE_BLOCKS = 30
/** Interest divisor on a borrowed amount, charged at withdrawal or repayment. */
const INTEREST_PARTS = 10_000n

type RareMove = (x: Exchange, rng: Prng, hash: string) => void

const RARE_MOVES: readonly RareMove[] = [
  (x, rng, hash) => {
    const { master, account } = rng.pick(roles.SUB_ACCOUNTS)
    const [from, to] = rng.chance(500_000) ? [master, account] : [account, master]
    const usdc = someUsd(rng, 10, 500)
    if (freeUsd(x, from, 0) >= 2n * usdc) transfers.subAccountTransfer(x, hash, from, to, usdc)
  },
  (x, rng, hash) => {
    const account = rng.pick(roles.DEX_TAKERS)
    const dex = rng.between(1, 2)
    const usdc = someUsd(rng, 10, 500)
    if (freeSpot(x, account) >= usdc) transfers.dexClassTransfer(x, hash, account, dex, usdc)
    else if (freeUsd(x, account, dex) >= 2n * usdc) transfers.dexClassTransfer(x, hash, account, dex, -usdc)
  },
  (x, rng, hash) => {
    const account = rng.pick(roles.SPOT_TAKERS)
    if (freeSpot(x, account) >= UNIT) transfers.payGas(x, hash, account, 'accountActivationGas', UNIT)
  },
  (x, rng, hash) => {
    const account = rng.pick([...roles.BUILDERS, ...roles.SPOT_TAKERS])
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

/** Makes a rare movement of money when one is due. */
export function bankersAct(x: Exchange): void {
  if (x.height % MOVE_BLOCKS !== 7) return
  const rng = new Prng(seedState(x.seed + 2 ** 49 + x.height))
  rng.pick(RARE_MOVES)(x, rng, eventHash(x.height, rng.hex(27)))
  if (x.scale.dusting) sweep(x, rng)
}

function sweep(x: Exchange, rng: Prng): void {
  const account = rng.pick(roles.SPOT_TAKERS)
  const market = rng.pick(x.scale.markets.filter(({ kind }) => kind === 'spot'))
  if (freeSpot(x, account, market.token) >= market.lot) transfers.convertDust(x, account, market)
}

/** Lenders withdraw and borrowers repay; the other wallets lend, or borrow what others lend. */
function lend(x: Exchange, rng: Prng, hash: string): void {
  const account = rng.pick(roles.SPOT_TAKERS)
  const lent = x.pools.lent.get(account) ?? 0n
  let pool = 0n
  for (const amount of x.pools.lent.values()) pool += amount
  const some = someUsd(rng, 50, 1_000)
  const interest = abs(lent) / INTEREST_PARTS
  const free = freeSpot(x, account)
  if (lent > 0n && pool >= lent) transfers.borrowLend(x, hash, account, 'withdraw', lent, interest)
  else if (lent < 0n && free >= -lent + interest) transfers.borrowLend(x, hash, account, 'repay', -lent, interest)
  else if (lent === 0n && pool >= some && rng.chance(500_000)) transfers.borrowLend(x, hash, account, 'borrow', some)
  else if (lent >= 0n && free > 0n) transfers.borrowLend(x, hash, account, 'supply', min(some, free))
}

/** Blocks between two staking actions. */
const STAKE_BLOCKS = 20

/**
 * Stakers deposit, delegate, undelegate and withdraw in turn, always the same amount. No state is kept, because the
 * tokens are not part of the spot balances. Validators, run by builders, get rewards with each funding.
 */
export function stakersAct(x: Exchange): void {
  const record = (hash: string, inner: NodeMiscEvent['inner']) =>
    x.block.miscEvents.push({ time: x.block.time, hash, inner })
  const addressOf = (account: number) => x.accounts[account]!.address
  if (x.height % x.fundingBlocks === 0) {
    const rewards = roles.BUILDERS.map((validator) => [addressOf(validator), '0.01'] as const)
    record(ZERO_HASH, { ValidatorRewards: { validator_to_reward: rewards } })
  }
  if (x.height % STAKE_BLOCKS !== 11) return
  const turn = Math.floor(x.height / STAKE_BLOCKS)
  const account = roles.STAKERS[turn % roles.STAKERS.length]!
  const user = addressOf(account)
  const amount = formatAmount(units(100 + account))
  const delegation = { user, validator: addressOf(roles.BUILDERS[account % roles.BUILDERS.length]!), amount }
  const hash = eventHash(x.height, new Prng(seedState(x.seed + 2 ** 50 + x.height)).hex(27))
  const transfer = (isDeposit: boolean) =>
    recordLedger(x.block, hash, [user], { type: 'cStakingTransfer', token: 'HYPE', amount, isDeposit })
  switch (Math.floor(turn / roles.STAKERS.length) % 5) {
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
