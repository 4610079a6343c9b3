// Accounts of the past as the gateway answers them against those of the exchange: fills, balance movements, and trades that are
// counted anew from the exchange's fills and funding.

import { canonicalJson } from '../../src/core/canonical-json.ts'
import type { Fill } from '../../src/feed/block.ts'
import { plainTrades, whole } from '../conformance/plain-trades.ts'
import type { Plant } from './plant.node.ts'
import type { TrueRow } from './rows.ts'

/** Those with the most fills of which one answer of the exchange has all. */
const WALLETS = 12
const FILLS_MOST = 1_800
const TRADES_A_PAGE = 500
/** Of one list. */
const PAGES_MOST = 50

interface Asked {
  readonly plant: Plant
  readonly key: string
  readonly fills: readonly TrueRow[]
  /** What was before may be from before the archive. */
  readonly fromMs: number
  /** Everything up to here is archived. */
  readonly untilMs: number
}

interface Timed {
  readonly time: number
}
interface Trade {
  readonly open_time: number
  readonly close_time: number
  readonly tx_index: number
}
interface Payment extends Timed {
  readonly delta: { readonly coin: string; readonly usdc: string }
}

/** Rows that were compared of each list, and what of them is wrong. */
export async function compareAccounts(asked: Asked) {
  const wrong: string[] = []
  const rows = { fills: 0, ledger: 0, trades: 0 }
  for (const user of busiest(asked.fills)) {
    const compare = (what: keyof typeof rows, is: readonly unknown[], should: readonly unknown[]) => {
      const [ours, theirs] = [is, should].map((list) => list.map((row) => canonicalJson(row as never)))
      rows[what] += theirs!.length
      const at = theirs!.findIndex((row, number) => row !== ours![number])
      if (at >= 0) wrong.push(`${what} of ${user}: ${ours![at]} should be ${theirs![at]}`)
      else if (ours!.length > theirs!.length) wrong.push(`${what} of ${user}: ${ours![theirs!.length]} should not be`)
    }
    for (const [what, type] of [
      ['fills', 'userFillsByTime'] as const,
      ['ledger', 'userNonFundingLedgerUpdates'] as const,
    ]) {
      const [ours, theirs] = [await timed(asked, 'gateway', type, user), await timed(asked, 'exchange', type, user)]
      compare(what, ours, theirs)
    }
    compare('trades', await ownTrades(asked, user), await countedTrades(asked, user))
  }
  for (const [what, count] of Object.entries(rows)) if (count === 0) wrong.push(`no ${what} could be compared`)
  return { ...rows, wrong }
}

function busiest(fills: readonly TrueRow[]): string[] {
  const counts = new Map<string, number>()
  for (const { user } of fills) counts.set(user, (counts.get(user) ?? 0) + 1)
  const fit = [...counts].filter(([, count]) => count <= FILLS_MOST)
  return fit
    .sort(([, a], [, b]) => b - a)
    .slice(0, WALLETS)
    .map(([user]) => user)
}

/** All rows of a list in the window, page after page. */
async function timed<Row extends Timed>(
  { plant, key, fromMs, untilMs }: Pick<Asked, 'plant' | 'key' | 'fromMs' | 'untilMs'>,
  whom: 'exchange' | 'gateway',
  type: string,
  user: string,
): Promise<Row[]> {
  const seen = new Map<string, Row>()
  for (let [page, startTime] = [0, fromMs]; page < PAGES_MOST; page++) {
    const question = { type, user, startTime, endTime: untilMs }
    const rows = (await plant.ask(whom, question as never, key)) as unknown as Row[]
    const before = seen.size
    for (const row of rows) seen.set(canonicalJson(row as never), row)
    const last = rows.at(-1)
    if (!last || seen.size === before) return [...seen.values()]
    startTime = last.time
  }
  throw new Error(`${type} of ${user} has no end`)
}

async function ownTrades({ plant, key, fromMs, untilMs }: Asked, user: string) {
  const trades: Trade[] = []
  for (let cursor: string | undefined; ; ) {
    const question = { type: 'userCompletedTradesByTime', user, startTime: fromMs, limit: TRADES_A_PAGE }
    const from = cursor === undefined ? {} : { cursor }
    const page = (await plant.ask('gateway', { ...question, ...from } as never, key)) as unknown as Trade[]
    trades.push(...page)
    const last = page.at(-1)
    if (!last || page.length < TRADES_A_PAGE) break
    cursor = `${last.close_time}_${last.tx_index}`
  }
  return trades.filter((trade) => isWithin(trade, fromMs, untilMs)).map(({ tx_index: _, ...trade }) => trade)
}

async function countedTrades({ plant, key, fromMs, untilMs }: Asked, user: string) {
  const all = { plant, key, fromMs: 0, untilMs }
  const fills = await timed<Fill>(all, 'exchange', 'userFillsByTime', user)
  const payments = await timed<Payment>(all, 'exchange', 'userFunding', user)
  // A block has one time, and here its place among those is its height.
  const times = [...new Set([...fills, ...payments].map(({ time }) => time))].sort((a, b) => a - b)
  const heights = new Map(times.map((time, at) => [time, at]))
  const paid = new Map(payments.map(({ time, delta }) => [`${delta.coin}@${heights.get(time)}`, whole(delta.usdc)]))
  const seen = fills.map((fill) => ({ height: heights.get(fill.time)!, fill }))
  const trades = plainTrades(user, seen, (coin, height) => paid.get(`${coin}@${height}`) ?? 0n)
  return trades.filter((trade) => isWithin(trade, fromMs, untilMs))
}

/** A position from before the window may have been opened before the archive. */
function isWithin({ open_time, close_time }: Omit<Trade, 'tx_index'>, fromMs: number, untilMs: number): boolean {
  return open_time > fromMs && close_time <= untilMs
}
