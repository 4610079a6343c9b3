// A node that loses its files, over the built Workers: the log records a gap, `npx weir repair` fills it from a copy of another
// gateway's archive and from another node's files. Lists, candles, completed trades and pipelines then have what the other node
// wrote, and order books are those of the other gateway where it has them.

import { createHash, randomBytes } from 'node:crypto'
import { appendFileSync, cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { UserFill } from '../../src/protocol/feed/block.ts'
import { ADMIN_TOKEN, FEED_TOKEN, startWorld, type World } from '../kit/gateway.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'
import { type Program, run, scratch } from '../kit/program.ts'
import { until } from '../kit/until.ts'

const LOST_BLOCKS = 200
/** So many blocks are in the copy of the other archive. */
const ARCHIVED_BLOCKS = 100
const HOURLY = /\/\d{8}\/\d+$/
/** Segments and reports of the archive come once a minute. */
const WAIT = { withinMs: 240_000, everyMs: 200 }
const TIMEOUT_MS = 600_000

interface Status {
  readonly height: number | null
  readonly archive: { readonly height: number | null; readonly files: { readonly height: number | null } | null }
  readonly gaps: readonly {
    readonly from: number
    readonly to: number
    readonly repair: string
    readonly repairedFrom: string[]
  }[]
}
interface DeliveredRow {
  readonly _kind: string
  readonly _height: number
  readonly _repaired?: boolean
  readonly user: string
  readonly tid: number
}

const folder = scratch()
const data = `${folder.path}/node`
const copy = `${folder.path}/copy`
interface DeliveredCandle {
  readonly _kind: string
  readonly _key: string
  readonly _repaired?: boolean
  readonly coin: string
  readonly time: number
  readonly open: string
  readonly close: string
  readonly high: string
  readonly low: string
  readonly volume: string
  readonly trades: number
}

const delivered: DeliveredRow[] = []
const deliveredCandles: DeliveredCandle[] = []
const programs: Program[] = []
let world: World
/** A gateway with a feeder that lost nothing. */
let other: World
let receiver: HttpServer
let key: string
let serviceKey: string
let node: string
let pipeline: string
let candlePipeline: string
let gap: Status['gaps'][number]

const status = () => world.status<Status>()
const feeder = (to = world, from = data) => {
  const state = `${folder.path}/feeder-${to === world ? 'own' : 'other'}`
  const args = ['--data', from, '--info', node, '--gateway', to.url, '--state', state]
  const program = run('feed', args, { FEED_TOKEN })
  programs.push(program)
  return program
}
const platform = (method: string, path: string, body?: object) =>
  world.call(method, `/platform/pipeline-api/${path}`, serviceKey, body).then(async (answer) => {
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return ((await answer.json()) as { data: { id: string } }).data
  })
const list = async <Row>(body: object): Promise<Row[]> => {
  const answer = await world.info(key, body)
  if (!answer.ok) throw new Error(`${JSON.stringify(body)}: ${await answer.text()}`)
  return (await answer.json()) as Row[]
}

async function nextMinute(): Promise<void> {
  const minute = () => Math.floor(Date.now() / 60_000)
  const begun = minute()
  await until(() => minute() > begun, 'the minute does not end', { withinMs: 90_000, everyMs: 200 })
}

/** Fills of the copied node files between two heights. */
function fillsOfCopy(from: number, to: number): { height: number; fill: UserFill }[] {
  return globSync(`${copy}/node_fills_by_block/**/*`)
    .filter((path) => HOURLY.test(path))
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { block_number: number; events: UserFill[] })
    .filter(({ block_number: height }) => height >= from && height <= to)
    .flatMap(({ block_number: height, events }) => events.map((fill) => ({ height, fill })))
}

/** Removes the lines of these heights from all files of the node. */
function loseLines(from: number, to: number): void {
  for (const path of globSync(`${data}/{node_*,misc_*}/**/*`).filter((one) => HOURLY.test(one))) {
    const lines = readFileSync(path, 'utf8').split('\n')
    const kept = lines.filter((line) => {
      const height = heightOf(line)
      return height < from || height > to
    })
    if (kept.length < lines.length) writeFileSync(path, kept.join('\n'))
  }
}

const heightOf = (line: string) => Number(/"block_number":(\d+)/.exec(line.slice(0, 400))?.[1] ?? -1)

/** Adds what the node has written since to its copy. */
function extendCopy(): void {
  for (const path of globSync(`${data}/{node_*,misc_*}/**/*`).filter((one) => HOURLY.test(one))) {
    const target = copy + path.slice(data.length)
    mkdirSync(dirname(target), { recursive: true })
    appendFileSync(target, '')
    const last = readFileSync(target, 'utf8').trimEnd().split('\n').at(-1) ?? ''
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
    const added = lines.filter((line) => heightOf(line) > Math.max(heightOf(last), gap.to))
    appendFileSync(target, added.map((line) => `${line}\n`).join(''))
  }
}

/** As in the names of objects. */
const padded = (height: number) => String(height).padStart(12, '0')

/** Copies the archive of the other gateway up to a block. */
async function copyArchive(to: number): Promise<string> {
  const root = `${folder.path}/archive-copy`
  const range = `from=${Date.now() - 3_600_000}&to=${Date.now()}&products=events,books,checkpoints&limit=1000`
  const { files } = await other.ask<{ files: { key: string; from_height: number; to_height: number; link: string }[] }>(
    'GET',
    `/history/files?${range}`,
  )
  for (const { key, from_height: first, to_height: last, link } of files.filter((file) => file.from_height <= to)) {
    const bytes = Buffer.from(await (await fetch(other.url + link)).arrayBuffer())
    const cut = gunzipSync(bytes)
      .toString()
      .split('\n')
      .slice(0, to - first + 1)
    const path = `${root}/${last > to ? key.replace(padded(last), padded(to)) : key}`
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, last > to ? gzipSync(cut.join('\n')) : bytes)
  }
  return root
}

beforeAll(async () => {
  receiver = await startServer(async (request, response) => {
    const { rows } = JSON.parse(await text(request)) as { rows: (DeliveredRow & DeliveredCandle)[] }
    const isOfFills = request.url === '/'
    if (isOfFills) delivered.push(...rows)
    else deliveredCandles.push(...rows)
    response.end()
  })
  const devnet = run('devnet', ['--data', data, '--port', '0', '--json'])
  programs.push(devnet)
  node = (JSON.parse(await devnet.line((line) => line.startsWith('{'))) as { url: string }).url
  // Without the exchange as a source, lists and candles come from the archive alone.
  world = await startWorld({ isArchived: true })
  other = await startWorld({ isArchived: true })
  key = await world.newKey('1000000')
  serviceKey = await world.newKey('1000000', { kind: 'service', plan: 'enterprise' })
  const first = feeder()
  const second = feeder(other)
  for (const each of [world, other])
    await until(async () => ((await each.status<Status>()).height ?? 0) > 100, 'no blocks come', WAIT)
  const destination = {
    type: 'webhook',
    url: `${receiver.url}/`,
    secret: `whsec_${btoa('0123456789abcdef0123456789abcdef')}`,
  }
  const order = { name: 'n', topic: 'fills', destination_config: destination, execution_start_from: 'latest' }
  pipeline = (await platform('POST', '', order)).id
  const candles = { topic: 'candles', destination_config: { ...destination, url: `${receiver.url}/candles` } }
  candlePipeline = (await platform('POST', '', { ...order, ...candles, execution_start_from: 'earliest' })).id
  await until(() => delivered.length > 0, 'no rows come', WAIT)
  // A candle that was in progress at the start would be omitted anyway.
  await nextMinute()
  await first.end()
  const last = (await status()).height!
  // The node writes on for a while, then loses what it wrote, except for the newest blocks.
  const newest = async () => ((await (await fetch(`${node}/books`)).json()) as { height: number }).height
  await until(async () => (await newest()) > last + LOST_BLOCKS + 20, 'the node stands still', WAIT)
  devnet.process.kill('SIGSTOP')
  const otherHeight = async () => (await other.status<Status>()).height ?? 0
  await until(async () => (await otherHeight()) > last + LOST_BLOCKS, 'the other gateway stands still', WAIT)
  await second.end()
  cpSync(data, copy, { recursive: true })
  loseLines(last + 1, last + LOST_BLOCKS)
  devnet.process.kill('SIGCONT')
  feeder()
  await until(async () => (await status()).gaps.length > 0, 'no gap is recorded', WAIT)
  gap = (await status()).gaps[0]!
  feeder(other, copy)
  const isArchived = async () => {
    const { gaps } = await world.ask<{ gaps: { from: number }[] }>('GET', '/history/backfill')
    return gaps.some(({ from }) => from === gap.from)
  }
  await until(isArchived, 'the gap is not archived', WAIT)
  const hasArchived = async () => {
    extendCopy()
    return ((await other.status<Status>()).archive?.height ?? 0) >= gap.to
  }
  await until(hasArchived, 'the other gateway does not archive the blocks', WAIT)
  const hasPassed = () => deliveredCandles.some(({ _kind }) => _kind === 'gap')
  await until(hasPassed, 'the pipeline of candles has no gap', WAIT)
  await nextMinute()
}, TIMEOUT_MS)

afterAll(async () => {
  for (const program of programs.toReversed()) await program.end('SIGKILL')
  await world?.stop()
  await other?.stop()
  receiver?.close()
  folder.remove()
})

// Field test T1
it(
  'a gap is filled with the rows that another node has',
  async () => {
    const known = async () => (await status()).gaps.find(({ from }) => from === gap.from)
    // While the archive reads on, it is not known for a moment.
    await until(async () => (await known())?.repair === 'open', 'the status does not know the gap', WAIT)
    expect(await known()).toMatchObject({ repairedFrom: [] })
    const lost = fillsOfCopy(gap.from, gap.to)
    expect(lost.length).toBeGreaterThan(50)
    const counts = Map.groupBy(lost, ({ fill: [user] }) => user)
    const [user = ''] = [...counts].sort((a, b) => b[1].length - a[1].length)[0] ?? []
    const times = lost.map(({ fill: [, fill] }) => fill.time)
    const range = { startTime: Math.min(...times), endTime: Math.max(...times) }
    const wanted = lost.flatMap(({ fill: [owner, fill] }) => (owner === user ? [fill.tid] : []))
    const tids = async () =>
      (await list<{ tid: number }>({ type: 'userFillsByTime', user, ...range })).map(({ tid }) => tid)
    // The rows in question are not there.
    expect((await tids()).filter((tid) => wanted.includes(tid))).toEqual([])

    // A gap of a few minutes has checkpoints, which are sent as a stream. One without blocks does not count.
    const checkpoint = randomBytes(2_000_000)
    const upload = await fetch(
      `${world.url}/admin/history/checkpoints?${new URLSearchParams({
        height: String(gap.from),
        bytes: String(checkpoint.length),
        sha256: createHash('sha256').update(checkpoint).digest('hex'),
      })}`,
      { method: 'POST', headers: { authorization: `Bearer ${ADMIN_TOKEN}` }, body: checkpoint },
    )
    expect([upload.status, await upload.json()]).toEqual([200, { stored: true }])

    const archivedTo = gap.from + ARCHIVED_BLOCKS - 1
    const sources = [`other=${await copyArchive(archivedTo)}`, `second=${copy}`]
    const args = ['--url', world.url, '--once', '--min-age', '0', ...sources]
    const repair = run('repair', args, { ADMIN_TOKEN })
    programs.push(repair)
    await until(() => repair.process.exitCode !== null, 'the repair does not end', WAIT)
    expect(repair.log()).toMatch(/Books of the gap \d+ to \d+ are known up to block \d+\. .*only before the gap/)
    expect([repair.process.exitCode, repair.lines.at(-1)]).toEqual([
      0,
      `Repaired ${gap.to - gap.from + 1} blocks. Gaps: 0 open, 0 beyond repair.`,
    ])

    await until(async () => (await known())?.repair === 'repaired', 'the status does not show the repair', WAIT)
    expect(await known()).toMatchObject({ repairedFrom: expect.arrayContaining(['other', 'second']) })
    const otherKey = await other.newKey('1000000')
    const bookAt = async (height: number, coin = 'BTC', of = world) => {
      const body = { type: 'l2BookDiffSnapshot', coin, block_height: height }
      return (await (await of.info(of === world ? key : otherKey, body)).json()) as { readonly epoch: string }
    }
    const { epoch } = await bookAt(gap.from - 1)
    for (const height of [gap.from, gap.from + ARCHIVED_BLOCKS / 2, archivedTo])
      for (const coin of ['BTC', 'ETH']) {
        // A coin that has not changed yet has the height of its gateway's first books.
        const theirs = { ...(await bookAt(height, coin, other)), epoch, seq: expect.any(Number) }
        expect(await bookAt(height, coin)).toEqual(theirs)
      }
    expect(JSON.stringify(await bookAt(archivedTo + 1))).toContain(`changes of block ${archivedTo + 1} are unknown`)
    await until(async () => (await tids()).some((tid) => wanted.includes(tid)), 'no file has the rows', WAIT)
    const sorted = (list: readonly number[]) => list.toSorted((a, b) => a - b)
    expect(sorted((await tids()).filter((tid) => wanted.includes(tid)))).toEqual(sorted(wanted))

    // Candles of whole minutes up to the one after the gap equal the exchange's.
    const { from } = await world.ask<{ from: { time: number } }>('GET', '/history/backfill')
    const minutes = { startTime: from.time, endTime: range.endTime + 60_000 }
    const candles = { type: 'candleSnapshot', req: { coin: 'BTC', interval: '1m', ...minutes } }
    const isWhole = ({ t }: { t: number }) => t > from.time && t <= minutes.endTime
    const ofNode = async () => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`${node}/info`, { method: 'POST', body: JSON.stringify(candles), headers })
      return ((await answer.json()) as { t: number }[]).filter(isWhole)
    }
    const areEqual = async () => {
      const own = (await list<{ t: number }>(candles)).filter(isWhole)
      const others = await ofNode()
      return others.length > 0 && JSON.stringify(own) === JSON.stringify(others)
    }
    await until(areEqual, 'candles differ', WAIT)

    // So do those of a pipeline, which omitted the ones that touch the gap.
    for (const state of ['paused', 'running']) await platform('PUT', `${candlePipeline}/`, { status: state })
    const own = () =>
      deliveredCandles
        .filter(({ coin, time }) => coin === 'BTC' && time > from.time && time <= minutes.endTime)
        .sort((a, b) => a.time - b.time)
    const shown = () =>
      own().map(({ coin: s, time: t, open: o, close: c, high: h, low: l, volume: v, trades: n }) => {
        return { t, T: t + 59_999, s, i: '1m', o, c, h, l, v, n }
      })
    const hasAll = async () => JSON.stringify(shown()) === JSON.stringify(await ofNode())
    await until(hasAll, 'candles of the pipeline differ', WAIT)
    expect(own().some(({ _repaired }) => _repaired)).toBe(true)
    expect(new Set(own().map(({ _key }) => _key)).size).toBe(own().length)

    // The pipeline is offered what it missed, once, and marked.
    for (const state of ['paused', 'running']) await platform('PUT', `${pipeline}/`, { status: state })
    await until(
      () => delivered.filter(({ _repaired }) => _repaired).length >= lost.length,
      'the pipeline gets no rows',
      WAIT,
    )
    const late = delivered.filter(({ _repaired }) => _repaired)
    expect(late.map(({ _height, user: owner, tid }) => [_height, owner, tid])).toEqual(
      lost.map(({ height, fill: [owner, { tid }] }) => [height, owner, tid]),
    )
  },
  TIMEOUT_MS,
)
