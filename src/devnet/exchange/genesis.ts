// Creates the initial wallets. Their money arrives as ledger events of block 1, so that the files contain the whole
// history.

import { openCrowd } from './crowd.ts'
import type { Exchange } from './exchange.ts'
import { units } from './fixed-point.ts'
import { OUTCOME_SIDES } from './market.ts'
import * as roles from './roles.ts'
import { classTransfer, deposit, send, splitOutcome, spotGenesis } from './transfers.ts'
import { createVault, openAccount } from './vault.ts'

const MAKER_USD = 20_000_000
const DEX_USD = 5_000_000
const VAULT_USD = 10_000_000

/** Opens the wallets of roles.ts, which are empty, and those of the crowd. Call before block 1. */
export function openWallets(x: Exchange): void {
  for (let i = 0; i < roles.WALLETS; i++) openAccount(x)
  openCrowd(x)
}

/** Deposits the initial money of all wallets. Call in block 1. */
export function payIn(x: Exchange): void {
  for (const maker of roles.MAIN_MAKERS) deposit(x, maker, units(MAKER_USD))
  for (const maker of roles.DEX_MAKERS) payIntoDexes(x, maker, DEX_USD)
  for (const maker of roles.SPOT_MAKERS) payIntoSpot(x, maker, MAKER_USD, 10_000_000, 100_000)
  for (const arbitrageur of roles.ARBITRAGEURS) {
    deposit(x, arbitrageur, units(MAKER_USD))
    payIntoDexes(x, arbitrageur, DEX_USD)
    payIntoSpot(x, arbitrageur, MAKER_USD, 5_000_000, 50_000)
  }
  for (const taker of roles.TAKERS) deposit(x, taker, units(x.rng.between(20, 400) * 1000))
  for (const taker of roles.DEX_TAKERS) {
    deposit(x, taker, units(50_000))
    payIntoDexes(x, taker, 100_000)
  }
  for (const taker of roles.SPOT_TAKERS) payIntoSpot(x, taker, 100_000, 50_000, 500)
  for (const gambler of roles.GAMBLERS) deposit(x, gambler, units(x.rng.between(500, 4000)))
  for (const twapper of roles.TWAPPERS) deposit(x, twapper, units(3_000_000))
  payBackstop(x)
}

function payIntoDexes(x: Exchange, account: number, usd: number): void {
  for (let dex = 1; dex < x.scale.dexes.length; dex++) {
    deposit(x, account, units(usd))
    send(x, account, account, 0, dex, units(usd))
  }
}

function payIntoSpot(x: Exchange, account: number, usd: number, purr: number, hfun: number): void {
  deposit(x, account, units(usd))
  classTransfer(x, account, units(usd), false)
  spotGenesis(x, account, 1, units(purr))
  spotGenesis(x, account, 2, units(hfun))
  splitOutcome(x, account, OUTCOME_SIDES, units(Math.floor(usd / 10)))
}

function payBackstop(x: Exchange): void {
  deposit(x, roles.VAULT_LEADER, units(2 * VAULT_USD))
  const vault = createVault(x, roles.VAULT_LEADER, 'Backstop', units(VAULT_USD))
  for (let dex = 1; dex < x.scale.dexes.length; dex++)
    send(x, roles.VAULT_LEADER, vault.account, 0, dex, units(DEX_USD / 5))
}
