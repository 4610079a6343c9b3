// The destinations of the run's pipelines, the faults that affect each, and the rows that each has at the end.

import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pipeline } from '../../../src/pipelines/pipeline.ts'
import type { IssuedKey } from '../../kit/gateway.ts'
import { startServer } from '../../kit/http-server.ts'
import * as clickhouse from '../destinations/clickhouse-server.ts'
import * as postgres from '../destinations/postgres-server.ts'
import { type Plant, pipelineOf } from '../plant/plant.node.ts'
import { FIRST } from './chain.ts'

interface Found {
  readonly _kind: string
  readonly _key: string
  readonly tid: number
}

export interface Destination {
  readonly id: string
  /** What its record has beside what all have. */
  readonly record: Partial<Pipeline> & Pick<Pipeline, 'destination_config'>
  /** Once by their keys, in order as far as it knows one. */
  rows(): Promise<readonly Found[]>
  /** How many of them came more than once, where it knows. */
  rowsAgain?(): number
}

export interface Destinations {
  readonly all: readonly Destination[]
  /** As if their machines had gone, and come again. */
  strike(): Promise<void>
  /** Batches of the webhook, and rows that came again to a table. */
  counts(): Record<string, number>
  end(): Promise<void>
}

const WANTED = '_key, _kind, _height, _time'
const URL_SECRET = `whsec_${btoa('0123456789abcdef0123456789abcdef')}`

export const recordOf = ({ id, record }: Destination, owner: Pick<IssuedKey, 'account' | 'hash'>): Pipeline =>
  pipelineOf(owner, id, { execution_start_from: String(FIRST + 1), ...record })

/** A webhook of two pipelines, objects, and tables of what servers there are. */
export async function startDestinations(plant: Plant, draw: () => number): Promise<Destinations> {
  const hook = await startWebhook(draw)
  const toHook = { type: 'webhook', url: hook.url, secret: URL_SECRET } as const
  const hooked = (id: string, record: Partial<Pipeline>): Destination => {
    return { id, record: { destination_config: toHook, ...record }, rows: async () => hook.rows(id) }
  }
  const tables = await Promise.all([
    ...(postgres.hasPostgres ? [postgresTable()] : []),
    ...(clickhouse.hasClickHouse ? [clickhouseTable()] : []),
  ])
  return {
    all: [
      hooked('pipe_hook', { transforms: { out: `SELECT ${WANTED}, tid FROM fills` } }),
      hooked('pipe_logs', {
        topic: 'evm_logs',
        execution_start_from: '1',
        transforms: { out: `SELECT ${WANTED}, _height AS tid FROM evm_logs` },
      }),
      objects(plant),
      ...tables,
    ],
    strike: async () => {
      hook.fail(1)
      await Promise.all(tables.map(({ kill }) => kill()))
      if (tables.length > 0) await sleep(1_000)
      await Promise.all(tables.map(({ start }) => start()))
    },
    counts: () => {
      const rowsAgain = tables.reduce((sum, table) => sum + (table.rowsAgain?.() ?? 0), 0)
      return { ...hook.counts(), rowsAgain }
    },
    end: async () => {
      hook.close()
      await Promise.all(tables.map(({ remove }) => remove()))
    },
  }
}

type Table = Destination & Pick<postgres.PostgresServer, 'kill' | 'start' | 'remove'>

async function postgresTable(): Promise<Table> {
  const { port, query, kill, start, remove } = await postgres.startPostgres()
  query('CREATE TABLE fills (_key text PRIMARY KEY, _kind text, tid bigint, came bigserial)')
  const access = { user: 'weir', password: postgres.PASSWORD, database: 'postgres', table: 'fills' }
  return {
    kill,
    start,
    remove,
    id: 'pipe_postgres',
    record: { destination_config: { type: 'postgres', url: `postgres://127.0.0.1:${port}`, ...access } },
    rows: async () => read(query(`SELECT row_to_json(fills) FROM fills ORDER BY came`)),
    // A row that is there takes a number of the sequence, too.
    rowsAgain: () => Number(query('SELECT (SELECT last_value FROM fills_came_seq) - count(*) FROM fills')[0]),
  }
}

/** Which has no order of its own. */
async function clickhouseTable(): Promise<Table> {
  const { url, query, kill, start, remove } = await clickhouse.startClickHouse()
  await query('CREATE TABLE fills (_key String, _kind String, tid UInt64) ENGINE = ReplacingMergeTree ORDER BY _key')
  const access = { user: clickhouse.USER, password: clickhouse.PASSWORD, database: 'default', table: 'fills' }
  return {
    kill,
    start,
    remove,
    id: 'pipe_clickhouse',
    record: { destination_config: { type: 'clickhouse', url, ...access } },
    rows: async () => read(await query('SELECT * FROM fills FINAL ORDER BY tid FORMAT JSONEachRow')),
  }
}

/** A batch that came again is the object that was there, unless its pipeline was told of an end meanwhile. */
function objects(plant: Plant): Destination {
  const id = 'pipe_objects'
  return {
    id,
    record: { destination_config: { type: 'r2', prefix: 'kills/', format: 'ndjson' } },
    rows: async () => {
      const texts = await plant.objects(`pipelines/rows/kills/${id}/`)
      const rows = read(texts.flatMap((text) => text.split('\n')))
      return [...new Map(rows.map((row) => [row._key, row])).values()]
    },
  }
}

/** ClickHouse writes large numbers as texts. */
function read(lines: readonly string[]): Found[] {
  const rows = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Found)
  return rows.map((row) => ({ ...row, tid: Number(row.tid) }))
}

/** A receiver of batches that is slow, and loses answers: what it was told, once by its key. */
interface Hook {
  readonly url: string
  /** The next so many requests fail. */
  fail(count: number): void
  /** Rows of a pipeline, in the order in which they first came. */
  rows(pipeline: string): Found[]
  /** Batches, those that came again, and answers that were lost. */
  counts(): Record<string, number>
  close(): void
}

/** So long an answer takes at most: kills strike between what it has taken and what is known of it. */
const SLOW_MS = 400

interface Sent {
  readonly id: string
  readonly pipeline: string
  readonly rows: readonly Found[]
}

/** Takes everything; every tenth answer is lost, after it has taken the batch. */
async function startWebhook(draw: () => number): Promise<Hook> {
  const rows = new Map<string, Map<string, Found>>()
  const ids = new Set<string>()
  let failing = 0
  let repeats = 0
  let lost = 0
  const server = await startServer(async (request, response) => {
    const body = await text(request).catch(() => null)
    // Killed as it sent.
    if (body === null) return
    if (failing > 0 && failing--) return response.writeHead(503, { 'retry-after': '0' }).end()
    const batch = JSON.parse(body) as Sent
    if (ids.has(batch.id)) repeats++
    ids.add(batch.id)
    const known = rows.get(batch.pipeline) ?? new Map<string, Found>()
    rows.set(batch.pipeline, known)
    for (const row of batch.rows) if (!known.has(row._key)) known.set(row._key, row)
    await sleep(draw() * SLOW_MS)
    if (draw() < 0.1) {
      lost++
      return request.socket.destroy()
    }
    response.end('ok')
  })
  return {
    url: `${server.url}/`,
    fail: (count) => {
      failing = count
    },
    rows: (pipeline) => [...(rows.get(pipeline)?.values() ?? [])],
    counts: () => ({ batches: ids.size, repeats, lost }),
    close: server.close,
  }
}
