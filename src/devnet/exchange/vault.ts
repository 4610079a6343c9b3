// Vaults. A vault is a wallet that its followers own in shares. The price of a share follows the vault's account value
// on the main DEX.

import { type Exchange, marginOf, newHash, type Vault } from './exchange.ts'
import { formatAmount, min, UNIT } from './fixed-point.ts'
import type { LedgerDelta } from './node-block.ts'
import { SAMPLE_ADDRESSES } from './roles.ts'
import { move } from './transfers.ts'
import { emptyWallet } from './wallet.ts'

const CREATION_FEE = 100n * UNIT
/** Percentage of a follower's profit that the leader gets. */
const COMMISSION_PERCENT = 10n

/** Opens a wallet. The caller limits the number of wallets. */
export function openAccount(x: Exchange): number {
  const index = x.accounts.length
  const random = `0x${x.rng.hex(20)}`
  const wallet = emptyWallet(index, SAMPLE_ADDRESSES.get(index) ?? random, x.scale)
  x.accounts.push(wallet)
  x.byAddress.set(wallet.address, index)
  return index
}

/** Value of a vault at mark prices. Never negative. */
export function vaultEquity(x: Exchange, vault: Vault): bigint {
  const { value } = marginOf(x, x.accounts[vault.account]!.margin[0]!)
  return value > 0n ? value : 0n
}

/** Creates a vault. The leader deposits `usdc` and pays a fee of 100 USDC, both from the main DEX. */
export function createVault(x: Exchange, leader: number, name: string, usdc: bigint): Vault {
  const account = openAccount(x)
  const vault: Vault = { account, name, leader, createdMs: x.block.timeMs, totalShares: 0n, followers: new Map() }
  x.vaults.push(vault)
  x.pools.fees += CREATION_FEE
  issue(x, vault, leader, usdc, usdc + CREATION_FEE, {
    type: 'vaultCreate',
    vault: x.accounts[account]!.address,
    usdc: formatAmount(usdc),
    fee: formatAmount(CREATION_FEE),
  })
  return vault
}

/** Buys shares at the current price with USDC of the main DEX. */
export function depositToVault(x: Exchange, vault: Vault, holder: number, usdc: bigint): void {
  const { address } = x.accounts[vault.account]!
  issue(x, vault, holder, usdc, usdc, { type: 'vaultDeposit', vault: address, usdc: formatAmount(usdc) })
}

function issue(x: Exchange, vault: Vault, holder: number, usdc: bigint, paid: bigint, delta: LedgerDelta): void {
  const equity = vaultEquity(x, vault)
  const shares = vault.totalShares === 0n || equity === 0n ? usdc : (usdc * vault.totalShares) / equity
  const follower = vault.followers.get(holder) ?? { shares: 0n, basis: 0n }
  follower.shares += shares
  follower.basis += usdc
  vault.followers.set(holder, follower)
  vault.totalShares += shares
  const moves = [
    [holder, 0, -paid],
    [vault.account, 0, usdc],
  ] as const
  move(x, moves, delta)
}

/** Redeems `percent` of a follower's shares, minus the leader's commission on the profit. */
export function withdrawFromVault(x: Exchange, vault: Vault, holder: number, percent: bigint): void {
  const follower = vault.followers.get(holder)
  const state = marginOf(x, x.accounts[vault.account]!.margin[0]!)
  if (follower === undefined || vault.totalShares === 0n) return
  const shares = (follower.shares * percent) / 100n
  const requested = (vaultEquity(x, vault) * shares) / vault.totalShares
  if (requested <= 0n || requested > state.value - state.used) return
  const basis = min((follower.basis * percent) / 100n, follower.basis)
  const profit = requested - basis
  const commission = holder !== vault.leader && profit > 0n ? (profit * COMMISSION_PERCENT) / 100n : 0n
  follower.shares -= shares
  follower.basis -= basis
  vault.totalShares -= shares
  if (follower.shares === 0n) vault.followers.delete(holder)
  const hash = newHash(x)
  const user = x.accounts[holder]!.address
  const moves = [
    [holder, 0, requested - commission],
    [vault.account, 0, -requested],
  ] as const
  const delta = {
    type: 'vaultWithdraw',
    vault: x.accounts[vault.account]!.address,
    user,
    requestedUsd: formatAmount(requested),
    commission: formatAmount(commission),
    closingCost: '0.0',
    basis: formatAmount(basis),
    netWithdrawnUsd: formatAmount(requested - commission),
  }
  move(x, moves, delta, hash)
  if (commission === 0n) return
  const leader = x.accounts[vault.leader]!.address
  const earned = { type: 'vaultLeaderCommission', user: leader, usdc: formatAmount(commission) }
  move(x, [[vault.leader, 0, commission]], earned, hash)
}
