// The whole command against stand-ins on this machine: the gateway that is filled, a bucket that is a folder, another gateway.

import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fillsLine } from '../../../src/archive/archive/backfill-lines.ts'
import { progressMeter } from '../../../src/cli/backfill/progress-meter.node.ts'
import { backfillProgram } from '../../../src/cli/backfill.node.ts'
import { readBackfill } from '../../kit/at-once.ts'
import { type HttpServer, startServer } from '../../kit/http-server.ts'
import { say } from '../stub.ts'

const ROOT = mkdtempSync(join(tmpdir(), 'weir-backfill-'))
const DAY = Date.UTC(2026, 10, 1)
const BEFORE = { height: 1_000, time: Date.UTC(2026, 10, 3) }
const AWS = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret' }
/** `lz4` of an hour with no line in it: its head, no block, and the sum of nothing. */
const EMPTY_LZ4 = Buffer.from('BCJNGGRApwAAAAAFXcwC', 'base64')

const taken: number[] = []
const asked: string[] = []
/** Who pays, and region and service of the signature. */
const signatures = new Set<string>()
let before: typeof BEFORE | null = BEFORE
let refusals: number[] = []
let server: HttpServer
let url = ''

const nodeLine = (height: number) => {
  const at = new Date(DAY + height * 60_000).toISOString().slice(0, -1)
  return `${JSON.stringify({ local_time: at, block_time: at, block_number: height, events: [] })}\n`
}
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)

function put(path: string, bytes: string | Uint8Array): void {
  mkdirSync(join(ROOT, path, '..'), { recursive: true })
  writeFileSync(join(ROOT, path), bytes)
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>))
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url!, url)
  asked.push(`${request.method} ${pathname}`)
  const json = (value: object, status = 200) => void response.writeHead(status).end(JSON.stringify(value))
  if (pathname.startsWith('/bucket/')) {
    const { authorization, 'x-amz-request-payer': payer } = request.headers
    signatures.add(`${payer} ${authorization?.split('/').slice(2, 5).join('/').split(',')[0]}`)
    return bucket(pathname.slice('/bucket/'.length), searchParams, response)
  }
  if (pathname === '/v1/chain/history/files') return json(links(searchParams))
  if (pathname.startsWith('/linked/')) return void response.end(readFileSync(join(ROOT, pathname.slice(8))))
  if (request.method === 'GET') return json({ chain: 'chain', from: before, before, gaps: [], next: null, now_ms: DAY })
  const status = refusals.shift()
  if (status !== undefined) return json({ error: true, error_message: 'line 1.height: is wrong' }, status)
  const blocks = readBackfill(gunzipSync(await bodyOf(request)).toString())
  if (!blocks.ok) throw new Error(blocks.error.message)
  const fresh = blocks.value.map(({ height }) => height).filter((height) => !taken.includes(height))
  taken.push(...fresh)
  json({ blocks: fresh.length, segments: 1, bytes: 2_000_000, next: null })
}

function bucket(key: string, query: URLSearchParams, response: ServerResponse): void {
  if (key !== '') return void response.end(readFileSync(join(ROOT, decodeURIComponent(key))))
  const keys = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(ROOT, name)).isFile(),
  )
  const below = keys.filter((name) => name.startsWith(query.get('prefix') ?? '')).sort()
  const at = Number(query.get('continuation-token') ?? 0)
  const contents = below
    .slice(at, at + 2)
    .map((name) => `<Contents><Key>${name}</Key><Size>${statSync(join(ROOT, name)).size}</Size></Contents>`)
  const next = at + 2 < below.length ? `<NextContinuationToken>${at + 2}</NextContinuationToken>` : ''
  response.end(`<ListBucketResult>${next}${contents.join('')}</ListBucketResult>`)
}

function links(query: URLSearchParams): object {
  const isLast = query.get('after') !== null || Number(query.get('from')) !== DAY
  const names = [ARCHIVED[isLast ? 1 : 0]!].filter(() => Number(query.get('from')) === DAY)
  const files = names.map((key) => {
    const bytes = readFileSync(join(ROOT, 'a', key))
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    return {
      key,
      bytes: bytes.length,
      sha256: key === forged ? sha256.replaceAll(/\d/g, '0') : sha256,
      from_height: 300,
      to_height: 301,
      from_ms: DAY,
      link: `/linked/a/${key}`,
    }
  })
  return { data: { files, credits: '0.5', next: isLast ? null : 'more' } }
}
let forged = ''

const ARCHIVED = [
  'archive/chain/2026-11-01/000000000300-000000000301.events.gz',
  'archive/chain/2026-11-01/000000000302-000000000303.events.gz',
]

beforeAll(async () => {
  put('n/node_fills_by_block/hourly/20261101/0', range(0, 59).map(nodeLine).join(''))
  put('n/node_fills_by_block/hourly/20261101/1', range(60, 90).map(nodeLine).join(''))
  put('n/node_fills_by_block/hourly/20261101/2.lz4', EMPTY_LZ4)
  put('n/node_raw_book_diffs_by_block/hourly/20261101/0', 'never read')
  put('cut/20261101/0', range(0, 9).map(nodeLine).join('').slice(0, -30))
  put('cut/20261101/1.lz4', EMPTY_LZ4.subarray(0, 9))
  put('plain/node_fills/hourly/20261101/0', '[]')
  for (const [at, name] of ARCHIVED.entries()) {
    const lines = [300, 301].map((height) => fillsLine({ height: height + 2 * at, time: DAY + height, fills: [] }))
    put(`a/${name}`, gzipSync(lines.join('\n')))
  }
  server = await startServer((request, response) => void answer(request, response))
  url = server.url
})
afterAll(() => {
  server.close()
  rmSync(ROOT, { recursive: true })
})
beforeEach(() => {
  for (const list of [taken, asked, refusals]) list.length = 0
  before = BEFORE
  forged = ''
})

const run = (line: string, env: Record<string, string> = {}) =>
  say((shell) => backfillProgram(shell, progressMeter()), ['--url', url, ...line.split(' ')], {
    ADMIN_TOKEN: 'T',
    AWS_ENDPOINT_URL: url,
    ...env,
  })

describe('a folder', () => {
  it('of a node is sent within the window', async () => {
    const said = await run(`--from 10 --to 2026-11-01T01:10Z ${ROOT}/n`)
    expect(said).toEqual({
      out: [expect.stringMatching(/\b61 new blocks in 1 segments \(2\.0 MB\), up to block 70 of 2026-11-01T01:10/)],
      notes: [],
      failed: false,
    })
    expect(taken).toEqual(range(10, 70))
    expect((await run(`--from 10 --to 70 ${ROOT}/n`)).out[0]).toMatch(/\b0 new blocks/)
  })

  it('of an archive is sent', async () => {
    expect(await run(`--from 2026-11-01 ${ROOT}/a`)).toMatchObject({ failed: false })
    expect(taken).toEqual([300, 301, 302, 303])
  })

  it('with truncated files is sent up to their ends, and the run fails', async () => {
    const { out, notes, failed } = await run(`--from 0 ${ROOT}/cut`)
    expect([taken, failed]).toEqual([range(0, 8), true])
    expect(out[0]).toMatch(/\b9 new blocks/)
    expect(notes).toEqual([
      expect.stringMatching(/cut\/20261101\/0 .* line 10\b/),
      expect.stringMatching(/cut\/20261101\/1\.lz4 is truncated/),
      expect.stringMatching(/^2 lines or files/),
    ])
  })

  it('is continued after the gateway was unreachable', async () => {
    refusals = [503]
    const { notes, failed } = await run(`--from 80 ${ROOT}/n`)
    expect([taken, failed]).toEqual([range(80, 90), false])
    expect(notes).toEqual([expect.stringMatching(/ 1 s\.$/)])
  })

  it.each([
    [`--from 9 --to 8 n`, /^--to is before --from/],
    [`--from 2026-11-02 --to 2026-11-01 n`, /^--to is before --from/],
    [`--from 1000 n`, /^--from .* block 999 of 2026-11-03T00:00:00\.000Z/],
    [`--from 2026-11-04 n`, /^--from must not be after/],
    [`--from 0 nowhere`, /nowhere does not exist/],
    [`--from 0 n/node_fills_by_block/hourly/20261101/0`, /is a file/],
    [`--from 0 plain`, /holds node_fills, .*node_fills_by_block/],
  ])('%s is rejected with a fix', async (line, message) => {
    const { out, notes, failed } = await run(line.replace(/(\S+)$/, `${ROOT}/$1`))
    expect([out, notes, failed]).toEqual([[], [expect.stringMatching(message)], true])
    expect(taken).toEqual([])
  })

  it.each([
    ['--to 5 x', /required option '--from <block>'/],
    ['--from yesterday x', /must be a block height/],
    ['--from -1 x', /must be a block height/],
    ['--from 5', /missing required argument 'source'/],
  ])('%s is rejected', async (line, message) => {
    const { notes, failed } = await run(line)
    expect([notes.join(''), failed]).toEqual([expect.stringMatching(message), true])
    expect(asked).toEqual([])
  })

  it('is not read if the gateway has archived nothing or rejects the request', async () => {
    before = null
    expect((await run(`--from 0 ${ROOT}/n`)).notes[0]).toMatch(/not archived any block/)
    before = BEFORE
    refusals = [400]
    const { notes, failed } = await run(`--from 0 ${ROOT}/n`)
    expect([notes, failed]).toEqual([['line 1.height: is wrong (Blocks 0 to 90.)'], true])
  })
})

describe('a bucket', () => {
  const SOURCE = 's3://bucket/n/node_fills_by_block'

  it('shows its cost before anything is fetched', async () => {
    const { notes, failed } = await run(`--from 2026-11-01T00:30Z ${SOURCE}`, AWS)
    expect([notes, failed]).toEqual([[expect.stringMatching(/^3 files, 0\.00 GiB: .*--yes/)], true])
    expect(asked.filter((one) => one !== 'GET /bucket/')).toEqual(['GET /admin/history/backfill'])
  })

  it('is fetched with --yes', async () => {
    const { notes, failed } = await run(`--from 2026-11-01T00:30Z --yes ${SOURCE}`, AWS)
    expect([notes, failed]).toEqual([[expect.stringMatching(/^3 files, .*AWS/)], false])
    expect(taken).toEqual(range(30, 90))
    expect([...signatures]).toEqual(['requester ap-northeast-1/s3/aws4_request'])
  })

  it.each([
    ['s3://bucket', {}, /AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/],
    ['s3://B/x', AWS, /s3:\/\/BUCKET\/PREFIX/],
    ['s3://bucket/empty', AWS, /holds no blocks/],
    ['ftp://bucket/empty', AWS, /not a valid source/],
  ])('%s is rejected with a fix', async (source, env, message) => {
    const { notes, failed } = await run(`--from 2026-11-01 --yes ${source}`, env)
    expect([notes, failed]).toEqual([[expect.stringMatching(message)], true])
  })

  it('has no heights in its names', async () => {
    expect((await run(`--from 5 --yes ${SOURCE}`, AWS)).notes[0]).toMatch(/--from as a time/)
  })
})

describe('a different gateway', () => {
  it('is read by its links, page by page and day by day', async () => {
    const { out, notes, failed } = await run(`--from 2026-11-01 ${url}`, { WEIR_KEY: 'K' })
    expect([taken, failed]).toEqual([[300, 301, 302, 303], false])
    expect(out[0]).toMatch(/\b4 new blocks/)
    expect(notes).toEqual([expect.stringMatching(/\b2 credits/)])
  })

  it('is rejected if a file differs from the listing', async () => {
    forged = ARCHIVED[0]!
    const { notes, failed } = await run(`--from 2026-11-01 ${url}`, { WEIR_KEY: 'K' })
    expect([taken, failed]).toEqual([[302, 303], true])
    expect(notes[0]).toMatch(/SHA-256/)
  })

  it.each([
    ['--from 2026-11-01', {}, /WEIR_KEY/],
    ['--from 5', { WEIR_KEY: 'K' }, /--from as a time/],
  ])('%s is rejected with a fix', async (line, env, message) => {
    const { notes, failed } = await run(`${line} ${url}`, env as Record<string, string>)
    expect([notes, failed]).toEqual([[expect.stringMatching(message)], true])
  })
})
