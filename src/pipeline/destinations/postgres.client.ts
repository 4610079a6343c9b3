// A batch as one INSERT into a table of PostgreSQL: one statement, one transaction, and what is there already stays. The rows go
// as one JSON parameter, which the server reads into the columns that its table has. There is a driver's protocol in two
// hundred lines because drivers need `nodejs_compat`, which would change every object of this Worker.

import { orLate } from '../../core/deadline.ts'
import { after } from '../../core/timers.client.ts'
import type { Batch, Outcome } from '../batch.ts'
import type { DestinationConfig } from '../pipeline.ts'
import type { Egress } from './egress.client.ts'
import { excerpt } from './http.client.ts'
import { Login } from './postgres-login.client.ts'
import {
  errorOf,
  type Frame,
  framesOf,
  joined,
  rowOf,
  sslRequest,
  startup,
  statement,
  TERMINATE,
} from './postgres-wire.ts'

type Config = Extract<DestinationConfig, { type: 'postgres' }>

const TIMEOUT_MS = 30_000
/** A server that reads nothing more would hold up its own farewell. */
const CLOSE_MS = 2_000
const DEFAULT_PORT = 5432
/** Of one answer: two columns' names, or a count. */
const ROWS_MOST = 2_000
const YES = 'S'.charCodeAt(0)
/** Without these columns rows cannot be told apart. */
const KEY = '_key'

/** A connection, and the same one encrypted. */
export interface Wire {
  readonly readable: ReadableStream<Uint8Array>
  readonly writable: WritableStream<Uint8Array>
  startTls(): Wire
  close(): Promise<void>
}
export type Connect = (address: { readonly hostname: string; readonly port: number }) => Wire

/** `isPlainAllowed`: a server without TLS will do. */
export async function sendToPostgres(
  config: Config,
  batch: Batch,
  egress: Egress,
  connect: Connect,
  isPlainAllowed: boolean,
): Promise<Outcome> {
  const url = new URL(config.url)
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  const refusal = await egress.refusal(hostname, true)
  if (refusal !== null) return { ok: false, words: refusal }
  const session = new Session(connect({ hostname, port: Number(url.port || DEFAULT_PORT) }))
  const late: Outcome = { ok: false, words: `no answer within ${TIMEOUT_MS / 1000} s` }
  try {
    const work = written(session, config, batch, isPlainAllowed)
    return await orLate<Outcome, Outcome>(work, TIMEOUT_MS, late, after)
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error)
    return { ok: false, words: excerpt(words, [config.password]) }
  } finally {
    await orLate(session.close(), CLOSE_MS, undefined, after)
  }
}

async function written(session: Session, config: Config, batch: Batch, isPlainAllowed: boolean): Promise<Outcome> {
  await session.open(config, isPlainAllowed)
  const name = config.table.split('.').map(quoted).join('.')
  const found = await session.run(COLUMNS, [name])
  const columns = found.flatMap(([column]) => (column ? [column] : []))
  if (columns.length === 0) return { ok: false, words: `there is no table ${name}` }
  if (!columns.includes(KEY)) return { ok: false, words: `${name} has no column "${KEY}": add it, with a unique index` }
  const known = new Set(batch.rows.flatMap((row) => Object.keys(row)))
  const own = columns
    .filter((column) => known.has(column))
    .map(quoted)
    .join(', ')
  // The one character that no text of PostgreSQL holds.
  const body = `[${batch.texts.join(',')}]`.replace(/(?<!\\)((?:\\\\)*)\\u0000/g, '$1')
  await session.run(
    `INSERT INTO ${name} (${own}) SELECT ${own} FROM json_populate_recordset(NULL::${name}, $1::json) ON CONFLICT DO NOTHING`,
    [body],
  )
  return { ok: true, bytes: body.length }
}

const COLUMNS =
  'SELECT attname FROM pg_attribute WHERE attrelid = to_regclass($1::text) AND attnum > 0 AND NOT attisdropped'

/** Names from records hold letters, digits and "_"; those of a table are what it has. */
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

class Session {
  #wire: Wire
  #reader: ReadableStreamDefaultReader<Uint8Array>
  #writer: WritableStreamDefaultWriter<Uint8Array>
  #rest: Uint8Array = new Uint8Array(0)
  #waiting: Frame[] = []

  constructor(wire: Wire) {
    this.#wire = wire
    this.#reader = wire.readable.getReader()
    this.#writer = wire.writable.getWriter()
  }

  async open({ user, password, database }: Config, isPlainAllowed: boolean): Promise<void> {
    const isSafe = (await this.#greeted()) === YES
    if (isSafe) this.#encrypt()
    else if (!isPlainAllowed) throw new Error('the server has no TLS')
    const login = new Login(password, isSafe)
    await this.#writer.write(startup(user, database))
    for (;;) {
      const frame = await this.#frame()
      if (frame.type === 'Z') return
      const answer = frame.type === 'R' ? await login.answer(frame) : null
      if (answer) await this.#writer.write(answer)
    }
  }

  /** Rows that a statement answers. */
  async run(sql: string, parameters: readonly string[]): Promise<(string | null)[][]> {
    await this.#writer.write(statement(sql, parameters))
    const rows: (string | null)[][] = []
    for (;;) {
      const { type, body } = await this.#frame()
      if (type === 'Z') return rows
      if (type === 'D' && rows.length < ROWS_MOST) rows.push(rowOf(body))
    }
  }

  async close(): Promise<void> {
    const ended = this.#writer.write(TERMINATE).catch(() => undefined)
    await Promise.race([ended, this.#reader.cancel().catch(() => undefined)])
    await this.#wire.close().catch(() => undefined)
  }

  #encrypt(): void {
    this.#reader.releaseLock()
    this.#writer.releaseLock()
    this.#wire = this.#wire.startTls()
    this.#reader = this.#wire.readable.getReader()
    this.#writer = this.#wire.writable.getWriter()
  }

  async #greeted(): Promise<number> {
    const read = async () => {
      await this.#writer.write(sslRequest())
      return this.#reader.read()
    }
    // In the platform's own words it would be told of proxies that nobody has.
    const { value } = await read().catch(() => {
      throw new Error('could not be reached')
    })
    // What else came with it, before encryption, would be somebody's who stands between.
    if (value?.length !== 1) throw new Error('the server speaks no PostgreSQL')
    return value[0]!
  }

  /** The next frame; one that tells of an error is thrown. */
  async #frame(): Promise<Frame> {
    while (this.#waiting.length === 0) {
      const { value, done } = await this.#reader.read()
      if (done) throw new Error('the server ended the connection')
      const { frames, rest } = framesOf(this.#rest.length === 0 ? value : joined([this.#rest, value]))
      this.#rest = rest
      this.#waiting = [...frames]
    }
    const next = this.#waiting.shift()!
    if (next.type !== 'E') return next
    const { code, words } = errorOf(next.body)
    throw new Error(`the server refused: ${words} (${code})`)
  }
}
