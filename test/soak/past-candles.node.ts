// Candles that the gateway has kept itself against those of the exchange.

import type { Candle } from '../../src/archive/candles.ts'
import { INTERVALS } from '../../src/core/candle-interval.ts'
import { canonicalJson } from '../../src/core/canonical-json.ts'
import type { Plant } from './plant.node.ts'
import type { TrueRow } from './rows.ts'

/** Those that are traded most. */
const COINS = 5
/** In a run of ten minutes a few of `1m`, of each coin. */
const LEAST = COINS

interface Asked {
  readonly plant: Plant
  readonly key: string
  readonly fills: readonly TrueRow[]
  /** Candles that end before it are closed for both. */
  readonly untilMs: number
}

export async function compareKeptCandles({ plant, key, fills, untilMs }: Asked) {
  const wrong: string[] = []
  let compared = 0
  for (const coin of busiest(fills))
    for (const interval of INTERVALS) {
      const question = { type: 'candleSnapshot', req: { coin, interval, startTime: 0 } }
      const { rows: candles, sinceMs } = await ownAnswer<Candle>(plant, key, question)
      const truth = (await plant.answerOf('exchange', question as never)) as unknown as Candle[]
      const closed = (some: readonly Candle[]) => some.filter(({ t, T }) => t > sinceMs && T < untilMs)
      const [is, should] = [closed(candles), closed(truth)].map((some) => some.map((one) => canonicalJson(one)))
      compared += should!.length
      const at = should!.findIndex((text, number) => text !== is![number])
      if (at >= 0) wrong.push(`a candle of ${coin} is ${is![at]} and should be ${should![at]}`)
      else if (is!.length > should!.length) wrong.push(`of ${coin} there are candles of ${interval} that should not be`)
    }
  if (compared < LEAST) wrong.push(`${compared} candles could be compared`)
  return { compared, wrong }
}

function busiest(fills: readonly TrueRow[]): string[] {
  const counts = new Map<string, number>()
  // Of a spot pair or an outcome there may be fills that are no trades.
  for (const { coin } of fills) if (/^\w+$/.test(coin)) counts.set(coin, (counts.get(coin) ?? 0) + 1)
  const coins = [...counts].sort(([, a], [, b]) => b - a).map(([coin]) => coin)
  return coins.slice(0, COINS)
}

/** All, and since when they are its own; never, where it does not say so. */
async function ownAnswer<Row>(plant: Plant, key: string, question: object) {
  const answer = await plant.info(key, question)
  const body = await answer.text()
  if (!answer.ok) throw new Error(`${JSON.stringify(question)}: ${answer.status} ${body}`)
  const since = answer.headers.get('x-history-from-time')
  return {
    rows: JSON.parse(body) as Row[],
    sinceMs: since === null ? Number.POSITIVE_INFINITY : Number(since),
  }
}
