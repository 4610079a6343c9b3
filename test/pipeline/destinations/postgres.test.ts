// A real PostgreSQL, where the machine has one: each way to log in, with and without TLS, and what is there already.

import { connect as connectTcp } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Batch } from '../../../src/pipeline/batch.ts'
import { Egress } from '../../../src/pipeline/destinations/egress.client.ts'
import { type Connect, sendToPostgres, type Wire } from '../../../src/pipeline/destinations/postgres.client.ts'
import { framesOf, statement } from '../../../src/pipeline/destinations/postgres-wire.ts'
import { gapRow, keyedRows } from '../../../src/pipeline/topics/topic.ts'
import { hasPostgres, PASSWORD, type PostgresServer, startPostgres } from './postgres-server.ts'

if (!hasPostgres) console.log("PostgreSQL is skipped: Debian's package postgresql is not installed")

/** In the place of the platform's sockets: nothing is read that nobody asks for, for it may be of TLS. */
function wireOf(socket: Duplex): Wire {
  const pull = async (into: ReadableStreamDefaultController<Uint8Array>) => {
    for (;;) {
      const piece = socket.read() as Buffer | null
      if (piece) return into.enqueue(new Uint8Array(piece))
      if (socket.errored) throw socket.errored
      if (socket.readableEnded || socket.destroyed) return into.close()
      await new Promise<void>((done) => {
        for (const event of ['readable', 'end', 'close', 'error']) socket.once(event, () => done())
      })
    }
  }
  const write = (bytes: Uint8Array) => new Promise<void>((done) => socket.write(bytes, () => done()))
  return {
    readable: new ReadableStream({ pull }, { highWaterMark: 0 }),
    writable: new WritableStream({ write }),
    startTls: () => wireOf(connectTls({ socket: socket as never, rejectUnauthorized: false })),
    close: async () => void socket.destroy(),
  }
}
const connect: Connect = ({ hostname, port }) => wireOf(connectTcp(port, hostname).on('error', () => undefined))

const COLUMNS =
  '_kind text, _key text PRIMARY KEY, _height bigint, _time bigint, coin text, px numeric, crossed boolean, other jsonb, "odd ""name" text'
const open = new Egress(true, 'https://resolver.example/')
const rows = [
  gapRow(1, 2, 140, 'lost'),
  ...keyedRows({ height: 7, time: 490 }, [
    ['a', { coin: `it's \\u0000 \u0000 "x" — ü`, px: '1.50', crossed: true, other: { b: [1] }, nowhere: 5 }],
    ['b', { coin: 'ETH', px: null, crossed: false, other: null }],
  ]),
]
const batchOf = (own: Batch['rows']): Batch => ({
  ...{ id: 'pipe_a:1-7', pipeline: 'pipe_a', topic: 'fills', from: 1, to: 7, rows: own, columns: null },
  texts: own.map((row) => JSON.stringify(row)),
})
const send = (server: PostgresServer, over: object = {}, isPlainAllowed = true, own = rows as Batch['rows']) => {
  const url = `postgres://127.0.0.1:${server.port}`
  const config = {
    type: 'postgres',
    url,
    user: 'weir',
    password: PASSWORD,
    database: 'postgres',
    table: 'fills',
    ...over,
  } as const
  return sendToPostgres(config, batchOf(own), open, connect, isPlainAllowed)
}

describe.skipIf(!hasPostgres)('a table of PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
    server.query(`CREATE TABLE fills (${COLUMNS})`)
  }, 60_000)
  afterAll(() => server.remove())

  it('takes a batch once, however often it comes, in the columns that it has', async () => {
    for (const _ of [1, 2]) expect(await send(server)).toMatchObject({ ok: true })
    expect(
      server.query('SELECT _kind, _key, _height, _time, coin, px, crossed, other FROM fills ORDER BY _key'),
    ).toEqual([
      `row|7:a|7|490|it's \\u0000  "x" — ü|1.50|t|{"b": [1]}`,
      'row|7:b|7|490|ETH||f|',
      'gap|gap:1-2|2|140||||',
    ])
  })

  it('takes as many rows as a batch has', async () => {
    const many = keyedRows(
      { height: 8, time: 560 },
      Array.from({ length: 6_000 }, (_, at) => [`${at}`, { coin: 'x'.repeat(700), px: `${at}` }]),
    )
    expect(await send(server, {}, true, many)).toMatchObject({ ok: true })
    expect(server.query('SELECT count(*), sum(px) FROM fills WHERE _height = 8')).toEqual(['6000|17997000'])
  })

  it.each([
    [{ password: 'wrong' }, /^the server refused: password authentication failed .*\(28P01\)$/],
    [{ table: 'nothing' }, /^there is no table "nothing"$/],
    [{ database: 'nowhere' }, /does not exist \(3D000\)$/],
    [{ url: 'postgres://127.0.0.1:1' }, /^connect/],
    [{ table: 'keyless' }, /^"keyless" has no column "_key": add it, with a unique index$/],
    [{ table: 'narrow' }, /^the server refused: invalid input syntax for type integer/],
  ])('that cannot take it says why: %j', async (over, words) => {
    server.query(
      'CREATE TABLE IF NOT EXISTS keyless (coin text); CREATE TABLE IF NOT EXISTS narrow (_key text PRIMARY KEY, coin int)',
    )
    expect(await send(server, over)).toEqual({ ok: false, words: expect.stringMatching(words) })
  })

  it('is not spoken to without TLS, unless the operator allows it', async () => {
    expect(await send(server, {}, false)).toEqual({ ok: false, words: 'the server has no TLS' })
  })
})

it.skipIf(!hasPostgres)('a server with TLS takes it, too', { timeout: 60_000 }, async () => {
  const server = await startPostgres(true)
  try {
    server.query(`CREATE SCHEMA s; CREATE TABLE s.fills (${COLUMNS})`)
    expect(await send(server, { table: 's.fills' }, false)).toMatchObject({ ok: true })
    expect(server.query('SELECT count(*) FROM s.fills')).toEqual(['3'])
  } finally {
    await server.remove()
  }
})

it('a server that neither answers nor lets go has failed after its time', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const never = () => new Promise<void>(() => undefined)
  const dead = (): Wire => ({
    readable: new ReadableStream({ pull: never, cancel: never }),
    writable: new WritableStream({ write: never, abort: never }),
    startTls: dead,
    close: never,
  })
  try {
    const config = { type: 'postgres', url: 'postgres://127.0.0.1', user: 'u', password: 'p', database: 'd' } as const
    const sent = sendToPostgres({ ...config, table: 'fills' }, batchOf(rows), open, dead, true)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await sent).toEqual({ ok: false, words: 'no answer within 30 s' })
  } finally {
    vi.useRealTimers()
  }
})

describe('frames', () => {
  it('are read in whatever pieces they come', () => {
    const bytes = statement('SELECT $1', ['ü'])
    for (let cut = 0; cut <= bytes.length; cut++) {
      const first = framesOf(bytes.subarray(0, cut))
      const rest = framesOf(Uint8Array.from([...first.rest, ...bytes.subarray(cut)]))
      expect([...first.frames, ...rest.frames].map(({ type }) => type)).toEqual(['P', 'B', 'E', 'S'])
    }
  })

  it('of a server that is another one are an error', () => {
    expect(() => framesOf(new TextEncoder().encode('HTTP/1.1 400 Bad Request'))).toThrow(
      'the server speaks no PostgreSQL',
    )
  })
})
