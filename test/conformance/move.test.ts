// A gateway on one machine that moves to another one: its accounts, keys, plans, pipelines and archive.

import { execFile } from 'node:child_process'
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type HttpServer, startServer } from '../kit/http-server.ts'
import { lastingPort, MAIN, type Program, scratch } from '../kit/program.ts'
import {
  admin,
  type Devnet,
  paidCall,
  type Served,
  type ServeSecrets,
  secretsOf,
  startDevnet,
  startFeeder,
  startServe,
  statusOf,
  untilLive,
} from '../kit/served.ts'
import { until } from '../kit/until.ts'

const folder = scratch()
const place = (name: string) => join(folder.path, name)
const moved = place('moved')
const port = lastingPort()
let devnet: Devnet
let receiver: HttpServer
const feeders: Program[] = []
let from: Served | undefined
let to: Served | undefined
let secrets: ServeSecrets & { readonly KEY_SECRET: string }
let key = ''
let serviceKey = ''

interface Delivery {
  readonly from: number
  readonly to: number
  readonly rows: readonly { readonly tid: number }[]
}
const deliveries: Delivery[] = []

/** A gateway with its feeder, on its own folder. */
async function start(name: string, at: number, env: Record<string, string> = {}): Promise<Served> {
  const served = await startServe(place(name), at, { node: devnet.url, env: { PIPELINE_PRIVATE: 'on', ...env } })
  feeders.push(startFeeder(place(`${name}-feeder`), devnet, served.url, secretsOf(place(name)).FEED_TOKEN))
  await untilLive(served.url)
  return served
}

beforeAll(async () => {
  devnet = await startDevnet(folder.path)
  receiver = await startServer(async (request, response) => {
    // A gateway that ends aborts its request.
    const body = await text(request).catch(() => null)
    if (body !== null) deliveries.push(JSON.parse(body) as Delivery)
    response.end()
  })
  from = await start('from', port)
  secrets = secretsOf(place('from')) as typeof secrets
}, 120_000)
afterAll(async () => {
  await Promise.all([...feeders, from?.process, to?.process, devnet?.process].map((one) => one?.end()))
  receiver?.close()
  folder.remove()
})

/** Runs `weir` to its end, in the folder of a deployment. */
function weir(...args: readonly string[]): Promise<{ readonly code: number; readonly said: string }> {
  return new Promise((resolve) =>
    execFile(process.execPath, [MAIN, ...args], { cwd: folder.path }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), said: stdout + stderr }),
    ),
  )
}

async function ask<T>(url: string, path: string, token: string, method = 'GET', body?: object): Promise<T> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  expect([path, response.status, response.ok ? '' : await response.text()]).toEqual([path, expect.any(Number), ''])
  return (await response.json()) as T
}

/** Trades of these blocks, as the node wrote them. */
function tradesBetween(first: number, last: number): number[] {
  return globSync('node_fills_by_block/hourly/*/*', { cwd: devnet.data })
    .flatMap((path) => readFileSync(join(devnet.data, path), 'utf8').split('\n').filter(Boolean))
    .map((line) => JSON.parse(line) as { block_number: number; events: [string, { tid: number }][] })
    .filter(({ block_number: height }) => height >= first && height <= last)
    .flatMap(({ events }) => events.map(([, { tid }]) => tid))
}

interface Account {
  readonly plan: string
  readonly balance: string
}
interface ArchiveState {
  readonly from: { readonly height: number } | null
  readonly before: { readonly height: number } | null
}

it('exports from a gateway that serves, and names what it left out', { timeout: 300_000 }, async () => {
  const { url } = from as Served
  const token = secrets.ADMIN_TOKEN
  await ask(url, '/admin/plans/special', token, 'PUT', {
    credits: '5000',
    period: 'month',
    rest_requests_per_second: 7,
  })
  await ask(url, '/admin/accounts/acme', token, 'PUT', { plan: 'special' })
  await ask(url, '/admin/accounts/acme/grants', token, 'POST', { credits: '100000', idempotency_key: 'first' })
  key = (await ask<{ key: string }>(url, '/admin/keys', token, 'POST', { account: 'acme' })).key
  const service = { account: 'acme', kind: 'service' }
  serviceKey = (await ask<{ key: string }>(url, '/admin/keys', token, 'POST', service)).key
  expect((await paidCall(url, key)).status).toBe(200)
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  await ask(url, '/platform/pipeline-api/', serviceKey, 'POST', {
    name: 'moves',
    topic: 'fills',
    destination_config: { type: 'webhook', url: receiver.url, secret },
    execution_start_from: 'earliest',
  })
  await until(() => deliveries.length > 2, 'nothing was delivered', { withinMs: 60_000 })
  await until(async () => (await archiveOf(url, secrets)).before !== null, 'no archive', { withinMs: 100_000 })
  to = await start('to', port + 1, { KEY_SECRET: secrets.KEY_SECRET })
  const { height } = await statusOf(to.url)
  const plain = await weir('export', moved, '--state', place('from'), '--no-archive')
  expect(plain).toEqual({ code: 0, said: expect.stringMatching(/1 accounts, 1 pipelines and 0 objects/) })
  // It has archived blocks that the other one receives too.
  const isJoined = async () => ((await archiveOf(url, secrets)).before?.height ?? 0) > (height ?? 0)
  await until(isJoined, 'the archive does not grow', { withinMs: 100_000 })
  const stopped = await weir('export', moved, '--state', place('from'), '--stop')
  expect(stopped).toEqual({ code: 0, said: expect.stringMatching(/1 accounts, 1 pipelines and [1-9]\d* objects/) })
})

const archiveOf = (url: string, of: ServeSecrets) => admin<ArchiveState>(url, of, '/history/backfill')

it('continues on the other gateway, without a lost or doubled row', { timeout: 240_000 }, async () => {
  const source = from as Served
  const { url } = to as Served
  const own = secretsOf(place('to'))
  await until(async () => (await archiveOf(url, own)).before !== null, 'no archive', { withinMs: 100_000 })
  const before = deliveries.length
  const imported = await weir('import', moved, '--state', place('to'))
  expect(imported).toEqual({
    code: 0,
    said: expect.stringMatching(/imported 1 accounts\nArchived .*\nimported 1 pipelines/),
  })
  await until(() => deliveries.length > before + 2, 'the pipeline did not continue', { withinMs: 60_000 })

  expect((await paidCall(url, key)).status).toBe(200)
  expect(await admin(url, own, '/plans')).toMatchObject({
    plans: expect.arrayContaining([expect.objectContaining({ name: 'special', rest_requests_per_second: 7 })]),
  })
  const [old, now] = await Promise.all([
    admin<Account>(source.url, secrets, '/accounts/acme'),
    admin<Account>(url, own, '/accounts/acme'),
  ])
  expect(now.plan).toBe('special')
  // What isolates had spent and not reported at the export stays with the old gateway.
  expect(Math.abs(Number(now.balance) - Number(old.balance))).toBeLessThan(5)
  const archived = (await archiveOf(source.url, secrets)).from
  expect((await archiveOf(url, own)).from?.height).toBe(archived?.height)

  writeFileSync(place('.secrets.json'), JSON.stringify({ WEIR_URL: url, ADMIN_TOKEN: own.ADMIN_TOKEN }))
  const again = await weir('import', moved, '--remote')
  expect(again).toEqual({ code: 0, said: expect.stringMatching(/all plans are as exported/) })
  const ranges = deliveries.map(({ from, to }) => ({ from, to }))
  expect(ranges.every(({ from }, at) => at === 0 || from > (ranges[at - 1]?.to ?? 0))).toBe(true)
  const tids = deliveries.flatMap(({ rows }) => rows.map(({ tid }) => tid))
  expect(tids.sort()).toEqual(tradesBetween(ranges[0]?.from ?? 0, ranges.at(-1)?.to ?? 0).sort())
})

function spoilManifest(path: string, by: object): void {
  const manifest = JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8')) as object
  writeFileSync(join(path, 'manifest.json'), JSON.stringify({ ...manifest, ...by }))
}

it.each<[string, (folder: string) => void, RegExp]>([
  ['half-written', (path) => rmSync(join(path, 'manifest.json')), /has no complete manifest\.json/],
  [
    'of another KEY_SECRET',
    (path) => spoilManifest(path, { keySecretHash: 'a1'.repeat(32) }),
    /KEY_SECRET of .* Nothing was imported/,
  ],
  ['damaged', (path) => writeFileSync(join(path, 'accounts.jsonl'), '{}\n'), /accounts\.jsonl is not the file/],
  ['newer', (path) => spoilManifest(path, { version: '99.0.0' }), /made by Weir 99\.0\.0/],
])('refuses an export that is %s', async (_, spoil, words) => {
  const spoiled = place('spoiled')
  rmSync(spoiled, { recursive: true, force: true })
  cpSync(moved, spoiled, { recursive: true })
  spoil(spoiled)
  expect(await weir('import', spoiled, '--state', place('to'))).toEqual({ code: 1, said: expect.stringMatching(words) })
})

it('names what a folder without a deployment lacks', async () => {
  rmSync(place('.secrets.json'))
  const said = expect.stringMatching(/\.secrets\.json .* names no gateway\. Run "npx weir deploy" here, or pass --url/)
  expect(await weir('import', moved, '--remote')).toEqual({ code: 1, said })
})

it('starts the pipelines of the old gateway again', async () => {
  expect(await weir('export', moved, '--state', place('from'), '--resume')).toEqual({
    code: 0,
    said: 'Started 1 pipelines.\n',
  })
})
