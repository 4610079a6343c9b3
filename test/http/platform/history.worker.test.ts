// History files of a chain over the gateway's routes: coverage, prices, links and downloads.

import { beforeAll, describe, expect, it } from 'vitest'
import { ArchiveWriter } from '../../../src/archive/archive/archive-writer.store.ts'
import { downloadRoutes } from '../../../src/http/platform/download.route.ts'
import type { Platform } from '../../../src/http/platform/platform-api.ts'
import { bindings, KEY_SECRET, keyed, meterOf, newKey, platformOf } from './operator.worker.ts'

const CHAIN = bindings.CHAIN
const DAY_MS = 86_400_000
const BEGIN = Date.UTC(2026, 10, 20)
const ROOT = `/v1/${CHAIN}/history`

function gateway(over: Partial<Platform> = {}) {
  const platform = { ...platformOf(), now: () => BEGIN + 3 * DAY_MS, ...over }
  const ask = keyed({ platform, places: ['basic', 'bearer'] })
  return (path: string, key: string, authorization = `Bearer ${key}`, method = 'GET') =>
    ask(method, path, key, undefined, authorization)
}

const download = (
  path: string,
  { nowMs = BEGIN, ...init }: RequestInit & { readonly nowMs?: number } = {},
  over = {},
) =>
  downloadRoutes({
    chain: CHAIN,
    bucket: bindings.ARCHIVE,
    keySecret: KEY_SECRET,
    requestId: () => 'req_1',
    now: () => nowMs,
    ...over,
  }).request(path, init)

/** Two blocks of a minute. */
const segment = (minute: number) => ({
  first: 10 * minute,
  last: 10 * minute + 1,
  epoch: 'a',
  firstMs: BEGIN + minute * 60_000,
  lastMs: BEGIN + minute * 60_000 + 1_000,
  events: [`{"events":${minute}}`, '{}'],
  books: [`{"books":${minute}}`, '{}'],
})

const rich = { plan: 'enterprise', credits: 100 }

beforeAll(async () => {
  const writer = new ArchiveWriter({ chain: CHAIN, bucket: bindings.ARCHIVE, db: bindings.HISTORY })
  const other = new ArchiveWriter({ chain: 'other', bucket: bindings.ARCHIVE, db: bindings.HISTORY })
  for (const minute of [0, 1, 3, 1440]) await writer.putSegment(segment(minute))
  await other.putSegment(segment(2))
  for (const height of [10, 14_400]) {
    const time = BEGIN + height * 6_000
    await writer.putCheckpoint({ epoch: 'a', height, through: height, time, coins: 1, unsure: 0, lines: [] })
  }
  for (const from of [12, 32, 20_000])
    await writer.putGap({ from, to: from + 3, afterMs: BEGIN, beforeMs: BEGIN + 1 }, BEGIN + 2)
})

describe('coverage', () => {
  it('is listed by day with both ends, for one credit', async () => {
    const { key } = await newKey(rich)
    const { json, cost, left } = await gateway()(`${ROOT}/coverage`, key)
    expect([cost, left]).toEqual(['1', '99'])
    expect(json.data).toMatchObject({
      chain: CHAIN,
      from: { height: 0, time_ms: BEGIN },
      to: { height: 14_401, time_ms: BEGIN + DAY_MS + 1_000 },
      totals: { segments: 4, blocks: 8, checkpoints: 2 },
      days: [
        { day: '2026-11-20', from_height: 0, to_height: 31, segments: 3, blocks: 6, checkpoints: 1 },
        { day: '2026-11-21', from_height: 14_400, to_height: 14_401, segments: 1, blocks: 2, checkpoints: 1 },
      ],
    })
    expect(json.data.files).toEqual({ from: null, to: null, holes: [] })
    const { totals, days } = json.data
    for (const name of ['events_bytes', 'books_bytes', 'checkpoints_bytes'])
      expect([totals[name], totals[name] > 0]).toEqual([days[0][name] + days[1][name], true])
    const one = await gateway()(`${ROOT}/coverage?day=2026-11-21`, key)
    expect(one.json.data.days.map(({ day }: { day: string }) => day)).toEqual(['2026-11-21'])
    expect([json.data.hours, one.json.data.hours]).toMatchObject([null, [{ hour: 0, from_height: 14_400, blocks: 2 }]])
  })

  it('tells when repaired blocks happened, from the segment that has them', async () => {
    const { key } = await newKey(rich)
    const repair = `INSERT INTO repairs (chain, from_height, to_height, known, books, source, at_ms) VALUES (?, ?, ?, 'events', 0, 'tokyo', 5)`
    const { HISTORY } = bindings
    await HISTORY.batch([HISTORY.prepare(repair).bind(CHAIN, 11, 11), HISTORY.prepare(repair).bind(CHAIN, 700, 701)])
    const { json } = await gateway()(`${ROOT}/coverage`, key)
    await HISTORY.exec('DELETE FROM repairs')
    const times = json.data.repairs.map((one: Record<string, unknown>) => [one.from_height, one.at_ms, one.from_ms])
    expect(times).toEqual([
      [700, 5, null],
      [11, 5, BEGIN + 60_000],
    ])
  })

  it('offers both authentication schemes; other surfaces offer only bearer tokens', async () => {
    const asks = gateway()
    const challenge = async (path: string) => {
      const { status, headers } = await asks(path, '', '')
      return [status, headers.get('www-authenticate')]
    }
    expect(await challenge(`${ROOT}/gaps`)).toEqual([401, 'Basic realm="weir", Bearer'])
    expect(await challenge('/platform/key/')).toEqual([401, 'Bearer'])
  })

  it('lists gaps page by page, also after a repaired one, and rejects malformed cursors', async () => {
    const { key } = await newKey(rich)
    const ask = gateway()
    const first = (await ask(`${ROOT}/gaps?limit=2`, key)).json.data
    expect(first.gaps.map((gap: { from_height: number }) => gap.from_height)).toEqual([12, 32])
    const { gaps, next } = (await ask(`${ROOT}/gaps?limit=2&after=${first.next}`, key)).json.data
    expect([gaps[0], next]).toEqual([
      { from_height: 20_000, to_height: 20_003, after_ms: BEGIN, before_ms: BEGIN + 1, state: 'open' },
      null,
    ])
    expect((await ask(`${ROOT}/gaps?after=20000`, key)).json.data).toEqual({ gaps: [], next: null })
    const after13 = (await ask(`${ROOT}/gaps?limit=1&after=13`, key)).json.data
    expect(after13.gaps).toMatchObject([{ from_height: 32 }])
    for (const after of ['-1', 'x', '']) {
      const { status, cost, json } = await ask(`${ROOT}/gaps?after=${after}`, key)
      expect([status, cost, json.error_message]).toEqual([400, '0', expect.stringMatching(/^after: /)])
    }
  })

  it('has daily checksums for sha256sum', async () => {
    const { key } = await newKey(rich)
    const { text, cost } = await gateway()(`${ROOT}/SHA256SUMS?day=2026-11-20`, key)
    const lines = text.trimEnd().split('\n')
    expect([lines.length, cost]).toEqual([7, '1'])
    for (const line of lines) {
      const [sum, name] = line.split('  ')
      const body = await (await bindings.ARCHIVE.get(name!))!.arrayBuffer()
      const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', body))
      expect(sum).toBe([...digest].map((byte) => byte.toString(16).padStart(2, '0')).join(''))
    }
  })
})

describe('an export', () => {
  it('costs the estimate once, page by page, and delivers the files', async () => {
    const { key, account } = await newKey(rich)
    const ask = gateway()
    const range = `from=${BEGIN}&to=${BEGIN + 2 * DAY_MS}`
    const told = await ask(`${ROOT}/cost?${range}`, key)
    expect([told.cost, told.json.data.objects]).toEqual(['0', 10])
    const found: { key: string; link: string; bytes: number; product: string }[] = []
    let cost = 0
    for (let next: string | null = ''; next !== null; ) {
      const page = await ask(`${ROOT}/files?${range}&limit=3${next && `&after=${next}`}`, key)
      cost += Number(page.cost)
      expect(page.json.data.credits).toBe(page.cost)
      found.push(...page.json.data.files)
      next = page.json.data.next
    }
    expect(cost).toBeCloseTo(Number(told.json.data.credits), 9)
    expect(found.map(({ product }) => product)).toEqual([
      ...Array(4).fill('events'),
      ...Array(4).fill('books'),
      ...Array(2).fill('checkpoints'),
    ])
    expect(new Set(found.map(({ key: name }) => name)).size).toBe(10)
    for (const { link, bytes, key: name } of found) {
      const answer = await download(link, { nowMs: BEGIN + 3 * DAY_MS })
      expect([answer.status, answer.headers.get('content-length')]).toEqual([200, String(bytes)])
      const stored = await (await bindings.ARCHIVE.get(name))!.arrayBuffer()
      expect(new Uint8Array(await answer.arrayBuffer())).toEqual(new Uint8Array(stored))
    }
    // The next call reports this spending.
    await ask(`${ROOT}/cost?${range}`, key)
    expect((await meterOf(account).balance()).spent).toBe(Math.round(cost * 1e6))
  })

  it('of some products has only their files', async () => {
    const { key } = await newKey(rich)
    const { json } = await gateway()(`${ROOT}/cost?day=2026-11-20&products=checkpoints,events`, key)
    expect(json.data.by_product.map(({ product, objects }: Record<string, unknown>) => [product, objects])).toEqual([
      ['events', 3],
      ['checkpoints', 1],
    ])
  })

  it('without enough credits creates no link', async () => {
    const { key } = await newKey({ plan: 'enterprise', credits: '0.001' })
    const { status, json, text } = await gateway()(`${ROOT}/files?day=2026-11-20`, key)
    expect([status, json.error_code]).toEqual([402, '402'])
    expect(text).not.toContain('sig=')
  })

  it('with HEAD is free', async () => {
    const { key } = await newKey(rich)
    const answer = await gateway()(`${ROOT}/files?day=2026-11-20`, key, undefined, 'HEAD')
    expect(answer).toMatchObject({ status: 200, text: '', cost: '0', left: '100' })
  })

  it('counts as one request', async () => {
    const { key } = await newKey({ plan: 'trial' })
    const ask = gateway()
    for (let call = 0; call < 4; call++) expect((await ask(`${ROOT}/files?day=2026-11-20`, key)).status).toBe(200)
  })

  it.each([
    ['coverage?colour=red', 'colour: '],
    ['coverage?day=2026-02-30', 'day: '],
    ['coverage?from=2&to=1', 'from: '],
    ['coverage?from=-1', 'from: '],
    [`coverage?from=0&to=${BEGIN}`, 'from: '],
    ['cost', 'from: '],
    ['cost?from=1e3', 'from: '],
    ['cost?from=253402300800000', 'from: '],
    ['cost?day=2026-11-20&from=5', 'day: '],
    ['cost?day=2026-11-20&day=2026-11-20', 'day: '],
    ['cost?day=2026-11-20&products=', 'products: '],
    ['cost?day=2026-11-20&products=trades', 'products: '],
    ['files', 'from: '],
    ['files?day=2026-11-20&limit=0', 'limit: '],
    ['files?day=2026-11-20&limit=-1', 'limit: '],
    ['files?day=2026-11-20&limit=1000000000', 'limit: '],
    ['files?day=2026-11-20&after=x', 'after: '],
    [`files?day=2026-11-21&after=events.${BEGIN}.0.0`, 'after: '],
    [`files?day=2026-11-20&products=books&after=events.${BEGIN}.0.0`, 'after: '],
    ['SHA256SUMS', 'day: '],
    ['SHA256SUMS?day=20-11-2026', 'day: '],
  ])('with %s is rejected with the field, free of charge', async (path, field) => {
    const { key } = await newKey(rich)
    const { status, json, cost } = await gateway()(`${ROOT}/${path}`, key)
    expect([status, cost, json.error, json.error_message.startsWith(field)]).toEqual([400, '0', true, true])
  })

  it('of another chain or without an archive is not found', async () => {
    const { key } = await newKey(rich)
    for (const path of [
      'coverage',
      'gaps',
      'cost?day=2026-11-20',
      'files?day=2026-11-20',
      'SHA256SUMS?day=2026-11-20',
    ]) {
      const stranger = await gateway()(`/v1/other%22/history/${path}`, key)
      expect([stranger.status, stranger.cost]).toEqual([404, '0'])
      expect(stranger.json.error_message).toContain(`"other\\""`)
      const none = await gateway({ exports: null })(`${ROOT}/${path}`, key)
      expect([none.status, none.cost]).toEqual([404, '0'])
    }
  })
})

describe('a link', () => {
  let link: string
  let expires: number
  let size: number
  beforeAll(async () => {
    const { key } = await newKey(rich)
    const { files, expires_ms } = (await gateway()(`${ROOT}/files?day=2026-11-20`, key)).json.data
    link = files[0].link
    size = files[0].bytes
    expires = expires_ms
  })

  it('is valid for an hour, then reported as expired', async () => {
    expect(expires).toBe(BEGIN + 3 * DAY_MS + 3_600_000)
    expect((await download(link, { nowMs: expires - 1 })).status).toBe(200)
    const late = await download(link, { nowMs: expires })
    expect([late.status, await late.json()]).toMatchObject([403, { error: true, error_code: '403' }])
  })

  it('serves ranges and rejects invalid ones', async () => {
    const whole = new Uint8Array(await (await download(link)).arrayBuffer())
    const part = async (range: string, more = {}) => {
      const answer = await download(link, { headers: { range, ...more } })
      return { answer, body: new Uint8Array(await answer.arrayBuffer()) }
    }
    const { answer, body } = await part('bytes=3-7')
    expect([answer.status, answer.headers.get('content-range'), body]).toEqual([
      206,
      `bytes 3-7/${size}`,
      whole.slice(3, 8),
    ])
    expect((await part('bytes=-4')).body).toEqual(whole.slice(-4))
    const etag = answer.headers.get('etag')!
    expect((await part('bytes=3-7', { 'if-range': etag })).answer.status).toBe(206)
    expect((await part('bytes=3-7', { 'if-range': '"other"' })).answer.status).toBe(200)
    for (const range of [`bytes=${size}-`, 'bytes=7-3', 'bytes=0-1,3-4', 'lines=0-1', 'bytes=x']) {
      const refused = await download(link, { headers: { range } })
      expect([refused.status, refused.headers.get('content-range')]).toEqual([416, `bytes */${size}`])
      expect(await refused.json()).toMatchObject({ error: true, error_code: '416' })
    }
  })

  it('supports HEAD', async () => {
    const answer = await download(link, { method: 'HEAD' })
    expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([200, String(size), ''])
  })

  it('with a forged signature is rejected', async () => {
    const [path, query = ''] = link.split('?')
    const forged: readonly (readonly [string, number])[] = [
      [link.replace('.events.', '.books.'), 403],
      [link.replace(String(expires), String(expires + 1)), 403],
      [link.replace(/sig=./, (sig) => (sig === 'sig=A' ? 'sig=B' : 'sig=A')), 403],
      [link.replace(`/v1/${CHAIN}/`, '/v1/other/'), 404],
      [`${path}?${query.replace(/&sig=.*/, '')}`, 400],
      [path!, 400],
      [`${link}&sig=${'x'.repeat(43)}`, 400],
      [`/v1/${CHAIN}/history/files/..%2f..%2fsecrets?expires=${expires}&sig=${'x'.repeat(43)}`, 403],
    ]
    for (const [forgery, status] of forged) {
      const answer = await download(forgery)
      expect([forgery, answer.status, (await answer.json<{ error: boolean }>()).error]).toEqual([forgery, status, true])
    }
    expect((await download(link, {}, { keySecret: 'another secret of at least 32 characters' })).status).toBe(403)
    expect((await download(link, {}, { keySecret: undefined })).status).toBe(503)
    expect((await download(link, {}, { bucket: undefined })).status).toBe(404)
  })

  it('to a removed file is not found', async () => {
    const { key } = await newKey(rich)
    const { files } = (await gateway()(`${ROOT}/files?day=2026-11-21`, key)).json.data
    await bindings.ARCHIVE.delete(files[0].key)
    const answer = await download(files[0].link)
    expect([answer.status, await answer.json()]).toMatchObject([404, { error_code: '404' }])
  })
})
