// A pipeline into a table of PostgreSQL, and one to a webhook that loses answers, while the gateway, workerd and the destination
// are killed: every row there, once by its key, and in order.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Block, UserFill } from '../../src/feed/block.ts'
import { DEFAULTS, type Pipeline } from '../../src/pipeline/pipeline.ts'
import { EXAMPLE_FILL } from '../../src/stream/events/fill-view.ts'
import { PASSWORD, type PostgresServer, startPostgres } from './destinations/postgres-server.ts'
import { buildPlant, Feeder, Plant } from './plant/plant.node.ts'

export interface KillsOrder {
  readonly kills: number
  readonly seed: number
  readonly hasPostgres: boolean
  say(line: string): void
}

const FIRST = 1_000
/** Times run ahead, so that minutes end and are archived, and the log lets go of what is older than five of them. */
const BLOCK_MS = 500
const BLOCKS_A_TICK = 25
const TICK_MS = 250
const BEGUN_MS = Date.UTC(2026, 10, 1)
const PATIENCE_MS = 240_000

function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

/** One fill in each block but every fourth, two in every fifth. */
function blockOf(height: number): Block {
  const time = BEGUN_MS + (height - FIRST) * BLOCK_MS
  const count = height % 4 === 0 ? 0 : height % 5 === 0 ? 2 : 1
  const fills = Array.from({ length: count }, (_, at): UserFill => {
    return [EXAMPLE_FILL[0], { ...EXAMPLE_FILL[1], tid: height * 10 + at, time }]
  })
  const books = [{ coin: 'BTC', levels: [[{ px: '1', sz: `${height}`, n: 1 }], []] as [never[], never[]] }]
  return { height, time, fills, ledger: [], funding: [], books } as Block
}

const tidsTo = (head: number) =>
  Array.from({ length: head - FIRST }, (_, at) => blockOf(FIRST + 1 + at)).flatMap(({ fills }) =>
    fills.map(([, { tid }]) => tid),
  )

const pipeline = (id: string, config: Pipeline['destination_config']): Pipeline => ({
  ...DEFAULTS,
  ...{
    id,
    account: 'a',
    revision: 1,
    created_at: '',
    updated_at: '',
    name: id,
    topic: 'fills',
    abi_contract_addresses: [],
  },
  ...{ execution_start_from: String(FIRST + 1), destination_type: config.type, destination_config: config },
})

/** Answers after how many kills of what; throws where a row is missing, twice there, or out of order. */
export async function killsRun({ kills, seed, hasPostgres, say }: KillsOrder): Promise<Record<string, number>> {
  await buildPlant()
  const draw = random(seed)
  const folder = mkdtempSync(join(tmpdir(), 'weir-kills-'))
  const webhook = await startWebhook(draw)
  const postgres = hasPostgres ? await startPostgres() : null
  // Below those that the system gives to whoever dials.
  const plant = new Plant(folder, 20_000 + (process.pid % 12_000))
  const struck: Record<string, number> = { workerd: 0, gateway: 0, destination: 0 }
  let feeder: Feeder | null = null
  try {
    postgres?.query(
      'CREATE TABLE fills (_key text PRIMARY KEY, _kind text, _height bigint, tid bigint, came bigserial)',
    )
    await plant.start()
    feeder = new Feeder(plant.url, FIRST, blockOf)
    const secret = `whsec_${btoa('0123456789abcdef0123456789abcdef')}`
    const transforms = { out: 'SELECT _key, _height, _time, tid FROM fills' }
    await plant.apply({ ...pipeline('pipe_hook', { type: 'webhook', url: webhook.url, secret }), transforms })
    const { port = 0 } = postgres ?? {}
    const table = { type: 'postgres', user: 'weir', password: PASSWORD, database: 'postgres', table: 'fills' } as const
    if (postgres) await plant.apply(pipeline('pipe_table', { ...table, url: `postgres://127.0.0.1:${port}` }))
    let head = FIRST + 150
    feeder.advance(head)
    await archived(plant)
    for (let done = 0; done < kills; ) {
      for (let ticks = 4 + Math.floor(draw() * 28); ticks > 0; ticks--) {
        head += BLOCKS_A_TICK
        feeder.advance(head)
        await sleep(TICK_MS)
      }
      const what = await strike(draw(), plant, postgres, webhook)
      if (what === null) continue
      struck[what]!++
      done++
      say(`kill ${done} of ${kills}: ${what}, at block ${head}`)
    }
    if (plant.isOver) await plant.start()
    const ids = ['pipe_hook', ...(postgres ? ['pipe_table'] : [])]
    await arrived(plant, ids, head)
    const tids = tidsTo(head)
    if (webhook.notes().length > 0) throw new Error(`webhook: told of ${JSON.stringify(webhook.notes())}`)
    compare('webhook', webhook.tids(), tids)
    if (postgres) {
      const rows = postgres.query(`SELECT tid FROM fills WHERE _kind = 'row' ORDER BY came`).map(Number)
      compare('table', rows, tids)
      const others = postgres.query(`SELECT _key FROM fills WHERE _kind = 'gap'`)
      if (others.length > 0) throw new Error(`gaps were told: ${others.join()}`)
    }
    return { ...struck, rows: tids.length, ...webhook.counts() }
  } finally {
    feeder?.end()
    await plant.end()
    await postgres?.remove()
    webhook.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function strike(
  at: number,
  plant: Plant,
  postgres: PostgresServer | null,
  webhook: Hook,
): Promise<string | null> {
  if (plant.isOver) await plant.start()
  // Killed as it starts, it is not started again.
  if (at < 0.5) return (await answers(plant.url)) && plant.killWorkerd() ? 'workerd' : null
  if (at < 0.7) {
    await plant.end()
    await plant.start()
    return 'gateway'
  }
  webhook.fail(1)
  if (postgres) {
    await postgres.kill()
    await sleep(1_000)
    await postgres.start()
  }
  return 'destination'
}

const answers = (url: string) =>
  fetch(`${url}/status`).then(
    ({ ok }) => ok,
    () => false,
  )

/**
 * The log keeps what is to be archived from when it has heard of an archive. Times run ahead here: what a destination does
 * not take within seconds would be older than the log's window before that, and be told as a gap.
 */
async function archived(plant: Plant): Promise<void> {
  for (const untilMs = Date.now() + PATIENCE_MS; ; await sleep(200)) {
    const status = (await (await fetch(`${plant.url}/status`)).json()) as { archive: { height: number | null } | null }
    if (status.archive?.height) return
    if (Date.now() > untilMs) throw new Error(`nothing is archived: ${JSON.stringify(status.archive)}`)
  }
}

async function arrived(plant: Plant, ids: readonly string[], head: number): Promise<void> {
  const untilMs = Date.now() + PATIENCE_MS
  for (const id of ids)
    for (;;) {
      const status = await plant.status(id)
      if (status.height !== null && status.height >= head) break
      if (Date.now() > untilMs) throw new Error(`${id} stands still: ${JSON.stringify(status)}`)
      await sleep(200)
    }
}

function compare(where: string, found: readonly number[], expected: readonly number[]): void {
  const missing = expected.filter((tid) => !found.includes(tid))
  if (missing.length > 0) throw new Error(`${where}: ${missing.length} rows are missing: ${missing.slice(0, 9).join()}`)
  if (found.length !== expected.length) throw new Error(`${where}: ${found.length} rows in place of ${expected.length}`)
  const wrong = found.findIndex((tid, at) => at > 0 && tid <= found[at - 1]!)
  if (wrong >= 0) throw new Error(`${where}: row ${found[wrong]} came too late`)
}

interface Hook {
  readonly url: string
  /** The next so many requests fail. */
  fail(count: number): void
  /** In the order in which they first came. */
  tids(): number[]
  /** What was not known, as it was told. */
  notes(): object[]
  /** Batches, those that came again, and answers that were lost. */
  counts(): Record<string, number>
  close(): void
}

/** Takes everything; every tenth answer is lost, after it has taken the batch. */
async function startWebhook(draw: () => number): Promise<Hook> {
  const rows = new Map<string, number>()
  const ids = new Set<string>()
  const notes: object[] = []
  let [failing, repeats, lost] = [0, 0, 0]
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request)
    // Killed as it sent.
    if (body === null) return
    if (failing > 0 && failing--) return response.writeHead(503, { 'retry-after': '0' }).end()
    const batch = JSON.parse(body) as {
      id: string
      rows: { _kind: string; _key: string; tid: number }[]
    }
    if (ids.has(batch.id)) repeats++
    ids.add(batch.id)
    notes.push(...batch.rows.filter(({ _kind }) => _kind === 'gap'))
    for (const { _kind, _key, tid } of batch.rows) if (_kind === 'row' && !rows.has(_key)) rows.set(_key, tid)
    if (draw() < 0.1) {
      lost++
      return request.socket.destroy()
    }
    response.end('ok')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    fail: (count) => {
      failing = count
    },
    tids: () => [...rows.values()],
    notes: () => notes,
    counts: () => ({ batches: ids.size, repeats, lost }),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const pieces: Buffer[] = []
  try {
    for await (const piece of request) pieces.push(piece)
  } catch {
    return null
  }
  return Buffer.concat(pieces).toString()
}
