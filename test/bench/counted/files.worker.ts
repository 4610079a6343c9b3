// A Worker with an archive, its compaction and its readers. It counts the D1 and R2 operations of each request.

import { StoredArchive } from '../../../src/archive/archive/archive.store.ts'
import { type ArchiveStorage, ArchiveWriter } from '../../../src/archive/archive/archive-writer.store.ts'
import { Compaction } from '../../../src/archive/files/compaction.store.ts'
import { StoredFiles } from '../../../src/archive/files/files.store.ts'
import { FilesWriter } from '../../../src/archive/files/files-writer.store.ts'
import { packPage } from '../../../src/archive/files/page-text.client.ts'
import { PageWriter } from '../../../src/archive/files/page-writer.ts'
import { ParquetTables } from '../../../src/archive/files/tables.client.ts'
import { CountedPlace } from './counted-place.worker.ts'
import type { PageOrder, PageRead, PartOrder, SegmentOrder, Turn } from './files-bench.ts'

// The objects that the configuration names.
export * from '../../../src/live.ts'

interface Env extends Pick<Cloudflare.Env, 'ARCHIVE' | 'HISTORY' | 'CHAIN'> {
  /** Bytes that are read for an object; empty: as it is. */
  readonly OBJECT_BYTES?: string
}

async function turn(place: ArchiveStorage, objectBytes: number | undefined): Promise<Turn> {
  const counted = new CountedPlace(place)
  const terms = { now: Date.now, isBounded: false, fillTableDays: null, objectBytes }
  const isMore = await new Compaction(new StoredArchive(place), counted.place, terms).turn()
  return { ...counted.counts, level: counted.level, isMore }
}

/** Of lines `key TAB line`, in order; answers the table of fills by user, and the bytes of the pages in a header. */
async function part(
  place: ArchiveStorage,
  { level, file, number, isLast }: PartOrder,
  text: string,
): Promise<Response> {
  const made = new PageWriter(packPage)
  const tables = new ParquetTables([])
  for (const each of text.split('\n')) {
    const at = each.indexOf('\t')
    const key = each.slice(0, at)
    const line = each.slice(at + 1)
    await made.add(key, line)
    tables.add(key, [line])
  }
  await made.flush()
  const { pages, bytes, entries } = made
  const whole = { pages, bytes, entries, candles: [] }
  await new FilesWriter(place, Date.now).putPart({
    level,
    file,
    number,
    content: whole,
    tables: [],
    next: isLast ? null : [],
  })
  return new Response((await tables.finish())[0]?.bytes ?? null, { headers: { 'x-page-bytes': String(made.bytes) } })
}

async function page(place: ArchiveStorage, order: PageOrder): Promise<PageRead> {
  const counted = new CountedPlace(place)
  const most = Number.MAX_SAFE_INTEGER
  const { blocks } = await new StoredFiles(counted.place).rows({ ...order, fromMs: 0, toMs: most, upTo: most })
  return { ...counted.counts, blocks }
}

/** The least that anybody's page costs: a question of D1 and a read of R2. */
async function bare({ bucket, db }: ArchiveStorage): Promise<null> {
  await db.batch([db.prepare('SELECT first FROM files LIMIT 1')])
  await bucket.get('nothing')
  return null
}

export default {
  async fetch(request, { ARCHIVE: bucket, HISTORY: db, CHAIN: chain, OBJECT_BYTES }) {
    const place = { chain, bucket, db }
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/segment') {
      await new ArchiveWriter(place).putSegment({ ...(await request.json<SegmentOrder>()), epoch: 'a', books: [''] })
      return Response.json(null)
    }
    if (pathname === '/part')
      return part(place, JSON.parse(searchParams.get('order')!) as PartOrder, await request.text())
    if (pathname === '/turn') return Response.json(await turn(place, OBJECT_BYTES ? Number(OBJECT_BYTES) : undefined))
    if (pathname === '/bare') return Response.json(await bare(place))
    return Response.json(await page(place, await request.json<PageOrder>()))
  },
} satisfies ExportedHandler<Env>
