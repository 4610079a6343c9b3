// Compares account history from the gateway with the node's files: fills, balance changes, funding payments, and trades
// computed from fills and funding.

import { join } from 'node:path'
import type { Candle } from '../../src/archive/candles.ts'
import { INTERVALS } from '../../src/core/candle-interval.ts'
import { canonicalJson } from '../../src/core/canonical-json.ts'
import { nodeTimeMs } from '../../src/feeder/streams.ts'
import type { Fill, UserFill } from '../../src/protocol/feed/block.ts'
import { plainTrades, whole } from '../conformance/plain-trades.ts'
import { nodeBlocks } from '../kit/node-blocks.ts'
import type { Plant } from './plant.node.ts'
import type { TrueRow } from './rows.ts'

/** Of either kind. */
const WALLETS = 10
/** Of one wallet: trades are made of 10,000 at most. */
const FILLS_MOST = 8_000
const TRADES_A_PAGE = 500
/** Of one list. */
const PAGES_MOST = 50
/** What the public fills do not tell. */
const NODE_ONLY = ['builder', 'deployerFee', 'priorityGas']

/** Of payments, which are no transactions. */
const NO_HASH = `0x${'0'.repeat(64)}`

export type PastSource = Pick<Plant, 'state' | 'url' | 'info' | 'answerOf'>

/** Blocks that the archive lacks, and the times of those around them. */
export interface LostSpan {
  readonly from: number
  readonly to: number
  readonly after_ms: number
  readonly before_ms: number
}

interface Asked {
  readonly plant: PastSource
  readonly key: string
  /** What was before may be from before the archive. */
  readonly fromMs: number
  /** Everything up to here is archived, except for `lost`. */
  readonly untilMs: number
  readonly lost?: readonly LostSpan[]
}

interface Timed {
  readonly time: number
}
interface Trade {
  readonly open_time: number
  readonly close_time: number
  readonly tx_index: number
}
interface Delta {
  readonly user: string
  readonly coin: string
  readonly funding_amount: string
  readonly szi: string
  readonly funding_rate: string
}
interface MiscEvent {
  readonly time: string
  readonly hash: string
  readonly inner: {
    readonly LedgerUpdate?: { readonly users: readonly string[]; readonly delta: object }
    readonly Funding?: { readonly deltas: readonly Delta[] }
  }
}
interface Account {
  readonly fills: { readonly height: number; readonly fill: Fill }[]
  readonly ledger: Timed[]
  /** Of `coin@height`. */
  readonly funding: Map<string, bigint>
  readonly paid: Timed[]
}

/** Rows that were compared of each list, and what of them is wrong. */
export async function compareAccounts(asked: Asked) {
  const { plant, fromMs, untilMs, lost = [] } = asked
  const wrong: string[] = []
  const rows = { fills: 0, ledger: 0, payments: 0, trades: 0 }
  for (const [user, { fills, ledger, funding, paid }] of accountsOf(join(plant.state, 'node'), lost)) {
    const compare = (what: keyof typeof rows, is: readonly object[], should: readonly object[]) => {
      const [ours, theirs] = [is, should].map((list) => list.map((row) => canonicalJson(row as never)))
      rows[what] += theirs!.length
      const at = theirs!.findIndex((row, number) => row !== ours![number])
      if (at >= 0) wrong.push(`${what} of ${user}: ${ours![at]} should be ${theirs![at]}`)
      else if (ours!.length > theirs!.length) wrong.push(`${what} of ${user}: ${ours![theirs!.length]} should not be`)
    }
    const within = <Row extends Timed>(list: readonly Row[]) =>
      list.filter(({ time }) => time >= fromMs && time <= untilMs)
    const shown = within(fills.map(({ fill }) => fill)).map((fill) =>
      Object.fromEntries(Object.entries(fill).filter(([name]) => !NODE_ONLY.includes(name))),
    )
    compare('fills', await timed(asked, 'userFillsByTime', user), shown)
    compare('ledger', await timed(asked, 'userNonFundingLedgerUpdates', user), within(ledger))
    // Coins of one time may come in any order.
    const ordered = (list: readonly Timed[]) =>
      list.toSorted((a, b) => (canonicalJson(a as never) < canonicalJson(b as never) ? -1 : 1))
    compare('payments', ordered(await timed(asked, 'userFunding', user)), ordered(within(paid)))
    const counted = plainTrades(user, fills, (coin, height) => funding.get(`${coin}@${height}`) ?? 0n)
    // A position from before the window may have been opened before the archive.
    const isWithin = ({ open_time, close_time }: Omit<Trade, 'tx_index'>) =>
      open_time > fromMs && close_time <= untilMs && !isTouched(lost, open_time, close_time)
    compare('trades', (await tradesOf(asked, user)).filter(isWithin), counted.filter(isWithin))
  }
  for (const [what, count] of Object.entries(rows)) if (count === 0) wrong.push(`no ${what} could be compared`)
  return { ...rows, wrong }
}

/** Those with the most fills, but for those that have too many, and with the most balance movements. */
function accountsOf(data: string, lost: readonly LostSpan[]): Map<string, Account> {
  const accounts = new Map<string, Account>()
  const of = (user: string): Account => {
    const known = accounts.get(user) ?? { fills: [], ledger: [], funding: new Map(), paid: [] }
    accounts.set(user, known)
    return known
  }
  const isKept = ({ height }: { readonly height: number }) =>
    !lost.some(({ from, to }) => from <= height && height <= to)
  for (const { height, events } of nodeBlocks<UserFill>(data, 'fills').filter(isKept))
    for (const [user, fill] of events) of(user).fills.push({ height, fill })
  for (const { height, events } of nodeBlocks<MiscEvent>(data, 'misc').filter(isKept))
    for (const { time, hash, inner } of events) {
      const { LedgerUpdate: update, Funding: funding } = inner
      if (update)
        for (const user of new Set(update.users))
          of(user).ledger.push({ time: nodeTimeMs(time), hash, delta: update.delta } as Timed)
      for (const { user, coin, funding_amount: usdc, szi, funding_rate: fundingRate } of funding?.deltas ?? []) {
        of(user).funding.set(`${coin}@${height}`, whole(usdc))
        const delta = { type: 'funding', coin, usdc, szi, fundingRate, nSamples: null }
        of(user).paid.push({ time: nodeTimeMs(time), hash: NO_HASH, delta } as Timed)
      }
    }
  const fit = [...accounts].filter(([, { fills }]) => fills.length <= FILLS_MOST)
  const most = (of: 'fills' | 'ledger') => fit.sort(([, a], [, b]) => b[of].length - a[of].length).slice(0, WALLETS)
  return new Map([...most('fills'), ...most('ledger')])
}

const isTouched = (lost: readonly LostSpan[], fromMs: number, toMs: number) =>
  lost.some(({ after_ms, before_ms }) => after_ms <= toMs && before_ms >= fromMs)

/** All rows of a list in the window, page after page. */
async function timed({ plant, key, fromMs, untilMs }: Asked, type: string, user: string): Promise<Timed[]> {
  const seen = new Map<string, Timed>()
  let startTime = fromMs
  for (let page = 0; page < PAGES_MOST; page++) {
    const question = { type, user, startTime, endTime: untilMs }
    const rows = (await plant.answerOf('gateway', question as never, key)) as unknown as Timed[]
    const before = seen.size
    for (const row of rows) seen.set(canonicalJson(row as never), row)
    const last = rows.at(-1)
    if (!last || seen.size === before) return [...seen.values()]
    startTime = last.time
  }
  throw new Error(`${type} of ${user} has no end`)
}

/** All trades from the beginning of the window on, without their ordinals. */
async function tradesOf({ plant, key, fromMs }: Asked, user: string) {
  const trades: Trade[] = []
  for (let cursor: string | undefined; ; ) {
    const question = { type: 'userCompletedTradesByTime', user, startTime: fromMs, limit: TRADES_A_PAGE }
    const from = cursor === undefined ? {} : { cursor }
    const page = (await plant.answerOf('gateway', { ...question, ...from } as never, key)) as unknown as Trade[]
    trades.push(...page)
    const last = page.at(-1)
    if (!last || page.length < TRADES_A_PAGE) return trades.map(({ tx_index: _, ...trade }) => trade)
    cursor = `${last.close_time}_${last.tx_index}`
  }
}

// Candles that the gateway has kept itself against those of the exchange.

const COINS = 5
/** In a run of ten minutes a few of `1m`, of each coin. */
const LEAST = COINS

/** `lost`: where it is given, candles before them count too, from `fromMs` on. */
export async function compareKeptCandles({
  plant,
  key,
  fills,
  fromMs,
  untilMs,
  lost,
}: Asked & { readonly fills: readonly Pick<TrueRow, 'coin'>[] }) {
  const wrong: string[] = []
  let compared = 0
  for (const coin of busiest(fills))
    for (const interval of INTERVALS) {
      const question = { type: 'candleSnapshot', req: { coin, interval, startTime: 0 } }
      const { rows: candles, sinceMs } = await ownAnswer<Candle>(plant, key, question)
      const truth = (await plant.answerOf('exchange', question as never)) as unknown as Candle[]
      const isWhole = ({ t, T }: Candle) => (lost ? t > fromMs && !isTouched(lost, t, T) : t > sinceMs)
      const closed = (some: readonly Candle[]) => some.filter((one) => isWhole(one) && one.T < untilMs)
      const [is, should] = [closed(candles), closed(truth)].map((some) => some.map((one) => canonicalJson(one)))
      compared += should!.length
      const at = should!.findIndex((text, number) => text !== is![number])
      if (at >= 0) wrong.push(`a candle of ${coin} is ${is![at]} and should be ${should![at]}`)
      else if (is!.length > should!.length) wrong.push(`of ${coin} there are candles of ${interval} that should not be`)
    }
  if (compared < LEAST) wrong.push(`${compared} candles could be compared`)
  return { compared, wrong }
}

function busiest(fills: readonly Pick<TrueRow, 'coin'>[]): string[] {
  const counts = new Map<string, number>()
  // Of a spot pair or an outcome there may be fills that are no trades.
  for (const { coin } of fills) if (/^\w+$/.test(coin)) counts.set(coin, (counts.get(coin) ?? 0) + 1)
  const coins = [...counts].sort(([, a], [, b]) => b - a).map(([coin]) => coin)
  return coins.slice(0, COINS)
}

/** All, and since when they are its own; never, where it does not say so. */
async function ownAnswer<Row>(plant: PastSource, key: string, question: object) {
  const answer = await plant.info(key, question)
  const body = await answer.text()
  if (!answer.ok) throw new Error(`${JSON.stringify(question)}: ${answer.status} ${body}`)
  const since = answer.headers.get('x-history-from-time')
  return {
    rows: JSON.parse(body) as Row[],
    sinceMs: since === null ? Number.POSITIVE_INFINITY : Number(since),
  }
}
