// A node that loses its files, over the built Workers: the log records a gap, `npm run repair` fills it from another node's
// files, and lists, candles, completed trades and a pipeline then have what the other node wrote.

import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { UserFill } from '../../src/protocol/feed/block.ts'
import { ADMIN_TOKEN, FEED_TOKEN, startWorld, type World } from '../kit/gateway.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'
import { type Program, run, scratch } from '../kit/program.ts'
import { until } from '../kit/until.ts'

const LOST_BLOCKS = 200
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
const delivered: DeliveredRow[] = []
const programs: Program[] = []
let world: World
let receiver: HttpServer
let key: string
let serviceKey: string
let node: string
let pipeline: string
let gap: Status['gaps'][number]

const status = () => world.status<Status>()
const feeder = () => {
  const args = ['--data', data, '--info', node, '--gateway', world.url, '--state', `${folder.path}/feeder`]
  const program = run('feeder/main.node.ts', args, { FEED_TOKEN })
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
      const height = Number(/"block_number":(\d+)/.exec(line.slice(0, 400))?.[1] ?? -1)
      return height < from || height > to
    })
    if (kept.length < lines.length) writeFileSync(path, kept.join('\n'))
  }
}

beforeAll(async () => {
  receiver = await startServer(async (request, response) => {
    delivered.push(...(JSON.parse(await text(request)) as { rows: DeliveredRow[] }).rows)
    response.end()
  })
  const devnet = run('devnet/main.node.ts', ['--data', data, '--port', '0', '--json'])
  programs.push(devnet)
  node = (JSON.parse(await devnet.line((line) => line.startsWith('{'))) as { url: string }).url
  // Without the exchange as a source, lists and candles come from the archive alone.
  world = await startWorld({ isArchived: true })
  key = await world.newKey('1000000')
  serviceKey = await world.newKey('1000000', { kind: 'service', plan: 'enterprise' })
  const first = feeder()
  await until(async () => ((await status()).height ?? 0) > 100, 'no blocks come', WAIT)
  const destination = {
    type: 'webhook',
    url: `${receiver.url}/`,
    secret: `whsec_${btoa('0123456789abcdef0123456789abcdef')}`,
  }
  const order = { name: 'n', topic: 'fills', destination_config: destination, execution_start_from: 'latest' }
  pipeline = (await platform('POST', '', order)).id
  await until(() => delivered.length > 0, 'no rows come', WAIT)
  await first.end()
  const last = (await status()).height!
  // The node writes on for a while, then loses what it wrote, except for the newest blocks.
  const newest = async () => ((await (await fetch(`${node}/books`)).json()) as { height: number }).height
  await until(async () => (await newest()) > last + LOST_BLOCKS + 20, 'the node stands still', WAIT)
  devnet.process.kill('SIGSTOP')
  cpSync(data, copy, { recursive: true })
  loseLines(last + 1, last + LOST_BLOCKS)
  devnet.process.kill('SIGCONT')
  feeder()
  await until(async () => (await status()).gaps.length > 0, 'no gap is recorded', WAIT)
  gap = (await status()).gaps[0]!
  const isArchived = async () => {
    const { gaps } = await world.ask<{ gaps: { from: number }[] }>('GET', '/history/backfill')
    return gaps.some(({ from }) => from === gap.from)
  }
  await until(isArchived, 'the gap is not archived', WAIT)
}, TIMEOUT_MS)

afterAll(async () => {
  for (const program of programs.toReversed()) await program.end('SIGKILL')
  await world?.stop()
  receiver?.close()
  folder.remove()
})

// Field test T1
it(
  'a gap is filled with the rows that another node has',
  async () => {
    expect(gap).toMatchObject({ repair: 'open', repairedFrom: [] })
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

    const args = ['--url', world.url, '--once', '--min-age', '0', `second=${copy}`]
    const repair = run('cli/repair.node.ts', args, { ADMIN_TOKEN })
    programs.push(repair)
    await until(() => repair.process.exitCode !== null, 'the repair does not end', WAIT)
    expect([repair.process.exitCode, repair.lines.at(-1)]).toEqual([
      0,
      `Repaired ${gap.to - gap.from + 1} blocks. Gaps: 0 open, 0 beyond repair.`,
    ])

    const isRepaired = async () => (await status()).gaps.find(({ from }) => from === gap.from)?.repair === 'repaired'
    await until(isRepaired, 'the status does not show the repair', WAIT)
    expect((await status()).gaps.find(({ from }) => from === gap.from)).toMatchObject({ repairedFrom: ['second'] })
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

    // The pipeline is offered what it missed, once, and marked.
    expect(delivered.filter(({ _repaired }) => _repaired)).toEqual([])
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
