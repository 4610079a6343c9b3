// A Worker with one fault per path, each of which works on a machine of one's own. The rehearsal must detect every one.

import { DurableObject } from 'cloudflare:workers'

interface FaultyEnv {
  readonly OBJECT: DurableObjectNamespace<Faulty>
  readonly KEYS: KVNamespace
  readonly DB: D1Database
  readonly FILES: R2Bucket
}

const MIB = 1024 * 1024

/** Runs for some time without I/O. */
function compute(rounds: number): number {
  let sum = 0
  for (let at = 0; at < rounds; at++) sum = (sum * 31 + at) % 1_000_003
  return sum
}

export class Faulty extends DurableObject<FaultyEnv> {
  #count = 0

  override async fetch(request: Request): Promise<Response> {
    const { 0: client, 1: server } = new WebSocketPair()
    this.ctx.acceptWebSocket(server)
    if (request.url.endsWith('attachment')) server.serializeAttachment('x'.repeat(17 * 1024))
    return new Response(null, { status: 101, webSocket: client })
  }

  override async webSocketMessage(socket: WebSocket, message: string): Promise<void> {
    const { sql } = this.ctx.storage
    if (message === 'confirmed') sql.exec('CREATE TABLE IF NOT EXISTS told (text TEXT)')
    else await this.ctx.storage.put('told', message, { allowUnconfirmed: true })
    socket.send(JSON.stringify({ told: message }))
  }

  /** Memory that is never stored. */
  async count(): Promise<number> {
    return ++this.#count
  }

  /** Needs a name, which an object addressed by its ID does not get. */
  async named(): Promise<string> {
    return this.ctx.id.name!.toUpperCase()
  }

  async store(bytes: number): Promise<void> {
    await this.ctx.storage.put('row', 'x'.repeat(bytes))
  }

  async insert(bytes: number): Promise<void> {
    const { sql } = this.ctx.storage
    sql.exec('CREATE TABLE IF NOT EXISTS rows (text TEXT)')
    sql.exec('INSERT INTO rows VALUES (?)', 'x'.repeat(bytes))
  }

  async take(text: string): Promise<number> {
    return text.length
  }

  async give(bytes: number): Promise<string> {
    return 'x'.repeat(bytes)
  }
}

const FAULTS: Readonly<Record<string, (env: FaultyEnv, query: URLSearchParams) => Promise<unknown>>> = {
  subrequests: async ({ OBJECT }) => {
    for (let at = 0; at <= 1_000; at++) await OBJECT.getByName('one').count()
  },
  connections: async ({ FILES }) => Promise.all(Array.from({ length: 7 }, (_, at) => FILES.head(`${at}`))),
  parameters: async ({ DB }) => {
    const values = Array.from({ length: 101 }, (_, at) => at)
    return DB.prepare(`SELECT ${values.map(() => '?').join(' + ')}`)
      .bind(...values)
      .first()
  },
  statements: async ({ DB }) => DB.batch(Array.from({ length: 1_001 }, () => DB.prepare('SELECT 1'))),
  row: async ({ DB }) =>
    DB.prepare('SELECT length(?)')
      .bind('x'.repeat(2 * MIB))
      .first(),
  value: async ({ OBJECT }) => OBJECT.getByName('one').store(2 * MIB),
  objectRow: async ({ OBJECT }) => OBJECT.getByName('one').insert(2 * MIB),
  result: async ({ OBJECT }) => (await OBJECT.getByName('one').give(33 * MIB)).length,
  rpc: async ({ OBJECT }) => OBJECT.getByName('one').take('x'.repeat(33 * MIB)),
  cpu: async ({ FILES }) => {
    await FILES.head('one')
    compute(150_000_000)
  },
  /** Measures a computation. */
  clock: async () => {
    const sinceMs = Date.now()
    compute(3_000_000)
    return Date.now() - sinceMs
  },
  /** The same around I/O. */
  waiting: async ({ FILES }) => {
    const sinceMs = Date.now()
    await FILES.head('one')
    return Date.now() - sinceMs
  },
  /** Measures from the load of the Worker. */
  loaded: async () => LOADED_MS,
  count: async ({ OBJECT }) => OBJECT.getByName('one').count(),
  named: async ({ OBJECT }) => OBJECT.getByName('one').named(),
  nameless: async ({ OBJECT }) => OBJECT.get(OBJECT.idFromString(OBJECT.idFromName('two').toString())).named(),
  /** Answers "unknown" for as long as a miss is cached. */
  read: async ({ KEYS }, query) => KEYS.get(query.get('key')!),
  write: async ({ KEYS }, query) => KEYS.put(query.get('key')!, query.get('value')!),
  /** Asks a distant store four times, one after the other. */
  rounds: async ({ DB }) => {
    for (let at = 0; at < 4; at++) await DB.prepare('SELECT 1').first()
  },
  /** A limit of three a minute in the memory of the isolate. */
  limited: async () => {
    if (++seen > 3) throw new Error('too many')
  },
}

const LOADED_MS = Date.now()
let seen = 0

export default {
  async fetch(request: Request, env: FaultyEnv): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    if (request.headers.has('upgrade')) return env.OBJECT.getByName(searchParams.get('name') ?? '').fetch(request)
    try {
      return Response.json({ value: (await FAULTS[pathname.slice(1)]!(env, searchParams)) ?? null })
    } catch (error) {
      return Response.json({ error: String(error) }, { status: 500 })
    }
  },
}
