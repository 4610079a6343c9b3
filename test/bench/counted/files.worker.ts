// An archive of invented fills, its compaction and its reading, in one Worker: what each question asked of D1 and R2 is counted.

import type { UserFill } from '../../../src/feed/block.ts'
import { StoredArchive } from '../../../src/history/archive/archive.store.ts'
import { type ArchivePlace, ArchiveWriter } from '../../../src/history/archive/archive-writer.store.ts'
import { Compaction } from '../../../src/history/files/compaction.ts'
import { StoredFiles } from '../../../src/history/files/files.store.ts'
import { FilesWriter } from '../../../src/history/files/files-writer.store.ts'
import { packPage, unpackPage } from '../../../src/history/files/page-text.client.ts'
import { ParquetTables } from '../../../src/history/files/tables.client.ts'
import type { FilesInvention, FilesRead } from './files-bench.ts'

// The objects that the configuration names.
export * from '../../../src/live.ts'

type Env = Pick<Cloudflare.Env, 'ARCHIVE' | 'HISTORY'>

/** Blocks of a minute. */
const BLOCKS = 870
const MINUTE_MS = 60_000
const COINS = ['BTC', 'ETH', 'SOL', 'HYPE', ...Array.from({ length: 200 }, (_, at) => `COIN${at}`)]
const CHAIN = 'bench'

const placeOf = ({ ARCHIVE: bucket, HISTORY: db }: Env): ArchivePlace => ({ chain: CHAIN, bucket, db })

/** A fill as the exchange writes them, of a tid's own. */
function invented(
  tid: number,
  time: number,
  { users, heavy, quiet, builder }: FilesInvention,
  quietTid: boolean,
): UserFill {
  const random = (salt: number) => Math.abs(Math.imul(tid ^ (salt * 0x9e3779b1), 2654435761)) / 2 ** 31
  const user = quietTid ? quiet : tid % 7 === 0 ? heavy : addressOf(Math.floor(random(1) ** 3 * users))
  const hash = `0x${[2, 3, 4, 5, 6, 7, 8, 9]
    .map((salt) =>
      Math.floor(random(salt) * 2 ** 32)
        .toString(16)
        .padStart(8, '0'),
    )
    .join('')}`
  const px = (random(10) * 90_000 + 10_000).toFixed(1)
  const sides = {
    side: tid % 2 === 0 ? ('B' as const) : ('A' as const),
    dir: tid % 2 === 0 ? 'Open Long' : 'Close Long',
  }
  const amounts = { px, sz: (random(11) * 3).toFixed(5), startPosition: (random(12) * 100).toFixed(5) }
  const closed = { closedPnl: (random(13) * 10).toFixed(6), fee: (random(14) / 10).toFixed(6), feeToken: 'USDC' }
  const coin = COINS[Math.floor(random(15) ** 4 * COINS.length)]!
  const through = tid % 10 === 0 ? { builder, builderFee: '0.01' } : {}
  const place = { hash, oid: 1e11 + tid, crossed: tid % 2 === 0, tid }
  return [user, { coin, ...amounts, ...sides, time, ...closed, ...place, ...through }]
}

const addressOf = (number: number) => `0x${(number + 1).toString(16).padStart(40, '0')}`

/** A minute into the archive. */
async function archive(place: ArchivePlace, invention: FilesInvention): Promise<void> {
  const { minute, segment, fills } = invention
  const first = segment * BLOCKS
  let tid = segment * fills
  const events = Array.from({ length: BLOCKS }, (_, at) => {
    const time = minute * MINUTE_MS + Math.floor((at * MINUTE_MS) / BLOCKS)
    const count = Math.floor(((at + 1) * fills) / BLOCKS) - Math.floor((at * fills) / BLOCKS)
    const own = Array.from({ length: count }, (_, of) =>
      invented(tid++, time, invention, invention.isQuietThere && at === 0 && of === 0),
    )
    return JSON.stringify({ epoch: 'a', v: 1, t: 'events', height: first + at, time, fills: own, ledger: [] })
  })
  const times = { firstMs: minute * MINUTE_MS, lastMs: minute * MINUTE_MS + MINUTE_MS - 1 }
  await new ArchiveWriter(place).segment({ first, last: first + BLOCKS - 1, ...times, epoch: 'a', events, books: [''] })
}

async function read(place: ArchivePlace, address: string): Promise<FilesRead> {
  const counted = { questions: 0, rowsRead: 0, gets: 0, bytes: 0 }
  const { bucket, db } = place
  const get = async (key: string, options: R2GetOptions) => {
    counted.gets++
    const { length = 0 } = options.range as { length?: number }
    counted.bytes += length
    return bucket.get(key, options)
  }
  const batch = async (statements: D1PreparedStatement[]) => {
    const results = await db.batch(statements)
    counted.questions++
    for (const { meta } of results) counted.rowsRead += meta.rows_read
    return results
  }
  const files = new StoredFiles({
    chain: CHAIN,
    bucket: { ...bucket, get } as ArchivePlace['bucket'],
    db: { prepare: db.prepare.bind(db), batch } as ArchivePlace['db'],
  })
  const most = Number.MAX_SAFE_INTEGER
  const of = { kind: 'fills', scope: { by: 'user', address }, order: 'newest', limit: 2_000 } as const
  const { blocks } = await files.rows({ ...of, fromMs: 0, toMs: most, upTo: most })
  return { ...counted, rows: blocks.reduce((sum, { fills }) => sum + fills.length, 0) }
}

/** The least that anybody's page costs: a question of D1 and a read of R2. */
async function bare({ bucket, db }: ArchivePlace): Promise<FilesRead> {
  await db.batch([db.prepare('SELECT first FROM files LIMIT 1')])
  await bucket.get('nothing')
  return { questions: 1, rowsRead: 1, gets: 1, bytes: 0, rows: 0 }
}

export default {
  async fetch(request, env) {
    const place = placeOf(env)
    const { pathname } = new URL(request.url)
    if (pathname === '/archive') {
      await archive(place, await request.json<FilesInvention>())
      return Response.json(null)
    }
    if (pathname === '/turn') {
      const writer = new FilesWriter(place, { now: Date.now, isBounded: false })
      const tables = () => new ParquetTables()
      const ports = { archive: new StoredArchive(place), writer, tables, pack: packPage, unpack: unpackPage }
      return Response.json(await new Compaction(ports).turn())
    }
    if (pathname === '/bare') return Response.json(await bare(place))
    return Response.json(await read(place, pathname.slice(1)))
  },
} satisfies ExportedHandler<Env>
