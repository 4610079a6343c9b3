// Money that moves without trades: deposits, withdrawals, transfers and vault moves at random, and a
// regular evening-out that keeps every wallet's wealth within bounds over a long run.

import { type Exchange, freeUsd, markPxs, type Vault } from '../exchange/exchange.ts'
import { min, units } from '../exchange/fixed-point.ts'
import { USDC } from '../exchange/market.ts'
import * as roles from '../exchange/roles.ts'
import * as transfers from '../exchange/transfers.ts'
import { createVault, depositToVault, vaultEquity, withdrawFromVault } from '../exchange/vault.ts'
import { marginState } from '../exchange/wallet.ts'

const ACT_PPM = 60_000
const EVEN_OUT_BLOCKS = 500
const LOW_PERCENT = 25n
const HIGH_PERCENT = 300n

type Move = (x: Exchange) => void

/** USDC with cents. */
const someUsd = (x: Exchange, low: number, high: number) => units(x.rng.between(low * 100, high * 100)) / 100n

const MOVES: readonly Move[] = [
  (x) => transfers.deposit(x, x.rng.pick(roles.TAKERS), someUsd(x, 100, 5_000)),
  (x) => spend(x, x.rng.pick(roles.TAKERS), 0, someUsd(x, 100, 4_000), (from, usd) => transfers.withdraw(x, from, usd)),
  (x) =>
    spend(x, x.rng.pick(roles.TAKERS), 0, someUsd(x, 10, 2_000), (from, usd) =>
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
    spend(x, from, source, someUsd(x, 10, 1_000), (_, usd) => transfers.send(x, from, from, source, target, usd))
  },
  (x) => sendSpot(x, x.rng.pick(roles.SPOT_TAKERS)),
  (x) => transferToken(x, x.rng.pick(roles.SPOT_TAKERS)),
  (x) => enterVault(x),
  (x) => leaveVault(x),
  (x) => transfers.claimRewards(x, x.rng.pick(roles.BUILDERS)),
]

/** A random movement now and then, and the evening-out when its height has come. */
export function treasurerActs(x: Exchange): void {
  if (x.rng.chance(ACT_PPM)) x.rng.pick(MOVES)(x)
  if (x.vaults.length < roles.MAX_VAULTS && x.rng.chance(1_500)) foundVault(x)
  if (x.height % EVEN_OUT_BLOCKS === 0) evenOut(x)
}

function other(x: Exchange, list: readonly number[], not: number): number {
  const choice = x.rng.pick(list)
  return choice === not ? list[(list.indexOf(not) + 1) % list.length]! : choice
}

/** Runs a move only where the wallet can spare the money. */
function spend(x: Exchange, from: number, dex: number, usd: bigint, move: (from: number, usd: bigint) => void): void {
  if (freeUsd(x, from, dex) >= 2n * usd) move(from, usd)
}

function classTransfer(x: Exchange, account: number): void {
  const usd = someUsd(x, 10, 1_000)
  const { total, hold } = x.accounts[account]!.spot[USDC]!
  if (total - hold >= usd) transfers.classTransfer(x, account, usd, true)
  else spend(x, account, 0, usd, (from, amount) => transfers.classTransfer(x, from, amount, false))
}

function sendSpot(x: Exchange, from: number): void {
  const usd = someUsd(x, 10, 500)
  const { total, hold } = x.accounts[from]!.spot[USDC]!
  if (total - hold >= usd) transfers.send(x, from, other(x, roles.SPOT_TAKERS, from), 'spot', 'spot', usd)
}

function transferToken(x: Exchange, from: number): void {
  const token = x.rng.between(1, 2)
  const { total, hold } = x.accounts[from]!.spot[token]!
  const amount = min((total - hold) / 10n, units(x.rng.between(1, 500)))
  if (amount > 0n) transfers.spotTransfer(x, from, other(x, roles.SPOT_TAKERS, from), token, amount)
}

function enterVault(x: Exchange): void {
  const vault = x.rng.pick(x.vaults)
  spend(x, x.rng.pick(roles.TAKERS), 0, someUsd(x, 100, 3_000), (from, usd) => depositToVault(x, vault, from, usd))
}

function leaveVault(x: Exchange): void {
  const vault = x.rng.pick(x.vaults)
  const followers = [...vault.followers.keys()].filter((account) => account !== vault.leader)
  if (followers.length > 0) withdrawFromVault(x, vault, x.rng.pick(followers), BigInt(x.rng.pick([25, 50, 100])))
}

function foundVault(x: Exchange): void {
  const leader = x.rng.pick(roles.TAKERS)
  spend(x, leader, 0, someUsd(x, 2_000, 6_000), (from, usd) => createVault(x, from, `Vault ${x.vaults.length}`, usd))
}

/** The poor pay in and the rich withdraw, measured against what their kind began with. */
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
  const { total, hold } = x.accounts[account]!.spot[USDC]!
  if (total - hold > units(10_000)) return
  transfers.deposit(x, account, units(50_000))
  transfers.classTransfer(x, account, units(50_000), false)
}

function refillVault(x: Exchange, vault: Vault): void {
  const aim = vault.account === x.vaults[0]!.account ? units(5_000_000) : units(1_000)
  if (vaultEquity(x, vault) * 2n > aim) return
  transfers.deposit(x, vault.leader, aim)
  depositToVault(x, vault, vault.leader, aim)
}
