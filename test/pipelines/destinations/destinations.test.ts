// Destinations over HTTP, against a server that records what it is sent, and answers well, badly, slowly or without end.

import type { IncomingHttpHeaders } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { hostKind, isPublicAddress } from '../../../src/core/egress.ts'
import type { Batch } from '../../../src/pipelines/destinations/batch.ts'
import { ClickHouseTables, sendToClickHouse } from '../../../src/pipelines/destinations/clickhouse.client.ts'
import { sendRequest, sendToKafka, sendToWebhook } from '../../../src/pipelines/destinations/http.client.ts'
import { sendToS3 } from '../../../src/pipelines/destinations/object-file.client.ts'
import { fills } from '../../../src/pipelines/topics/events.ts'
import { gapRow, keyedRows } from '../../../src/pipelines/topics/topic.ts'
import { egressOf } from '../../core/egress-of.ts'
import { type HttpServer, startServer } from '../../kit/http-server.ts'

interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}
type Answer = { status?: number; headers?: Record<string, string>; body?: string | 'endless' | 'cut' }

let server: HttpServer
let url = ''
const asked: Asked[] = []
let answer: Answer | ((to: Asked) => Answer) = {}

beforeAll(async () => {
  server = await startServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const to = { method: request.method!, url: request.url!, headers: request.headers, body: Buffer.concat(pieces) }
    asked.push(to)
    const { status = 200, headers = {}, body = '' } = typeof answer === 'function' ? answer(to) : answer
    response.writeHead(status, headers)
    if (body === 'cut') return request.socket.destroy()
    if (body !== 'endless') return response.end(body)
    const pour = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    }
    response.on('drain', pour)
    pour()
  })
  url = server.url
})
afterAll(() => server.close())
beforeEach(() => {
  asked.length = 0
  answer = {}
})

const rows = [
  gapRow(1, 2, 140, 'lost'),
  ...keyedRows({ height: 7, time: 490 }, [['a', { coin: 'BTC', px: '1.5', other: { b: [1] } }]]),
]
const batch: Batch = {
  id: 'pipe_a:1-7',
  pipeline: 'pipe_a',
  topic: 'fills',
  from: 1,
  to: 7,
  rows,
  columns: fills.columns,
  texts: rows.map((row) => JSON.stringify(row)),
}
const open = egressOf({ PIPELINE_PRIVATE: true })
const secret = `whsec_${btoa('0123456789abcdef0123456789abcdef')}`
const toWebhook = (egress = open, path = '/hook') =>
  sendToWebhook({ type: 'webhook', url: url + path, secret }, batch, egress)
const clickhouse = { type: 'clickhouse', user: 'u', password: 'hush', database: 'db', table: 'fills' } as const
const kafka = { type: 'kafka', topic: 'fills', user: 'u', password: 'p' } as const

describe('a webhook', () => {
  it('receives the signed batch', async () => {
    expect(await toWebhook()).toMatchObject({ ok: true })
    const [{ headers, body }] = asked as [Asked]
    expect(headers['webhook-id']).toBe('pipe_a:1-7')
    const told = new Webhook(secret).verify(body.toString(), headers as Record<string, string>)
    expect(told).toEqual({
      id: 'pipe_a:1-7',
      type: 'pipeline.batch',
      pipeline: 'pipe_a',
      topic: 'fills',
      from: 1,
      to: 7,
      rows,
    })
  })

  // PIPE-19
  it.each([
    [{ status: 500, body: 'on fire\u001b[2J' }, 'The destination returned 500: on fire\\u001b[2J', undefined],
    [{ status: 429, headers: { 'retry-after': '7' } }, 'The destination returned 429', 7_000],
    [{ status: 503, headers: { 'retry-after': 'whenever' } }, 'The destination returned 503', undefined],
    [
      { status: 307, headers: { location: 'http://10.0.0.1/' } },
      'The destination returned 307: redirects are not followed',
      undefined,
    ],
    [{ body: 'cut' }, 'The destination could not be reached', undefined],
  ] as const)('that answers %j is a failure in words', async (said, words, retryAfterMs) => {
    answer = said as Answer
    expect(await toWebhook()).toEqual({
      ok: false,
      message: words,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    })
    expect(asked).toHaveLength(1)
  })

  it('that never ends its response fails after the timeout, even if the platform ignores the abort', async () => {
    vi.stubGlobal('fetch', async () => new Response(new ReadableStream({ pull: () => new Promise(() => undefined) })))
    try {
      const answered = sendRequest({ url, headers: {}, body: '' }, open, { patienceMs: 20 })
      expect(await answered).toEqual({ failed: 'The destination did not respond within 0.02 s' })
    } finally {
      vi.unstubAllGlobals()
    }
  }, 5_000)

  it('that sends an endless response is read up to a limit', async () => {
    answer = { body: 'endless' }
    expect(await toWebhook()).toMatchObject({ ok: true })
  })
})

describe('where it goes', () => {
  // PIPE-20
  it('is refused for private addresses, however they are written, and without TLS', async () => {
    const closed = egressOf({ PIPELINE_RESOLVER: `${url}/dns-query` })
    expect(await toWebhook(closed)).toEqual({ ok: false, message: expect.stringContaining('https') })
    const hosts = [
      '127.1',
      '0x7f000001',
      '2130706433',
      '[::1]',
      '[::ffff:10.0.0.1]',
      '169.254.169.254',
      'localhost',
      'a.internal.',
      'db',
    ]
    for (const host of hosts) {
      const { hostname } = new URL(`https://${host}/`)
      expect([host, await closed.refusal(hostname, true)]).toEqual([host, expect.stringContaining('private address')])
    }
    expect(asked).toEqual([])
    expect(await closed.refusal('9.9.9.9', true)).toBeNull()
    expect([hostKind('example.com'), hostKind('[2606:4700::1111]')]).toEqual(['name', 'public'])
    expect(['1.2.3.4.5', 'x', '', '300.1.1.1'].filter(isPublicAddress)).toEqual([])
  })

  // PIPE-20
  it('is resolved, and refused if any address of the name is private', async () => {
    const closed = () => egressOf({ PIPELINE_RESOLVER: `${url}/dns-query` })
    answer = { body: '{"Answer":[{"type":5,"data":"other.example."},{"type":1,"data":"9.9.9.9"}]}' }
    const egress = closed()
    expect(await egress.refusal('good.example', true)).toBeNull()
    expect(await egress.refusal('good.example', true)).toBeNull()
    // Of both kinds of addresses, once.
    expect(asked.map((one) => one.url)).toEqual([
      '/dns-query?name=good.example&type=A',
      '/dns-query?name=good.example&type=AAAA',
    ])
    answer = { body: '{"Answer":[{"type":1,"data":"9.9.9.9"},{"type":28,"data":"fd00::1"}]}' }
    expect(await closed().refusal('bad.example', true)).toContain('private address')
    // By way of another name; as IPv4 within IPv6; by a gateway to IPv4; this machine; link-local with its zone.
    const insides = [
      '10.0.0.1',
      '::ffff:10.0.0.1',
      '64:ff9b::a00:1',
      '0.0.0.0',
      'fe80::1%eth0',
      '012.0.0.1',
      '2130706433',
    ]
    for (const data of insides) {
      const named = { type: 5, data: 'inside.example.' }
      answer = { body: JSON.stringify({ Answer: [named, { type: data.includes(':') ? 28 : 1, data }] }) }
      expect([data, await closed().refusal('odd.example', true)]).toEqual([data, expect.stringContaining('private')])
    }
    for (const body of ['{"Answer":{}}', '{"Answer":[{"type":1,"data":7}]}', '{"Answer":[null]}', 'null', '[']) {
      answer = { body }
      expect([body, await closed().refusal('odd.example', true)]).toEqual([
        body,
        expect.stringContaining('destination name'),
      ])
    }
    answer = { body: '{"Status":3}' }
    expect(await closed().refusal('none.example', true)).toMatch(/no address/)
    answer = { status: 500 }
    expect(await closed().refusal('down.example', true)).toMatch(/resolved/)
  })
})

describe('clickhouse', () => {
  const send = (tables = new ClickHouseTables(), password = 'hush') =>
    sendToClickHouse({ ...clickhouse, password, url }, batch, open, tables)
  const KNOWN = ['async_insert', 'insert_deduplication_token', 'input_format_allow_errors_num']
  /** As a server of 2026 answers: JSONCompact with more than is read. */
  const serving = (settings: readonly string[], inserted: Answer = {}) => {
    const data = [
      ...settings.map((name) => [name, '']),
      ['_key', 'String'],
      ['px', 'Decimal(38, 10)'],
      ['other', 'String'],
    ]
    answer = ({ url: path }) =>
      path.includes('query=INSERT') ? inserted : { body: JSON.stringify({ meta: [], data, rows: 9 }) }
  }
  const inserts = () => asked.filter(({ url: path }) => path.includes('query=INSERT'))

  it('receives one INSERT with the same bytes each time, and the batch ID as token if it supports tokens', async () => {
    serving(KNOWN)
    const tables = new ClickHouseTables()
    for (const _ of [1, 2]) expect(await send(tables)).toMatchObject({ ok: true })
    // It is asked once.
    const own = asked.filter(({ method }) => method === 'POST')
    expect([own.length, inserts().length]).toEqual([3, 2])
    const [{ url: path, headers, body }, again] = inserts() as [Asked, Asked]
    const { query_id: id, ...query } = Object.fromEntries(new URL(path, url).searchParams)
    expect(query).toEqual({
      query: 'INSERT INTO `db`.`fills` FORMAT JSONEachRow',
      wait_end_of_query: '1',
      async_insert: '0',
      input_format_allow_errors_num: '0',
      insert_deduplication_token: 'pipe_a:1-7',
    })
    expect(id).toMatch(/^pipe_a:1-7:/)
    expect(headers.authorization).toBe(`Basic ${btoa('u:hush')}`)
    expect(body.toString()).toBe('{"_key":"gap:1-2"}\n{"_key":"7:a","px":1.5,"other":"{\\"b\\":[1]}"}\n')
    expect(again.body).toEqual(body)
  })

  it('receives no unknown settings, because old servers reject them', async () => {
    serving([])
    expect(await send()).toMatchObject({ ok: true })
    const names = [...new URL(inserts()[0]!.url, url).searchParams.keys()]
    expect(names).toEqual(['query', 'wait_end_of_query', 'query_id'])
  })

  it.each([
    [
      { body: '<html>welcome</html>' },
      'The destination did not respond like a ClickHouse server: <html>welcome</html>',
    ],
    [
      { body: '{"data":[["_key",1]]}' },
      'The destination did not respond like a ClickHouse server: {"data":[["_key",1]]}',
    ],
    [{ body: '{"data":[]}' }, expect.stringMatching(/db\.fills.*CREATE TABLE IF NOT EXISTS `db`\.`fills` \(/)],
    [{ status: 503, body: 'busy' }, 'The destination returned 503: busy'],
  ])('that answers the question with %j is sent nothing, and asked again at the next try', async (said, words) => {
    const tables = new ClickHouseTables()
    answer = said
    for (const _ of [1, 2]) expect(await send(tables)).toEqual({ ok: false, message: words })
    expect([asked.length, inserts()]).toEqual([2, []])
  })

  it('may say its secret back: words never have it', async () => {
    const password = 'hu"sh'
    answer = { status: 403, body: `${'x'.repeat(196)}${password} and ${JSON.stringify(password)}` }
    expect(await send(undefined, password)).toMatchObject({
      message: `The destination returned 403: ${'x'.repeat(196)}****`,
    })
    answer = { status: 403, body: `${JSON.stringify(password)} ${password} ${btoa(`u:${password}`)}` }
    expect(await send(undefined, password)).toMatchObject({
      message: 'The destination returned 403: "******" ****** ******',
    })
  })

  it('fails if a 200 response contains an exception', async () => {
    serving(KNOWN, { body: 'Code: 241. DB::Exception: Memory limit exceeded' })
    expect(await send()).toEqual({ ok: false, message: 'Code: 241. DB::Exception: Memory limit exceeded' })
  })
})

describe('kafka', () => {
  const send = () => sendToKafka({ ...kafka, url: `${url}/` }, batch, open)

  it('may say its secret back: words never have it', async () => {
    answer = { status: 401, body: `no ${btoa('u:long')}, no long` }
    expect(await sendToKafka({ ...kafka, password: 'long', url }, batch, open)).toMatchObject({
      message: 'The destination returned 401: no ******, no ******',
    })
  })

  it('receives records with the keys of the rows', async () => {
    answer = {
      body: '{"offsets":[{"partition":0,"offset":1,"error_code":null,"error":null},{"partition":0,"offset":2}]}',
    }
    expect(await send()).toMatchObject({ ok: true })
    const [{ url: path, headers, body }] = asked as [Asked]
    expect([path, headers.authorization]).toEqual(['/topics/fills', `Basic ${btoa('u:p')}`])
    expect(JSON.parse(body.toString())).toEqual({ records: rows.map((row) => ({ key: row._key, value: row })) })
  })

  it.each([
    ['{"offsets":[{"error_code":2,"error":"broker down"},{}]}', 'The Kafka bridge rejected a record: broker down'],
    ['{"offsets":[{},{"error":{"toString":1}}]}', 'The Kafka bridge rejected a record: {"toString":1}'],
    ['{"offsets":[null,{"error_code":50003}]}', 'The Kafka bridge rejected a record: 50003'],
    ['{"offsets":[{}]}', 'The Kafka bridge accepted 1 of 2 records'],
    ['<html>', 'The Kafka bridge returned no offsets: <html>'],
  ])('fails if it responds with 200 and %s', async (body, words) => {
    answer = { body }
    expect(await send()).toEqual({ ok: false, message: words })
  })
})

describe('s3', () => {
  const config = {
    type: 's3',
    bucket: 'b',
    region: 'eu-central-1',
    prefix: 'x/(1)',
    access_key_id: 'AK',
    secret_access_key: 'SK',
  } as const

  it('receives a signed object with the name of the batch, the same each time', async () => {
    for (const _ of [1, 2])
      expect(await sendToS3({ ...config, url, format: 'ndjson' }, batch, open)).toMatchObject({ ok: true })
    const [first, second] = asked as [Asked, Asked]
    expect(first.method).toBe('PUT')
    expect(decodeURIComponent(first.url)).toBe('/b/x/(1)pipe_a/000000000001-000000000007.ndjson.gz')
    expect(first.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AK\/\d{8}\/eu-central-1\/s3\/aws4_request/,
    )
    expect(gunzipSync(first.body).toString()).toBe(`${batch.texts.join('\n')}\n`)
    expect([second.url, second.body]).toEqual([first.url, first.body])
  })

  // PIPE-14
  it('receives a test under a different name from the batch of the same heights', async () => {
    const test = { ...batch, id: `${batch.id}:test-99` }
    expect(await sendToS3({ ...config, url, format: 'ndjson' }, test, open)).toMatchObject({ ok: true })
    expect(asked[0]!.url).toMatch(/\/000000000001-000000000007-test-99\.ndjson\.gz$/)
  })

  it('receives Parquet', async () => {
    expect(await sendToS3({ ...config, url, format: 'parquet' }, batch, open)).toMatchObject({ ok: true })
    expect(asked[0]!.body.subarray(0, 4).toString()).toBe('PAR1')
  })
})
