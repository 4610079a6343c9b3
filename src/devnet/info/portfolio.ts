// What an account was worth and has won over several periods, drawn from its samples and the present.

import { markPxs } from '../exchange/exchange.ts'
import { formatAmount } from '../exchange/fixed-point.ts'
import { type AccountSample, sampleOf } from './account-samples.ts'
import type { Scene, SomeAnswers } from './answer.ts'
import { WINDOWS } from './vaults.ts'
import { walletOf } from './wallet.ts'

function curve(samples: readonly AccountSample[], before: AccountSample | undefined, part: 'all' | 'perp') {
  const first = samples[0]![part]
  const last = samples.at(-1)![part]
  return {
    accountValueHistory: samples.map((sample) => [sample.timeMs, formatAmount(sample[part].value)]),
    pnlHistory: samples.map((sample) => [sample.timeMs, formatAmount(sample[part].pnl - first.pnl)]),
    vlm: formatAmount(last.volume - (before?.[part].volume ?? 0n)),
  }
}

function portfolio({ exchange: x, past }: Scene, user: string) {
  const wallet = walletOf(x, user)
  const samples = [...past.accounts.of(wallet.index), sampleOf(x, wallet, past.earnings, markPxs(x))]
  const periods = WINDOWS.map(([name, span]) => {
    const from = samples.findIndex(({ timeMs }) => timeMs >= x.block.timeMs - span)
    return { name, kept: samples.slice(from), before: samples[from - 1] }
  })
  return [
    ...periods.map(({ name, kept, before }) => [name, curve(kept, before, 'all')]),
    ...periods.map(({ name, kept, before }) => [
      `perp${name[0]!.toUpperCase()}${name.slice(1)}`,
      curve(kept, before, 'perp'),
    ]),
  ]
}

/** A wallet that nobody has seen was never worth anything. */
export const PORTFOLIO_ANSWERS = {
  portfolio: (scene, { user }) => portfolio(scene, user),
} satisfies SomeAnswers
