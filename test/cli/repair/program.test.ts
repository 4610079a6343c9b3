// The whole command against stand-ins on this machine: a gateway with gaps, and a bucket.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { repairProgram } from '../../../src/cli/repair.node.ts'
import { readBackfill } from '../../kit/at-once.ts'
import { type HttpServer, startServer } from '../../kit/http-server.ts'
import { say } from '../stub.ts'

const HOUR = 3_600_000
const DAY = Date.UTC(2026, 10, 1)
/** A block per minute. */
const timeOf = (height: number) => DAY + height * 60_000
const line = (height: number) => {
  const at = new Date(timeOf(height)).toISOString().slice(0, -1)
  return `${JSON.stringify({ local_time: at, block_time: at, block_number: height, events: [] })}\n`
}
const KEYS = Array.from({ length: 10 }, (_, hour) => `fills/node_fills_by_block/hourly/20261101/${hour}`)
/** Three gaps in hours far apart. */
const GAPS = [70, 250, 430].map((from) => ({ from, to: from + 9 }))
/** The clock of `say` is behind. */
const RECORDED = Date.UTC(2026, 10, 25)
const ENV = { AWS_ACCESS_KEY_ID: 'A', AWS_SECRET_ACCESS_KEY: 's', ADMIN_TOKEN: 'T' }

let server: HttpServer
const taken = new Set<number>()
const asked: string[] = []
const recorded: unknown[] = []
let nowMs = 0
/** What the bucket sends for a list. */
let list: (response: ServerResponse) => void

function gaps(after: number) {
  return GAPS.filter(({ from, to }) => from >= after && !taken.has(from) && !taken.has(to)).map(({ from, to }) => ({
    from,
    to,
    after_ms: timeOf(from - 1),
    before_ms: timeOf(to + 1),
    recorded_ms: RECORDED,
    beyond_ms: null,
    attempts: [],
  }))
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url!, server.url)
  const json = (value: object) => void response.end(JSON.stringify(value))
  if (pathname.startsWith('/bucket/')) {
    const key = pathname.slice('/bucket/'.length)
    asked.push(key === '' ? 'list' : key)
    if (key !== '') return void response.end(hourText(Number(key.split('/').at(-1))))
    return list(response)
  }
  if (request.method === 'GET') {
    const [from, before] = [0, 600].map((height) => ({ height, time: timeOf(height) }))
    return json({
      chain: 'chain',
      from,
      before,
      gaps: gaps(Number(searchParams.get('after'))),
      next: null,
      now_ms: nowMs,
    })
  }
  const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>))
  if (pathname.endsWith('/attempts')) {
    recorded.push(JSON.parse(body.toString()))
    return json({ recorded: true })
  }
  const blocks = readBackfill(gunzipSync(body).toString())
  if (!blocks.ok) throw new Error(blocks.error.message)
  const missing = blocks.value.filter(({ height }) => GAPS.some(({ from, to }) => height >= from && height <= to))
  for (const { height } of missing) taken.add(height)
  json({ blocks: missing.length, segments: 1, bytes: 1, next: null })
}

const hourText = (hour: number) => Array.from({ length: HOUR / 60_000 }, (_, at) => line(hour * 60 + at)).join('')

beforeAll(async () => {
  server = await startServer((request, response) => void answer(request, response))
})
afterAll(() => server.close())
beforeEach(() => {
  taken.clear()
  asked.length = 0
  recorded.length = 0
  nowMs = RECORDED + HOUR
  list = listAll
})

function listAll(response: ServerResponse): void {
  const contents = KEYS.map((name) => `<Contents><Key>${name}</Key><Size>1</Size></Contents>`)
  response.end(`<ListBucketResult>${contents.join('')}</ListBucketResult>`)
}

const run = (...sources: string[]) =>
  say((shell) => repairProgram(shell, new AbortController().signal), ['--url', server.url, '--once', ...sources], {
    ...ENV,
    AWS_ENDPOINT_URL: server.url,
  })

it('lists a bucket once per pass, for any number of gaps', async () => {
  const { out, failed } = await run('--yes', 's3://bucket/fills')
  expect([out, failed]).toEqual([['Repaired 30 blocks. Gaps: 0 open, 0 beyond repair.'], false])
  expect(asked.filter((one) => one === 'list')).toHaveLength(1)
})

it.each<[string, (response: ServerResponse) => void]>([
  [
    'breaks off',
    (response) => {
      response.writeHead(200, { 'content-length': 1_000 })
      response.write('<ListBucketResult>', () => response.destroy())
    },
  ],
  ['never ends', (response) => void Readable.from(xml()).pipe(response)],
])('records a list that %s as a failure of the source, once', async (_, broken) => {
  list = broken
  const { out, failed } = await run('--yes', 's3://bucket/fills')
  expect([out, failed]).toEqual([['Repaired 0 blocks. Gaps: 3 open, 0 beyond repair.'], true])
  expect(asked).toEqual(['list'])
  const cannot = { outcome: 'failed', message: expect.stringMatching(/^s3:\/\/bucket\/fills cannot be listed/) }
  expect(recorded).toEqual(
    GAPS.toReversed().map((gap) => ({ ...gap, ...cannot, source: 's3 bucket', beyond_repair: false })),
  )
})

function* xml() {
  for (;;) yield '<Contents></Contents>'.repeat(10_000)
}

it('uses the gateway’s clock', async () => {
  nowMs = RECORDED + 599_000
  expect((await run('--yes', 's3://bucket/fills')).out).toEqual(['Repaired 0 blocks. Gaps: 3 open, 0 beyond repair.'])
  expect(asked).toEqual([])
})
