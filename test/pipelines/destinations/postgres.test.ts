// A real PostgreSQL, where the machine has one: each way to log in, with and without TLS, and what is there already.

import { connect as connectTcp } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Batch } from '../../../src/pipelines/destinations/batch.ts'
import {
  type Connect,
  type PostgresServer as PostgresTarget,
  sendToPostgres,
  serverOf,
  type Wire,
} from '../../../src/pipelines/destinations/postgres.client.ts'
import { parseFrames, statement } from '../../../src/pipelines/destinations/postgres-wire.ts'
import { TOPIC_COLUMNS } from '../../../src/pipelines/topics/catalogue.ts'
import { gapRow, keyedRows } from '../../../src/pipelines/topics/topic.ts'
import { egressOf } from '../../core/egress-of.ts'
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
const open = egressOf({ PIPELINE_PRIVATE: true })
const rows = [
  gapRow(1, 2, 140, 'lost'),
  ...keyedRows({ height: 7, time: 490 }, [
    ['a', { coin: `it's \\u0000 \u0000 \ud800"x" — ü`, px: '1.50', crossed: true, other: { b: [1] }, nowhere: 5 }],
    ['b', { coin: 'ETH', px: null, crossed: false, other: null }],
  ]),
]
const batchOf = (own: Batch['rows']): Batch => ({
  id: 'pipe_a:1-7',
  pipeline: 'pipe_a',
  topic: 'fills',
  from: 1,
  to: 7,
  rows: own,
  columns: null,
  texts: own.map((row) => JSON.stringify(row)),
})
const SAMPLES = { text: '1.50', whole: 2 ** 53 - 1, time: 1_764_000_000_000, truth: true, json: [{ px: '1' }] }
type Over = { readonly table?: string; readonly create_table?: boolean } & object
const send = async (
  { port }: PostgresServer,
  over: Over = {},
  isPlainAllowed = true,
  own = rows as Batch['rows'],
  columns: Batch['columns'] = null,
) => {
  const access = { user: 'weir', password: PASSWORD, database: 'postgres', table: 'fills' } as const
  const config = { type: 'postgres', url: `postgres://127.0.0.1:${port}`, ...access, ...over } as const
  const found = await serverOf(config, open, connect, isPlainAllowed)
  return found.ok ? sendToPostgres(found.value, config.table, { ...batchOf(own), columns }, over.create_table) : found
}

describe.skipIf(!hasPostgres)('a table of PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
    server.query(`CREATE TABLE fills (${COLUMNS})`)
  })
  afterAll(() => server.remove())

  it('stores a batch once, however often it is sent, in the existing columns', async () => {
    for (const _ of [1, 2]) expect(await send(server)).toMatchObject({ ok: true })
    expect(
      server.query('SELECT _kind, _key, _height, _time, coin, px, crossed, other FROM fills ORDER BY _key'),
    ).toEqual([
      `row|7:a|7|490|it's \\u0000  �"x" — ü|1.50|t|{"b": [1]}`,
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
    [{ password: 'wrong' }, /\(28P01\)$/],
    [{ table: 'nothing' }, /"nothing".*"create_table".*the table: CREATE TABLE /],
    [{ database: 'nowhere' }, /does not exist \(3D000\)$/],
    [{ url: 'postgres://127.0.0.1:1' }, /could not be reached$/],
    [{ table: 'keyless' }, /"keyless".*"_key"/],
    [{ table: 'narrow' }, /invalid input syntax for type integer/],
  ])('that cannot take it says why: %j', async (over, words) => {
    server.query(
      'CREATE TABLE IF NOT EXISTS keyless (coin text); CREATE TABLE IF NOT EXISTS narrow (_key text PRIMARY KEY, coin int)',
    )
    expect(await send(server, over)).toEqual({ ok: false, message: expect.stringMatching(words) })
  })

  it.each([...TOPIC_COLUMNS])(
    'is created for rows of %s where that is wanted, and takes a batch once',
    async (topic, columns) => {
      const cells = Object.fromEntries(columns.map(({ name, type }) => [name, SAMPLES[type]]))
      const own = [gapRow(1, 2, 140, 'lost'), ...keyedRows({ height: 7, time: 490 }, [['a', cells]])]
      const over = { table: `made_${topic}`, create_table: true }
      for (const _ of [1, 2]) expect(await send(server, over, true, own, columns)).toMatchObject({ ok: true })
      expect(server.query(`SELECT count(*) FROM made_${topic}`)).toEqual(['2'])
    },
  )

  it('is created by the statement that the refusal names, and gains the columns that a transform selects', async () => {
    const own = (cells: object) => keyedRows({ height: 7, time: 490 }, [[JSON.stringify(cells), { ...cells }]])
    const refused = await send(server, { table: 'selected' }, true, own({ ntl: 1 }))
    server.query('message' in refused ? refused.message.split('the table: ')[1]! : '')
    expect(await send(server, { table: 'selected' }, true, own({ ntl: 1 }))).toMatchObject({ ok: true })
    const over = { table: 'selected', create_table: true }
    expect(await send(server, over, true, own({ ntl: 1.5, 'odd "name': 'x' }))).toMatchObject({ ok: true })
    expect(server.query('SELECT ntl, _height, "odd ""name" FROM selected ORDER BY ntl')).toEqual(['1|7|', '1.5|7|x'])
    const types =
      "SELECT data_type FROM information_schema.columns WHERE table_name = 'selected' AND column_name = '_height'"
    expect(server.query(types)).toEqual(['bigint'])
  })

  it('is not used without TLS unless the operator allows it', async () => {
    expect(await send(server, {}, false)).toEqual({ ok: false, message: expect.stringContaining('TLS') })
  })
})

it.skipIf(!hasPostgres)('a server with TLS takes it, too', { timeout: 60_000 }, async () => {
  const server = await startPostgres('localhost')
  try {
    server.query(`CREATE SCHEMA s; CREATE TABLE s.fills (${COLUMNS})`)
    expect(await send(server, { table: 's.fills' }, false)).toMatchObject({ ok: true })
    expect(server.query('SELECT count(*) FROM s.fills')).toEqual(['3'])
  } finally {
    await server.remove()
  }
})

const served = (wire: () => Wire, tls: PostgresTarget['tls'] = 'none'): PostgresTarget => ({
  user: 'u',
  password: 'hush',
  database: 'd',
  tls,
  open: wire,
})

it('a server that neither responds nor disconnects fails after the timeout', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const never = () => new Promise<void>(() => undefined)
  const dead = (): Wire => ({
    readable: new ReadableStream({ pull: never, cancel: never }),
    writable: new WritableStream({ write: never, abort: never }),
    startTls: dead,
    close: never,
  })
  try {
    const sent = sendToPostgres(served(dead), 'fills', batchOf(rows))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await sent).toEqual({ ok: false, message: expect.stringContaining('30 s') })
  } finally {
    vi.useRealTimers()
  }
})

/** Says what it is told to, in pieces, and remembers what it heard. */
function saying(pieces: () => Iterable<Uint8Array>) {
  const heard: number[] = []
  const wire = (): Wire => {
    const left = pieces()[Symbol.iterator]()
    const pull = (into: ReadableStreamDefaultController<Uint8Array>) => {
      const { value, done } = left.next()
      if (done) into.close()
      else into.enqueue(value)
    }
    return {
      readable: new ReadableStream({ pull }, { highWaterMark: 0 }),
      writable: new WritableStream({ write: (bytes: Uint8Array) => void heard.push(bytes.length) }),
      startTls: wire,
      close: async () => undefined,
    }
  }
  return { wire, heard }
}
const frame = (type: string, ...parts: readonly (string | number[])[]) => {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeUInt32BE(body.length + 4, 1)
  return new Uint8Array(Buffer.concat([head, body]))
}
const auth = (kind: number, text = '') => frame('R', [0, 0, 0, kind], text)
const ready = frame('Z', 'I')
const welcome = auth(0)
const hasKey = frame('D', [0, 1, 0, 0, 0, 4], '_key')
const empty = frame('D', [255, 255])
const scram = auth(10, 'SCRAM-SHA-256\0\0')
const UNPROVEN = /prove that it knows the password$/
const FOREIGN = /PostgreSQL protocol$/

describe('a server that means no good', () => {
  const told = async (pieces: () => Iterable<Uint8Array>) => {
    const { wire, heard } = saying(pieces)
    const outcome = await sendToPostgres(served(wire), 'fills', batchOf(rows))
    return { words: outcome.ok ? 'ok' : outcome.message, frames: heard.length }
  }
  function* repeated(piece: Uint8Array, before: readonly Uint8Array[] = []) {
    yield* before
    for (;;) yield piece
  }

  it('and says that all is well is believed: the server in these tests is one', async () => {
    const answers = [welcome, ready, hasKey, ready, frame('C', 'INSERT 0 2\0'), ready]
    expect((await told(() => answers)).words).toBe('ok')
    // In whatever pieces it comes.
    const bytes = answers.flatMap((answer) => [...answer])
    expect((await told(() => bytes.map((byte) => Uint8Array.of(byte)))).words).toBe('ok')
  })

  it.each([
    ['never stops talking', () => repeated(frame('N', 'x'.repeat(9_000)), [welcome]), /too much data$/],
    ['says one byte at a time', () => repeated(Uint8Array.of(1)), FOREIGN],
    ['announces more than it may say', () => [Uint8Array.of(82, 0, 1, 0, 1)], FOREIGN],
    ['announces less than nothing', () => [Uint8Array.of(82, 255, 255, 255, 255)], FOREIGN],
    [
      'has written nothing, and does not say so',
      () => [welcome, ready, hasKey, ready, ready],
      /did not confirm the insert$/,
    ],
    ['has rows without their cells', () => [welcome, ready, ...Array(2_000).fill(empty), ready], /does not exist/],
    ['lets in whoever did not prove the password', () => [scram, welcome], UNPROVEN],
    ['ends before the proof', () => [scram, auth(12, 'v=null'), welcome, ready], UNPROVEN],
    ['begins with the proof', () => [auth(12, 'v='), welcome, ready], UNPROVEN],
    ['asks for the password in clear once it has begun otherwise', () => [scram, auth(3)], UNPROVEN],
    ['asks again and again', () => repeated(auth(3)), UNPROVEN],
    ['wants what is not done', () => [auth(7)], /method 7 .*SCRAM-SHA-256$/],
    ['has no such mechanism', () => [auth(10, 'SCRAM-SHA-1\0\0')], /SCRAM-SHA-256$/],
    ['ends', () => [welcome], /closed the connection$/],
    ['speaks in colours', () => [frame('E', 'SERROR\0C42\0Mno\u001b[31m hush\0\0')], /no\\u001b\[31m \*{6} \(42\)$/],
  ] as const)('and %s has failed, in words', async (_, pieces, words) => {
    expect((await told(pieces)).words).toMatch(words)
  })

  it('gets no clear-text or MD5 password without TLS', async () => {
    for (const kind of [3, 5]) {
      const { wire, heard } = saying(() => [Uint8Array.of(78), auth(kind, 'salt')])
      const outcome = await sendToPostgres(served(wire, 'may'), 'fills', batchOf(rows))
      expect(outcome).toMatchObject({
        message: expect.stringContaining('SCRAM-SHA-256'),
      })
      // What asks for TLS, what begins, what ends.
      expect(heard).toEqual([8, expect.any(Number), 5])
    }
  })
})

it.each([
  ['postgres://DB.example.com:6000', { hostname: 'db.example.com', port: 6_000 }],
  ['postgres://dom\u00e4ne.example', { hostname: 'xn--domne-ira.example', port: 5_432 }],
  ['postgresql://[2606:4700::1111]:443', { hostname: '[2606:4700::1111]', port: 443 }],
  ['postgres://0x7f.1', 'the destination is a private address'],
  ['postgres://012.0.0.1', 'the destination is a private address'],
  ['postgres://2130706433', 'the destination is a private address'],
  ['postgres://[::ffff:10.0.0.1]', 'the destination is a private address'],
  ['postgres://[64:ff9b::a00:1]', 'the destination is a private address'],
  ['postgres://0.0.0.0', 'the destination is a private address'],
])('%s is connected to as it was checked', async (url, expected) => {
  const resolver = async () => Response.json({ Answer: [{ type: 1, data: '9.9.9.9' }] })
  const closed = egressOf({}, resolver)
  const config = { type: 'postgres', url, user: 'u', password: 'p', database: 'd', table: 'fills' } as const
  const places: object[] = []
  const dialled: Connect = (place) => {
    places.push(place)
    throw new Error('no network here')
  }
  const found = await serverOf(config, closed, dialled, false)
  if (!found.ok) return expect(found.error).toContain(expected as string)
  expect(() => found.value.open()).toThrow('no network here')
  expect(places).toEqual([expected])
  expect(found.value.tls).toBe('must')
})

describe('frames', () => {
  it('are parsed from chunks of any size', () => {
    const bytes = statement('SELECT $1', ['ü'])
    for (let cut = 0; cut <= bytes.length; cut++) {
      const first = parseFrames(bytes.subarray(0, cut))
      const rest = parseFrames(Uint8Array.from([...first.rest, ...bytes.subarray(cut)]))
      expect([...first.frames, ...rest.frames].map(({ type }) => type)).toEqual(['P', 'B', 'E', 'S'])
    }
  })

  it('of a server that is another one are an error', () => {
    expect(() => parseFrames(new TextEncoder().encode('HTTP/1.1 400 Bad Request'))).toThrow('PostgreSQL')
  })
})
