// Checks the archive from outside: replayed fills and books against the exchange's, and historical books and candles
// against recorded ones.

import { setTimeout as sleep } from 'node:timers/promises'
import { nodeRuntime } from '../../src/client/node-runtime.node.ts'
import { type ReplayListener, ReplaySession, replayBooks } from '../../src/client/replay-session.ts'
import type { Prng } from '../../src/devnet/exchange/prng.ts'
import type { Levels } from '../../src/protocol/feed/block.ts'
import { hashOf } from '../kit/book-hash.ts'
import { until } from '../kit/until.ts'
import { compareAccounts, compareKeptCandles, type PastSource } from './past-accounts.node.ts'
import type { Plant } from './plant.node.ts'
import { rowsOfFrame, type TrueRow, wrongOf } from './rows.ts'

const BOOKS = 200
/** Of a question that is answered with 503 and `retry with backoff`. */
const TRIES = 5
const RETRY_MS = 2_000
/** Of block time, at most. */
const PLAYED_MS = 600_000
const ARCHIVED_WITHIN_MS = 150_000
const PLAYED_WITHIN_MS = 300_000
/** One that changes with nearly every block. */
const COIN = 'BTC'

/** Books of the exchange by coin, as hashes, after a block. */
export interface Truth {
  readonly height: number
  readonly books: Readonly<Record<string, string>>
  /** When it was taken: of a block that is not newer. */
  readonly atMs: number
}

export interface Past {
  readonly rows: number
  readonly books: number
  /** Books of which is said that they are not known, because others began anew behind them. */
  readonly unknown: number
  readonly candles: number
  /** Of some wallets: fills, balance movements, payments of funding and completed trades. */
  readonly accounts: Readonly<Record<'fills' | 'ledger' | 'payments' | 'trades', number>>
  readonly wrong: readonly string[]
  /** Times as fast as it was. */
  readonly speed: { readonly fills: number; readonly books: number }
}

interface PastOrder {
  readonly plant: PastSource
  readonly key: string
  /** Some that were taken while all went on, in order: those that the archive reaches count. */
  readonly truths: readonly Truth[]
  readonly fills: readonly TrueRow[]
  readonly chance: Prng
  /** Whether the books of a height may be unknown for this reason. */
  readonly mayLackBooks: (height: number, reason: string) => boolean
  /** Whether a replay may report these blocks as missing; without `to`, that books are unknown from there. */
  readonly mayMiss: (from: number, to?: number) => boolean
}

/** `reaches`: the archive is waited for until it has come so far. */
export async function lookAtPast({
  reaches,
  ...given
}: PastOrder & { readonly plant: Plant; readonly reaches: number }): Promise<Past> {
  const { plant, fills } = given
  // All that the exchange did has come by now.
  const quietMs = Date.now()
  let archived = -1
  const isArchived = async () => {
    const { archive } = ((await plant.now()) ?? {}) as { archive?: { height: number | null } | null }
    archived = archive?.height ?? -1
    return archived >= reaches
  }
  await until(isArchived, `block ${reaches} is not archived`, { withinMs: ARCHIVED_WITHIN_MS })
  const truths = given.truths.filter(({ height }) => height <= archived)
  const order = { ...given, truths }
  const last = truths.at(-1)
  const newest = fills.at(-1)
  if (!last || !newest) throw new Error('no books of the exchange were taken, or no fills')
  const asked = await askedBooks(order)
  // What was before the first of them the archive may not have.
  const fromTime = Math.max(truths[0]!.atMs, newest.timeMs - PLAYED_MS)
  const candles = await compareKeptCandles({ ...order, fromMs: fromTime, untilMs: quietMs })
  const { wrong, ...accounts } = await compareAccounts({ ...order, fromMs: fromTime, untilMs: last.atMs })
  // How fast the archive plays is no matter of how busy the exchange keeps the machine.
  await plant.stopNode()
  const ofFills = await playFills(order, fromTime, last)
  const ofBooks = await playBooks(order, fromTime, last)
  return {
    rows: ofFills.rows,
    books: asked.compared,
    unknown: asked.unknown,
    candles: candles.compared,
    accounts,
    wrong: [...asked.wrong, ...ofFills.wrong, ...ofBooks.wrong, ...candles.wrong, ...wrong],
    speed: { fills: ofFills.speed, books: ofBooks.speed },
  }
}

export async function askedBooks({
  plant,
  key,
  truths,
  chance,
  mayLackBooks,
  least = BOOKS / 2,
}: Pick<PastOrder, 'plant' | 'key' | 'truths' | 'chance' | 'mayLackBooks'> & { readonly least?: number }) {
  const wrong: string[] = []
  let compared = 0
  let unknown = 0
  const ask = async (question: never, tries = TRIES): Promise<unknown> => {
    const answer = await plant.answerOf('gateway', question, key).catch((error: Error) => error.message)
    if (typeof answer !== 'string' || !answer.includes(': 503 ') || tries <= 1) return answer
    await sleep(RETRY_MS)
    return ask(question, tries - 1)
  }
  for (let at = 0; at < BOOKS; at++) {
    const { height, books } = truths[chance.below(truths.length)]!
    const coins = Object.keys(books)
    const coin = coins[chance.below(coins.length)]!
    const question = { type: 'l2BookDiffSnapshot', coin, block_height: height } as never
    const answer = await ask(question)
    if (typeof answer === 'string') {
      // Of before the first checkpoint no book can be known, nor between two epochs.
      if (mayLackBooks(height, answer)) unknown++
      else if (!answer.includes('starts later')) wrong.push(`${coin} at ${height}: ${answer}`)
      continue
    }
    compared++
    const is = answer as unknown as { height: number; levels: Levels }
    if (is.height !== height || hashOf(is.levels) !== books[coin]) wrong.push(`${coin} at ${height} differs`)
  }
  if (compared < least) wrong.push(`${compared} of ${BOOKS} books of the past could be compared`)
  return { compared, unknown, wrong }
}

export async function playFills(
  { plant, key, fills, mayMiss }: Pick<PastOrder, 'plant' | 'key' | 'fills' | 'mayMiss'>,
  fromTime: number,
  { height }: Pick<Truth, 'height'>,
) {
  const ids: number[] = []
  const body = { type: 'allFills' }
  const endpoint = { url: plant.url, key }
  const range = { fromTime, toBlock: height, speed: 'max' as const }
  let lastMs = fromTime
  const { wrong, ms } = await toItsEnd(
    mayMiss,
    (more) =>
      new ReplaySession(nodeRuntime(), endpoint, body, range, {
        ...more,
        frame: (frame) => {
          for (const { id, timeMs } of rowsOfFrame(body, frame as never)) {
            ids.push(id)
            lastMs = timeMs
          }
        },
      }),
  )
  const found = wrongOf({ sureMs: fromTime, ids, isOpen: false }, fills)
  if (found !== null) wrong.push(`fills that are played: ${found}`)
  return { rows: ids.length, wrong, speed: (lastMs - fromTime) / ms }
}

async function playBooks({ plant, key, mayMiss }: PastOrder, fromTime: number, { height, books }: Truth) {
  const range = { fromTime, toBlock: height, speed: 'max' as const }
  let lastMs = fromTime
  let levels: (() => Levels) | null = null
  const { wrong, ms } = await toItsEnd(mayMiss, (more) =>
    replayBooks(nodeRuntime(), { url: plant.url, key }, [COIN], range, {
      ...more,
      changed: (book) => {
        lastMs = book.time
        levels = () => book.levels()
      },
    }),
  )
  // To hash each would be what takes the time.
  if (levels === null || hashOf((levels as () => Levels)()) !== books[COIN])
    wrong.push(`the book of ${COIN} that is played to block ${height} differs`)
  return { wrong, speed: (lastMs - fromTime) / ms }
}

async function toItsEnd(
  mayMiss: PastOrder['mayMiss'],
  play: (more: Omit<ReplayListener, 'frame'>) => ReplaySession,
): Promise<{ wrong: string[]; ms: number }> {
  const wrong: string[] = []
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const beganMs = performance.now()
  const played = play({
    missing: (from, to) => {
      if (!mayMiss(from, to))
        wrong.push(`of what is played blocks from ${from} to ${to ?? 'some later one'} are missing`)
    },
    ended: resolve,
  })
  const timer = setTimeout(() => played.close(), PLAYED_WITHIN_MS)
  const reason = await promise
  clearTimeout(timer)
  if (reason !== null) wrong.push(`what is played ended: ${reason}`)
  return { wrong, ms: performance.now() - beganMs }
}
