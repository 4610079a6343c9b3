// Vaults as the public info queries show them. What followers have adds up to what the vault is worth.

import { DAY_MS } from '../../core/time.ts'
import { type Exchange, type Follower, freeUsd, type Vault } from '../exchange/exchange.ts'
import { formatAmount, UNIT } from '../exchange/fixed-point.ts'
import { COMMISSION_PERCENT, childrenOf, holding, isChild, vaultEquity } from '../exchange/vault.ts'
import type { Scene, SomeAnswers } from './answer.ts'
import { type VaultSample, vaultPnl } from './vault-samples.ts'

const MAX_FOLLOWERS = 100
export const WINDOWS = [
  ['day', DAY_MS],
  ['week', 7 * DAY_MS],
  ['month', 30 * DAY_MS],
  ['allTime', Number.POSITIVE_INFINITY],
] as const

const addressOf = (x: Exchange, account: number) => x.accounts[account]!.address
const vaultAt = (x: Exchange, address: string) => x.vaults.find(({ account }) => addressOf(x, account) === address)
/** These few answers have JSON numbers where all others have decimal strings. */
const toNumber = (amount: bigint) => Number(amount) / Number(UNIT)

function relationship(x: Exchange, vault: Vault) {
  const childAddresses = childrenOf(x, vault).map(({ account }) => addressOf(x, account))
  if (childAddresses.length > 0) return { type: 'parent', data: { childAddresses } }
  return { type: isChild(x, vault) ? 'child' : 'normal' }
}

function summary(x: Exchange, vault: Vault) {
  return {
    name: vault.name,
    vaultAddress: addressOf(x, vault.account),
    leader: addressOf(x, vault.leader),
    tvl: formatAmount(vaultEquity(x, vault)),
    isClosed: false,
    relationship: relationship(x, vault),
    createTimeMillis: vault.createdMs,
  }
}

/** The backstop has money on the other DEXes too, which its shares do not stand for. */
function equities(x: Exchange, address: string) {
  const holder = x.byAddress.get(address) ?? -1
  return x.vaults.flatMap((vault) => {
    if (!vault.followers.has(holder)) return []
    const equity = formatAmount(holding(x, vault, holder))
    // This exchange locks nothing up: the lock ended when it began.
    return [{ vaultAddress: addressOf(x, vault.account), equity, lockedUntilTimestamp: vault.createdMs }]
  })
}

function curve(samples: readonly VaultSample[], volume: string) {
  const first = samples[0]?.pnl ?? 0n
  return {
    accountValueHistory: samples.map(({ timeMs, equity }) => [timeMs, formatAmount(equity)]),
    pnlHistory: samples.map(({ timeMs, pnl }) => [timeMs, formatAmount(pnl - first)]),
    vlm: volume,
  }
}

/** A vault trades perps alone, so that both halves are the same. */
function portfolio({ exchange, past }: Scene, vault: Vault) {
  const now = exchange.block.timeMs
  const samples = past.vaults.of(vault)
  const volume = formatAmount(past.volumes.total(addressOf(exchange, vault.account)))
  const curves = WINDOWS.map(([name, span]) => {
    return [
      name,
      curve(
        samples.filter(({ timeMs }) => timeMs >= now - span),
        volume,
      ),
    ] as const
  })
  return [...curves, ...curves.map(([name, data]) => [`perp${name[0]!.toUpperCase()}${name.slice(1)}`, data] as const)]
}

function followerRow(x: Exchange, vault: Vault, holder: number, follower: Follower) {
  const equity = holding(x, vault, holder)
  const pnl = formatAmount(equity - follower.basis)
  return {
    user: addressOf(x, holder),
    vaultEquity: formatAmount(equity),
    pnl,
    allTimePnl: pnl,
    daysFollowing: Math.floor((x.block.timeMs - vault.createdMs) / DAY_MS),
    vaultEntryTime: vault.createdMs,
    lockupUntil: vault.createdMs,
  }
}

/** Largest first; the leader is not called by its address. */
function followers(x: Exchange, vault: Vault) {
  return [...vault.followers]
    .sort(([, a], [, b]) => (a.shares < b.shares ? 1 : a.shares > b.shares ? -1 : 0))
    .slice(0, MAX_FOLLOWERS)
    .map(([holder, follower]) => {
      const row = followerRow(x, vault, holder, follower)
      return holder === vault.leader ? { ...row, user: 'Leader' } : row
    })
}

function details(scene: Scene, vault: Vault, user: string | null) {
  const { exchange: x } = scene
  const viewer = user === null ? -1 : (x.byAddress.get(user) ?? -1)
  const mine = vault.followers.get(viewer)
  const leaders = vault.followers.get(vault.leader)?.shares ?? 0n
  const free = freeUsd(x, vault.account, 0)
  const distributable = toNumber(free > 0n ? free : 0n)
  const equity = vaultEquity(x, vault)
  return {
    name: vault.name,
    vaultAddress: addressOf(x, vault.account),
    leader: addressOf(x, vault.leader),
    description: `${vault.name} of the devnet`,
    portfolio: portfolio(scene, vault),
    // A rate of a year out of minutes would say nothing: this is the gain so far.
    apr: equity === 0n ? 0 : toNumber((vaultPnl(x, vault) * UNIT) / equity),
    followerState: mine === undefined ? null : followerRow(x, vault, viewer, mine),
    leaderFraction: vault.totalShares === 0n ? 0 : toNumber((leaders * UNIT) / vault.totalShares),
    leaderCommission: Number(COMMISSION_PERCENT) / 100,
    followers: followers(x, vault),
    maxDistributable: distributable,
    maxWithdrawable: mine === undefined ? 0 : Math.min(distributable, toNumber(holding(x, vault, viewer))),
    isClosed: false,
    relationship: relationship(x, vault),
    allowDeposits: !isChild(x, vault),
    alwaysCloseOnWithdraw: false,
  }
}

/** One summary per vault, however old; a vault that does not exist is null. */
export const VAULT_ANSWERS = {
  vaultSummaries: ({ exchange }) => exchange.vaults.map((vault) => summary(exchange, vault)),
  vaultDetails: (scene, { vaultAddress, user }) => {
    const vault = vaultAt(scene.exchange, vaultAddress)
    return vault === undefined ? null : details(scene, vault, user ?? null)
  },
  userVaultEquities: ({ exchange }, { user }) => equities(exchange, user),
  leadingVaults: ({ exchange: x }, { user }) =>
    x.vaults
      .filter(({ leader }) => addressOf(x, leader) === user)
      .map(({ account, name }) => ({ address: addressOf(x, account), name })),
} satisfies SomeAnswers
