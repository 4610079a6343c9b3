// Everybody's books at exactly one height to come, against the exchange's own.

import { setTimeout as sleep } from 'node:timers/promises'
import { listedCoins } from '../../src/client/subscription.ts'
import { hashOf } from '../kit/book-hash.ts'
import { until } from '../kit/until.ts'
import type { Crew } from './crew.node.ts'
import type { Keyed } from './ledger.node.ts'
import type { Plant } from './plant.node.ts'
import type { Comparison } from './table.ts'

/** Heights ahead of the log at which books are compared, and how far it must be beyond before they are. */
const AHEAD = 200
const MOST_AHEAD = 20_000
const REFUSED_WITHIN_MS = 2_000
export const BEYOND = 40
const SETTLE_MS = 8_000
export const COMPARE_WITHIN_MS = 120_000
/** Of a listed market in which nobody trades: the exchange tells of none. */
const NO_ORDERS = hashOf([[], []])

interface Compared {
  readonly plant: Plant
  readonly crew: Crew
  readonly clients: readonly Keyed[]
  /** All that there are. */
  readonly coins: readonly string[]
  /** Those that wildcards are looked at for; null for all. */
  readonly some: readonly string[] | null
}

/** Catches the books at that height, and compares them. */
export async function compareBooks({ plant, crew, clients, coins, some }: Compared): Promise<Comparison> {
  const { height, truth } = await heightToCome(plant, Number((await plant.now())?.height ?? 0))
  await crew.call('capture', height)
  const known = await truth
  if (known === null) throw new Error(`the exchange does not tell of height ${height}`)
  const isBeyond = async () => Number((await plant.now())?.height) > height + BEYOND
  await until(isBeyond, `the log does not come to height ${height}`, { withinMs: COMPARE_WITHIN_MS })
  await sleep(SETTLE_MS)
  const captured = await crew.call('captured', some)
  const books = Object.entries(captured).flatMap(([client, hashes]) =>
    Object.entries(hashes).map(([coin, hash]) => ({ client, coin, hash })),
  )
  const wrong = books.filter(({ coin, hash }) => (known.books[coin] ?? NO_ORDERS) !== hash)
  const whole = ({ number, bodies: [body] }: Keyed) =>
    (listedCoins(body!) ?? some ?? coins).every((coin) => captured[number]![coin] !== undefined)
  const asked = clients.filter(({ number }) => captured[number] !== undefined)
  return {
    height,
    clients: asked.length,
    books: books.length,
    wrong: wrong.map(({ client, coin }) => `client ${client} ${coin}`),
    absent: asked.filter((client) => !whole(client)).length,
  }
}

/** One that the exchange, which may be far ahead of the log, has not reached, and its answer in time. */
async function heightToCome(
  plant: Plant,
  last: number,
): Promise<{ readonly height: number; readonly truth: ReturnType<Plant['truth']> }> {
  for (let height = last + AHEAD; height < last + MOST_AHEAD; height += 2 * AHEAD) {
    const truth = plant.truth(height)
    if ((await Promise.race([truth, sleep(REFUSED_WITHIN_MS, 'waits')])) !== null) return { height, truth }
  }
  throw new Error(`the exchange is more than ${MOST_AHEAD} heights ahead of the log`)
}
