// An info service over fake ports: an account with credits, a few order books, and a scripted upstream.

import type { CandleFiles } from '../../../src/archive/files/files-read.ts'
import type { FillHistory } from '../../../src/archive/funding-spans.ts'
import type { BooksArchive } from '../../../src/archive/replay/archived-books.ts'
import type { After } from '../../../src/core/deadline.ts'
import type { Failure } from '../../../src/core/failure.ts'
import { keyHashOf } from '../../../src/core/ids.ts'
import { err, ok, type Result } from '../../../src/core/result.ts'
import { InfoService, type InfoServiceDeps } from '../../../src/info/answer/info-service.ts'
import type { Books } from '../../../src/info/ports.ts'
import { CATALOGUE } from '../../../src/info/queries/catalogue.ts'
import { DexList } from '../../../src/info/sources/dex-list.ts'
import { eventHistoryOf } from '../../../src/info/sources/event-history.ts'
import { archivedBooks } from '../../../src/info/sources/historical-books.ts'
import type { Charging } from '../../../src/metering/charging.ts'
import type { WireFailure } from '../../../src/protocol/failure-wire.ts'
import type { BookSnapshot, TopOfBook } from '../../../src/protocol/hub/hub-api.ts'
import { identityOf } from '../../kit/identity.ts'

export { USER } from '../../../src/protocol/info/examples.ts'

export const IDENTITY = identityOf('entry', ['info'], 'acct', 'hash')

/** Time stands still, but rests end at once. */
const soon: After = (ms, run) => {
  if (ms === 0) queueMicrotask(run)
  return () => {}
}

/** Default upstream responses by type: the examples, and some that must be passed through unchanged. */
export const UPSTREAM_ANSWERS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(CATALOGUE.map(({ type, example }) => [type, JSON.stringify(example.response)])),
  meta: '{"universe":[{"szDecimals":5,"name":"BTC","maxLeverage":50,"marginTableId":50,"extra":1}],"marginTables":[],"collateralToken":0}',
  openOrders: '[{"coin":"BTC","side":"B","limitPx":"1.50","sz":"2.0","oid":7,"timestamp":1,"origSz":"2.0"}]',
  perpDexs: `[null,${['xyz', 'flx'].map((name) => `{"name":"${name}","fullName":"X","deployer":"0x${'de'.repeat(20)}","oracleUpdater":null,"feeRecipient":null,"assetToStreamingOiCap":[]}`).join()}]`,
}

/** Request for the list of DEXes. */
export const DEX_LIST = '{"type":"perpDexs"}'

export const BTC: BookSnapshot = {
  coin: 'BTC',
  time: 1_000,
  height: 42,
  epoch: '5a1f7a6e-7c0e-4d3b-9a3e-111111111111',
  seq: 41,
  levels:
    '[[{"px":"81307.0","sz":"0.5","n":1},{"px":"81306.0","sz":"1.5","n":2}],[{"px":"81309.0","sz":"0.25","n":1}]]',
}

const TOPS: readonly TopOfBook[] = [
  { coin: 'ETH', bidPx: '1903.9', askPx: '1904.0', lastPx: '1.0' },
  { coin: 'BTC', bidPx: '81307.0', askPx: '81309', lastPx: '1.0' },
  { coin: 'DOGE', bidPx: null, askPx: '0.1', lastPx: '0.069277' },
  { coin: 'NEW', bidPx: null, askPx: null, lastPx: null },
  { coin: '@107', bidPx: '10', askPx: '11', lastPx: null },
  { coin: '#40', bidPx: '0.5', askPx: '0.6', lastPx: null },
  { coin: 'xyz:GOLD', bidPx: '2', askPx: '2.5', lastPx: null },
]

export interface World {
  readonly service: InfoService
  now: number
  /** Balance in micro-credits. */
  balance: number
  /** Every settled price, in order. */
  readonly charged: number[]
  readonly released: number[]
  readonly asked: string[]
  readonly reported: unknown[]
  readonly work: Promise<unknown>[]
  holdFailure: Failure | null
  /** Hashes of keys without credits. */
  readonly broke: Set<string>
  /** Hash of the paying key for every settled price. */
  readonly payers: string[]
  bookFailure: Failure | null
  /** Manual clock. */
  sleep: (ms: number) => Promise<void>
  upstream: (type: string, body: string) => Promise<Result<string, Failure>> | Result<string, Failure>
  /** Lag reported by the upstream. */
  lateness: { readonly lagMs?: number }
  /** Number of reads of a hub or the log. */
  bookCalls: number
  held: FillHistory
  /** Sends one request; a string `body` is sent unchanged. */
  send(body: unknown, keyHash?: string): Promise<WireFailure>
}

/** A working world with 1,000 credits; worlds with the same stores are isolates of one gateway. */
export function createWorld({
  stores = {},
  books: otherBooks,
  archive = null,
  files = null,
  hasFlatCandles = false,
}: {
  stores?: InfoServiceDeps['stores']
  books?: Books
  archive?: BooksArchive | null
  files?: CandleFiles | null
  hasFlatCandles?: boolean
} = {}): World {
  const charging: Charging = {
    hold: async ({ keyHash }, { amount }) => {
      if (world.holdFailure) return err(world.holdFailure)
      if (world.broke.has(keyHash)) return err({ kind: 'credits_exhausted', neededMicro: amount, remainingMicro: 0 })
      if (amount > world.balance) {
        return err({ kind: 'credits_exhausted', neededMicro: amount, remainingMicro: world.balance })
      }
      world.balance -= amount
      let open = true
      const end = (list: number[], back: number) => {
        if (!open) throw new Error('a hold was ended twice')
        open = false
        list.push(amount)
        world.balance += back
        return world.balance
      }
      const settle = () => {
        world.payers.push(keyHash)
        return end(world.charged, 0)
      }
      return ok({ settle, release: () => end(world.released, amount) })
    },
  }
  const upstream = {
    request: async (type: string, body: string) => {
      world.asked.push(body)
      const answer = await world.upstream(type, body)
      return answer.ok ? ok({ text: answer.value, ...world.lateness }) : answer
    },
  }
  const now = () => world.now
  const after: After = (ms, run) => {
    void world.sleep(ms).then(run)
    return () => {}
  }
  const books = otherBooks ?? {
    snapshot: async (coin: string) => {
      world.bookCalls++
      if (world.bookFailure) return err(world.bookFailure)
      return ok(coin === BTC.coin ? BTC : null)
    },
    tops: async () => {
      world.bookCalls++
      return world.bookFailure ? err(world.bookFailure) : ok({ height: 42, tops: TOPS })
    },
  }
  const historicalBooks = archivedBooks({ archive, live: books, after: soon })
  const held = async () => {
    world.bookCalls++
    return world.bookFailure ? err(world.bookFailure) : ok(world.held)
  }
  const history = { stored: held, newest: held }
  const events = eventHistoryOf({ history, files, archive, after, hasFlatCandles })
  const service = new InfoService({
    sources: { books, historicalBooks, upstream, after, history, events, dexes: new DexList(upstream, now, after) },
    stores,
    now,
    after,
    report: (error) => world.reported.push(error),
  })
  const world: World = {
    service,
    now: 1_000_000,
    balance: 1_000_000_000,
    charged: [],
    released: [],
    asked: [],
    reported: [],
    work: [],
    holdFailure: null,
    broke: new Set(),
    payers: [],
    bookFailure: null,
    sleep: () => new Promise(() => {}),
    bookCalls: 0,
    lateness: {},
    held: { head: { height: 42, time: 1_000 }, since: { height: 40, time: 860 }, runs: [] },
    upstream: (type) => ok(UPSTREAM_ANSWERS[type]!),
    send: (body, keyHash = 'hash') =>
      service.handle(
        {
          identity: { ...IDENTITY, keyHash: keyHashOf(keyHash) },
          requestId: 'req_1',
          charging,
          waitUntil: (work) => world.work.push(work),
          recordRefusal: () => {},
        },
        typeof body === 'string' ? body : JSON.stringify(body),
      ),
  }
  return world
}
