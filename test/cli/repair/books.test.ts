// `npx weir repair` from a folder with a copy of another archive, against a gateway in memory: books come with the blocks.

import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkpointKey, segmentKey } from '../../../src/archive/archive/archive-keys.ts'
import { type BackfillBlock, eventsLine } from '../../../src/archive/archive/backfill-lines.ts'
import { backfillCuts, bookBreakOf } from '../../../src/archive/archive/backfill-queue.ts'
import { type BookArchive, booksAfter } from '../../../src/cli/backfill/book-join.ts'
import { repairProgram } from '../../../src/cli/repair.node.ts'
import type { HubBlock } from '../../../src/protocol/feed/log-api.ts'
import { readBackfill } from '../../kit/at-once.ts'
import { type HttpServer, startServer } from '../../kit/http-server.ts'
import { booksArchive, type Chain, COINS, chainOf, FIRST, OTHER, OWN } from '../backfill/book-chain.ts'
import { say } from '../stub.ts'

const ROOT = mkdtempSync(join(tmpdir(), 'weir-books-'))
const CHAIN = 'chain'
const GAP = { from: FIRST + 10, to: FIRST + 20 }
const END = FIRST + 31
const [chain] = fc.sample(chainOf(30), { numRuns: 1, seed: 7 }) as [Chain]
const OURS = booksArchive(chain, {
  epoch: OWN,
  checkpoints: [FIRST + 3, GAP.to + 4],
  has: (height) => height < GAP.from || height > GAP.to + 1,
})
const minutes = (height: number) => height * 60_000

interface ServedFile {
  readonly product: string
  readonly key: string
  readonly height: number
  readonly last: number
  readonly bytes: Buffer
}

/** The files of our archive, and those that repairs have added. */
const ownFiles: ServedFile[] = []
const addedFiles: ServedFile[] = []
const files = () => [...ownFiles, ...addedFiles]
const uploads: { readonly height: number; readonly sha256: string; readonly body: Buffer }[] = []
interface Batch {
  readonly blocks: readonly BackfillBlock[]
  readonly checkpoint: string | null
}
const batches: Batch[] = []
const attempts: { readonly outcome: string; readonly message: string }[] = []
/** Calls in order. */
const calls: string[] = []
/** Number of further batches that are stored; later ones are rejected. */
let accepted = Number.POSITIVE_INFINITY
let server: HttpServer

const packed = async (lines: AsyncIterable<string>) => gzipSync((await Array.fromAsync(lines)).join('\n'))

/** Copies an archive of all blocks into a folder. */
async function copied(name: string, archive: BookArchive): Promise<string> {
  const put = (key: string, bytes: Buffer) => {
    mkdirSync(dirname(join(ROOT, name, key)), { recursive: true })
    writeFileSync(join(ROOT, name, key), bytes)
  }
  for (const { first, last, lines } of archive.segments) {
    const span = { first, last, firstMs: minutes(first) }
    const heights = Array.from({ length: last - first + 1 }, (_, at) => first + at).filter((height) => height < END)
    // Large enough that a batch has few blocks.
    const events = heights.map((height) =>
      eventsLine({ height, time: minutes(height), fills: [], ledger: [], funding: [], events: ['x'.repeat(400_000)] }),
    )
    put(segmentKey(CHAIN, span, 'events'), gzipSync(events.join('\n')))
    put(segmentKey(CHAIN, span, 'books'), await packed(lines()))
  }
  for (const { height, lines } of archive.checkpoints) put(checkpointKey(CHAIN, height), await packed(lines()))
  return join(ROOT, name)
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams: query } = new URL(request.url!, 'http://gateway')
  const json = (value: object, status = 200) => void response.writeHead(status).end(JSON.stringify(value))
  const body = await buffer(request)
  if (pathname === '/admin/history/files') return json({ files: listed(query), next: null })
  if (pathname.startsWith('/file/'))
    return void response.end(files().find(({ key }) => key === pathname.slice('/file/'.length))!.bytes)
  if (request.method === 'GET')
    return json({ chain: CHAIN, from: null, before: END_POSITION, gaps: gaps(), next: null, now_ms: Date.now() })
  calls.push(pathname)
  if (pathname === '/admin/history/attempts') {
    attempts.push(JSON.parse(body.toString()))
    return json({ recorded: true })
  }
  if (pathname === '/admin/history/checkpoints') {
    const sha256 = createHash('sha256').update(body).digest('hex')
    expect([query.get('sha256'), Number(query.get('bytes'))]).toEqual([sha256, body.length])
    uploads.push({ height: Number(query.get('height')), sha256, body })
    return json({ stored: true })
  }
  const text = gunzipSync(body).toString()
  const read = readBackfill(text)
  if (!read.ok) return json({ error: true, error_message: JSON.stringify(read.error) }, 400)
  if (accepted-- <= 0) return json({ error: true, error_message: 'killed' }, 409)
  const has = new Set(sent().map(({ height }) => height))
  const blocks = read.value.filter(({ height }) => isMissing(height) && !has.has(height))
  const batch = { blocks, checkpoint: query.get('checkpoint') }
  batches.push(batch)
  if (blocks.length > 0) addFiles(batch)
  json({ blocks: blocks.length, segments: 1, bytes: 1, next: null })
}

function addFiles({ blocks, checkpoint }: Batch): void {
  const { height } = blocks[0]!
  const last = blocks.at(-1)!.height
  const bytes = gzipSync(blocks.map(({ books }) => books).join('\n'))
  addedFiles.push({ product: 'books', key: `r${height}.gz`, height, last, bytes })
  const upload = uploads.find(({ sha256 }) => sha256 === checkpoint)
  if (!upload) return
  const key = `c${upload.height}.gz`
  addedFiles.push({ product: 'checkpoints', key, height: upload.height, last: upload.height, bytes: upload.body })
}

const END_POSITION = { height: END, time: minutes(END - 1) }
const sent = () => batches.flatMap(({ blocks }) => blocks)
const isMissing = (height: number) => height >= GAP.from && height <= GAP.to

function gaps(): object[] {
  const from = Math.max(GAP.from, ...sent().map(({ height }) => height + 1))
  const times = { after_ms: minutes(from - 1), before_ms: minutes(GAP.to + 1), recorded_ms: 1, beyond_ms: null }
  return from > GAP.to ? [] : [{ from, to: GAP.to, ...times, attempts: [] }]
}

function listed(query: URLSearchParams): object[] {
  const products = query.get('products')!.split(',')
  const from = Number(query.get('from'))
  const to = Number(query.get('to'))
  return files()
    .filter(({ product, height }) => products.includes(product) && minutes(height) >= from && minutes(height) <= to)
    .map(({ product, key, height, last, bytes }) => {
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      return { product, key, from_height: height, to_height: last, sha256, link: `/file/${key}` }
    })
}

beforeAll(async () => {
  for (const { first, last, lines } of OURS.segments)
    ownFiles.push({ product: 'books', key: `${first}.gz`, height: first, last, bytes: await packed(lines()) })
  for (const { height, lines } of OURS.checkpoints)
    ownFiles.push({ product: 'checkpoints', key: `c${height}.gz`, height, last: height, bytes: await packed(lines()) })
  server = await startServer((request, response) => void answer(request, response))
})
afterAll(() => {
  server.close()
  rmSync(ROOT, { recursive: true })
})
beforeEach(() => {
  for (const list of [uploads, batches, attempts, calls, addedFiles]) list.length = 0
  accepted = Number.POSITIVE_INFINITY
})

const repair = (folder: string) =>
  say(
    (shell) => repairProgram(shell, new AbortController().signal),
    ['--url', server.url, '--once', '--min-age', '0', `other=${folder}`],
    { ADMIN_TOKEN: 'T' },
  )

describe('a copy of another archive', () => {
  const other = () => booksArchive(chain, { epoch: OTHER, checkpoints: [FIRST + 1, FIRST + 16] })

  it('provides the books of each height, with checkpoints that arrive before the blocks', async () => {
    const said = await repair(await copied('good', other()))
    expect(said.notes.join('\n')).toMatch(/Books of the gap 110 to 120 are known\..* before and after the gap\./)
    expect([...said.out, ...said.notes]).toContain('Repaired 11 blocks. Gaps: 0 open, 0 beyond repair.')
    expect(sent().map(({ height, epoch }) => [height, epoch])).toEqual(
      Array.from({ length: 11 }, (_, at) => [GAP.from + at, OWN]),
    )
    const around = [{ first: FIRST, last: GAP.from - 1, firstMs: 0, lastMs: 0, epoch: OWN }]
    expect(bookBreakOf(backfillCuts(sent(), around, END), around)).toBeNull()
    const { books } = (await booksAfter(OURS, GAP.from - 1))!
    for (const { books: line, height } of sent()) {
      books.apply(JSON.parse(line) as HubBlock)
      const truth = (await booksAfter(other(), height))!.books
      for (const coin of COINS) expect(books.bookOf(coin)?.levels()).toEqual(truth.bookOf(coin)?.levels())
    }
    const named = batches.flatMap(({ blocks, checkpoint }) => (checkpoint ? [[blocks.at(-1)!.height, checkpoint]] : []))
    expect(named).toEqual(uploads.map(({ height, sha256 }) => [height, sha256]))
    expect(named.length).toBeGreaterThan(0)
    expect(calls.indexOf('/admin/history/checkpoints')).toBeLessThan(calls.lastIndexOf('/admin/history/backfill'))
  })

  it('is continued after a kill between a checkpoint and its blocks, with the same bytes', async () => {
    const folder = await copied('killed', other())
    await repair(folder)
    const checkpoints = [...uploads]
    const blocks = sent()
    batches.length = uploads.length = addedFiles.length = 0
    accepted = 1
    for (let tries = 0; gaps().length > 0 && tries < 20; tries++) {
      await repair(folder)
      accepted = 1
    }
    expect(sent()).toEqual(blocks)
    const once = new Map(uploads.map(({ height, sha256 }) => [height, sha256]))
    expect(uploads.every(({ height, sha256 }) => once.get(height) === sha256)).toBe(true)
    for (const { height, sha256 } of checkpoints) expect([undefined, sha256]).toContain(once.get(height))
  })

  it('is refused if one level differs, and nothing is stored', async () => {
    const alter = (block: HubBlock): HubBlock =>
      block.height === FIRST + 12
        ? {
            ...block,
            books: [
              ...block.books!.filter(({ coin }) => coin !== 'ETH'),
              { coin: 'ETH', levels: [[], [{ px: '50.5', sz: '1.0', n: 1 }]] },
            ],
          }
        : block
    await repair(await copied('lying', booksArchive(chain, { epoch: OTHER, checkpoints: [FIRST + 1], alter })))
    expect(sent()).toEqual([])
    expect(attempts).toMatchObject([
      {
        source: 'other',
        outcome: 'refused',
        message: expect.stringMatching(/its book of ETH after block 124 differs/),
      },
    ])
  })

  it('without books before the gap provides the events, and books stay unknown', async () => {
    const said = await repair(await copied('late', booksArchive(chain, { epoch: OTHER, checkpoints: [FIRST + 12] })))
    expect(said.notes.join('\n')).toMatch(/Books of the gap 110 to 120 stay unknown: it does not have the books/)
    expect(sent().map(({ epoch }) => epoch)).toEqual(Array(11).fill(null))
    expect(uploads).toEqual([])
  })

  it('that is damaged is read again later', async () => {
    const folder = await copied('damaged', other())
    writeFileSync(join(folder, checkpointKey(CHAIN, FIRST + 1)), 'x')
    await repair(folder)
    expect(sent()).toEqual([])
    expect(attempts).toMatchObject([{ outcome: 'failed', message: expect.stringMatching(/Copy the archive again/) }])
  })
})
