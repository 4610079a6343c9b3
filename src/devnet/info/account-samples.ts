// What accounts were worth, looked at regularly: the curves of `portfolio`. Of the first accounts alone, so that any
// number of them costs the same; of all others there is the present.

import { type Exchange, markPxs } from '../exchange/exchange.ts'
import { notional } from '../exchange/fixed-point.ts'
import { ALL_MARKETS } from '../exchange/market.ts'
import { Tail } from '../exchange/tail.ts'
import { holding } from '../exchange/vault.ts'
import { marginState, type Wallet } from '../exchange/wallet.ts'
import type { Earned, EarningsBook } from './earnings.ts'

const EVERY_BLOCKS = 200
const KEPT = 400
const SAMPLED = 128

interface Worth {
  readonly value: bigint
  /** Realised since it is remembered, and what is open. */
  readonly pnl: bigint
  /** Traded since it is remembered. */
  readonly volume: bigint
}

export interface AccountSample {
  readonly timeMs: number
  readonly all: Worth
  readonly perp: Worth
}

/** Of a wallet now; `marks` by market id. */
export function sampleOf(x: Exchange, wallet: Wallet, book: EarningsBook, marks: readonly bigint[]): AccountSample {
  const earned = book.of(wallet.address)
  const perp = worth(perpsOf(wallet, marks), earned.perp)
  const spot = worth(spotOf(wallet, marks), earned.spot)
  const vaults = x.vaults.map((vault) => {
    const follower = vault.followers.get(wallet.index)
    if (follower === undefined) return { value: 0n, open: 0n }
    const value = holding(x, vault, wallet.index)
    return { value, open: value - follower.basis }
  })
  const add = (a: bigint, b: bigint) => a + b
  return {
    timeMs: x.block.timeMs,
    perp,
    all: {
      value: vaults.map(({ value }) => value).reduce(add, perp.value + spot.value),
      pnl: vaults.map(({ open }) => open).reduce(add, perp.pnl + spot.pnl),
      volume: perp.volume + spot.volume,
    },
  }
}

const worth = ({ value, open }: { value: bigint; open: bigint }, { pnl, volume }: Earned): Worth => ({
  value,
  pnl: pnl + open,
  volume,
})

function perpsOf({ margin }: Wallet, marks: readonly bigint[]) {
  let value = 0n
  let open = 0n
  for (const account of margin) {
    value += marginState(account, marks).value
    for (const [id, { szi, cost }] of account.positions) open += notional(marks[id]!, szi) - cost
  }
  return { value, open }
}

function spotOf({ spot }: Wallet, marks: readonly bigint[]) {
  let value = spot[0]!.total
  let open = 0n
  for (const { id, token } of ALL_MARKETS) {
    if (token < 0) continue
    if (marks[id] === undefined) continue
    const held = notional(marks[id], spot[token]!.total)
    value += held
    open += held - spot[token]!.cost
  }
  return { value, open }
}

export class AccountSamples {
  /** By account index. */
  readonly #samples = new Map<number, Tail<AccountSample>>()

  note(x: Exchange, book: EarningsBook): void {
    if (x.height % EVERY_BLOCKS !== 1) return
    const marks = markPxs(x)
    for (const wallet of x.accounts.slice(0, SAMPLED)) {
      const tail = this.#samples.get(wallet.index) ?? new Tail<AccountSample>(KEPT)
      this.#samples.set(wallet.index, tail)
      tail.push(sampleOf(x, wallet, book, marks))
    }
  }

  /** Oldest first. */
  of(account: number): readonly AccountSample[] {
    return this.#samples.get(account)?.toArray() ?? []
  }
}
