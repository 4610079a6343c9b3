// What every vault was worth, looked at regularly: the curve that `vaultDetails` draws.

import type { Exchange, Vault } from '../exchange/exchange.ts'
import { Tail } from '../exchange/tail.ts'
import { vaultEquity } from '../exchange/vault.ts'

export interface VaultSample {
  readonly timeMs: number
  readonly equity: bigint
  /** Equity less what the shares held were bought for. */
  readonly pnl: bigint
}

const EVERY_BLOCKS = 200
const KEPT = 400

/** What a vault's present holders have gained together. */
export function vaultPnl(x: Exchange, vault: Vault): bigint {
  let pnl = vaultEquity(x, vault)
  for (const { basis } of vault.followers.values()) pnl -= basis
  return pnl
}

export class VaultSamples {
  /** By the account index of the vault's wallet. */
  readonly #samples = new Map<number, Tail<VaultSample>>()

  note(x: Exchange): void {
    if (x.height % EVERY_BLOCKS !== 1) return
    for (const vault of x.vaults) {
      const tail = this.#samples.get(vault.account) ?? new Tail<VaultSample>(KEPT)
      this.#samples.set(vault.account, tail)
      tail.push({ timeMs: x.block.timeMs, equity: vaultEquity(x, vault), pnl: vaultPnl(x, vault) })
    }
  }

  /** Oldest first. */
  of(vault: Vault): readonly VaultSample[] {
    return this.#samples.get(vault.account)?.toArray() ?? []
  }
}
