// What wallets paid as funding, as the gateway has kept it, against the exchange's own account.

import { canonicalJson } from '../../src/core/canonical-json.ts'
import { ownAnswer } from './past-candles.node.ts'
import type { Plant } from './plant.node.ts'
import type { TrueRow } from './rows.ts'

const WALLETS = 20

interface Asked {
  readonly plant: Plant
  readonly key: string
  readonly fills: readonly TrueRow[]
  /** What is later one of them may not have yet. */
  readonly untilMs: number
}

interface Row {
  readonly time: number
  readonly delta: { readonly coin: string }
}

export async function compareKeptFunding({ plant, key, fills, untilMs }: Asked) {
  const wrong: string[] = []
  let compared = 0
  for (const user of [...new Set(fills.map(({ user }) => user))].slice(0, WALLETS)) {
    const question = { type: 'userFunding', user, startTime: 0 }
    const { rows, sinceMs } = await ownAnswer<Row>(plant, key, question)
    const truth = (await plant.ask('exchange', question as never)) as unknown as Row[]
    // Coins of one time may come in any order.
    const own = (some: readonly Row[]) =>
      some.filter(({ time }) => time > sinceMs && time < untilMs).map((row) => canonicalJson(row))
    const [is, should] = [own(rows).sort(), own(truth).sort()]
    compared += should.length
    const at = should.findIndex((text, number) => text !== is[number])
    if (at >= 0 || is.length !== should.length)
      wrong.push(`funding of ${user}: ${is.length} rows for ${should.length}, ${is[at]} should be ${should[at]}`)
  }
  return { compared, wrong }
}
