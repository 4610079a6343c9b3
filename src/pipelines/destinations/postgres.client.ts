// Writes a batch into a PostgreSQL table with one INSERT that skips existing keys. The rows are one JSON parameter,
// which the server maps to the table's columns. It uses its own protocol code instead of a driver, so that the time and
// the bytes of a session are limited and the host is checked. Invariant: a server that starts SCRAM must also prove that
// it knows the password.

import { orFallback } from '../../core/deadline.ts'
import type { Egress } from '../../core/egress.client.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { hmac as signature } from '../../core/signature.client.ts'
import { after } from '../../core/timers.client.ts'
import type { DestinationConfig } from '../pipeline.ts'
import type { AttemptResult, Batch } from './batch.ts'
import { excerpt } from './http.client.ts'
import {
  concat,
  cString,
  errorOf,
  type Frame,
  int32At,
  parseFrames,
  passwordMessage,
  rowOf,
  saslInitialMessage,
  sslRequest,
  startup,
  statement,
  TERMINATE,
  textOf,
} from './postgres-wire.ts'
import { missingDdl, missingTableMessage, POSTGRES, tableColumns } from './table-ddl.ts'

export type PostgresConfig = Extract<DestinationConfig, { type: 'postgres' }>

const TIMEOUT_MS = 30_000
/** A server that stops reading would block the termination message. */
const CLOSE_MS = 2_000
const DEFAULT_PORT = 5432
/** Maximum rows of one response: column names, or a count. */
const MAX_ROWS = 2_000
/** Maximum size of a session, in bytes. A table has at most 1,600 columns. */
const MAX_RECEIVED_BYTES = 1024 * 1024
const TLS_ACCEPTED = 'S'.charCodeAt(0)
/** Column that identifies a row. */
const KEY_COLUMN = '_key'

/** A connection that can be upgraded to TLS. */
export interface Wire {
  readonly readable: ReadableStream<Uint8Array>
  readonly writable: WritableStream<Uint8Array>
  startTls(): Wire
  close(): Promise<void>
}
export type Connect = (to: { readonly hostname: string; readonly port: number }) => Wire

/**
 * A server and its credentials. `tls`: `must` requires TLS; `may` allows plain connections; `none` uses no TLS, because
 * the connection stays within the platform.
 */
export interface PostgresServer {
  readonly user: string
  readonly password: string
  readonly database: string
  readonly tls: 'must' | 'may' | 'none'
  open(): Wire
}

/** `isPlainAllowed`: accepts a server that does not support TLS. The error says why the server may not be used. */
export async function serverOf(
  { url, user = '', password = '', database = '' }: PostgresConfig,
  egress: Egress,
  connect: Connect,
  isPlainAllowed: boolean,
): Promise<Result<PostgresServer, string>> {
  const port = Number(new URL(url).port || DEFAULT_PORT)
  // `URL` normalizes hosts only for special schemes such as `https`. With any other scheme, numeric hosts in other bases
  // and non-ASCII names stay unnormalized.
  const { hostname } = new URL(url.replace(/^\w+:/, 'https:'))
  const refusal = await egress.refusal(hostname, true)
  if (refusal !== null) return err(refusal)
  const open = () => connect({ hostname, port })
  return ok({ user, password, database, tls: isPlainAllowed ? 'may' : 'must', open })
}

/** `createsTable`: creates the table, or missing columns. */
export async function sendToPostgres(
  server: PostgresServer,
  table: string,
  batch: Batch,
  createsTable = false,
): Promise<AttemptResult> {
  const session = new Session(server.open())
  const late: AttemptResult = { ok: false, message: `The server did not respond within ${TIMEOUT_MS / 1000} s` }
  try {
    return await orFallback<AttemptResult, AttemptResult>(
      insertBatch(session, server, table, batch, createsTable),
      TIMEOUT_MS,
      late,
      after,
    )
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error)
    return { ok: false, message: excerpt(words, [server.password]) }
  } finally {
    await orFallback(session.close(), CLOSE_MS, undefined, after)
  }
}

async function insertBatch(
  session: Session,
  server: PostgresServer,
  table: string,
  batch: Batch,
  createsTable: boolean,
): Promise<AttemptResult> {
  await session.open(server)
  const name = table.split('.').map(quoted).join('.')
  const { rows: found } = await session.run(COLUMNS_QUERY, [name])
  const there = found.flatMap(([column]) => (column ? [column] : []))
  const required = tableColumns(batch)
  const ddl = missingDdl(POSTGRES, name, required, there)
  if (there.length === 0 && !createsTable) return { ok: false, message: missingTableMessage(name, ddl) }
  if (ddl !== null && createsTable) await session.run(ddl, [])
  // A Hyperdrive may return cached columns that predate the change.
  const columns = createsTable ? [...new Set([...there, ...required.map((column) => column.name)])] : there
  if (!columns.includes(KEY_COLUMN))
    return { ok: false, message: `Table ${name} has no column "${KEY_COLUMN}". Add it with a unique index` }
  const known = new Set(batch.rows.flatMap((row) => Object.keys(row)))
  const own = columns
    .filter((column) => known.has(column))
    .map(quoted)
    .join(', ')
  const body = `[${batch.texts.join(',')}]`.replace(UNSUPPORTED_CHARS, (_, before: string, code: string) =>
    code === '0000' ? before : `${before}\\ufffd`,
  )
  const { done } = await session.run(
    `INSERT INTO ${name} (${own}) SELECT ${own} FROM json_populate_recordset(NULL::${name}, $1::json) ON CONFLICT DO NOTHING`,
    [body],
  )
  if (!done.startsWith('INSERT ')) return { ok: false, message: 'The server did not confirm the insert' }
  return { ok: true, bytes: body.length }
}

/** JSON escapes that PostgreSQL text cannot hold: NUL and lone surrogates. */
const UNSUPPORTED_CHARS = /(?<!\\)((?:\\\\)*)\\u(0000|d[89a-f][0-9a-f]{2})/g

const COLUMNS_QUERY =
  'SELECT attname FROM pg_attribute WHERE attrelid = to_regclass($1::text) AND attnum > 0 AND NOT attisdropped'

const { quoted } = POSTGRES

class Session {
  #wire: Wire
  #reader: ReadableStreamDefaultReader<Uint8Array>
  #writer: WritableStreamDefaultWriter<Uint8Array>
  /** Bytes of an incomplete frame, and how many the next parse needs. */
  #chunks: Uint8Array[] = []
  #bufferedBytes = 0
  #neededBytes = 0
  #receivedBytes = 0
  #frames: Frame[] = []

  constructor(wire: Wire) {
    this.#wire = wire
    this.#reader = wire.readable.getReader()
    this.#writer = wire.writable.getWriter()
  }

  async open({ user, password, database, tls }: PostgresServer): Promise<void> {
    const login = new Login(user, password, tls === 'none' || (await this.#isEncrypted(tls)))
    await this.#writer.write(startup(user, database))
    for (;;) {
      const frame = await this.#nextFrame()
      if (frame.type === 'Z') return
      const answer = frame.type === 'R' ? await login.respond(frame) : null
      if (answer) await this.#writer.write(answer)
    }
  }

  /** Result rows and the command tag. */
  async run(sql: string, parameters: readonly string[]) {
    await this.#writer.write(statement(sql, parameters))
    const rows: (string | null)[][] = []
    for (let done = ''; ; ) {
      const { type, body } = await this.#nextFrame()
      if (type === 'Z') return { rows, done }
      if (type === 'C') done = textOf(body)
      if (type === 'D' && rows.length < MAX_ROWS) rows.push(rowOf(body))
    }
  }

  async close(): Promise<void> {
    const ended = this.#writer.write(TERMINATE).catch(() => undefined)
    await Promise.race([ended, this.#reader.cancel().catch(() => undefined)])
    await this.#wire.close().catch(() => undefined)
  }

  async #isEncrypted(tls: 'must' | 'may'): Promise<boolean> {
    const isSafe = (await this.#requestTls()) === TLS_ACCEPTED
    if (isSafe) this.#encrypt()
    else if (tls === 'must') throw new Error('The server does not support TLS')
    return isSafe
  }

  #encrypt(): void {
    this.#reader.releaseLock()
    this.#writer.releaseLock()
    this.#wire = this.#wire.startTls()
    this.#reader = this.#wire.readable.getReader()
    this.#writer = this.#wire.writable.getWriter()
  }

  async #requestTls(): Promise<number> {
    const read = async () => {
      await this.#writer.write(sslRequest())
      return this.#reader.read()
    }
    // The platform's own message mentions proxies, which would confuse the pipeline's owner.
    const { value } = await read().catch(() => {
      throw new Error('The destination could not be reached')
    })
    // Extra bytes before encryption could have been inserted by a man in the middle.
    const [answer, ...more] = value ?? []
    if (answer === undefined || more.length > 0) throw new Error('The server does not speak the PostgreSQL protocol')
    return answer
  }

  /** The next frame. Throws an error response. */
  async #nextFrame(): Promise<Frame> {
    let next = this.#frames.shift()
    while (!next) {
      const { value, done } = await this.#reader.read()
      if (done) throw new Error('The server closed the connection')
      this.#receivedBytes += value.length
      if (this.#receivedBytes > MAX_RECEIVED_BYTES) throw new Error('The server sent too much data')
      this.#chunks.push(value)
      this.#bufferedBytes += value.length
      if (this.#bufferedBytes < this.#neededBytes) continue
      const { frames, rest, needed } = parseFrames(concat(this.#chunks))
      this.#chunks = [rest]
      this.#bufferedBytes = rest.length
      this.#neededBytes = needed
      this.#frames = [...frames]
      next = this.#frames.shift()
    }
    if (next.type !== 'E') return next
    const { code, words } = errorOf(next.body)
    throw new Error(`The server returned an error: ${words} (${code})`)
  }
}

const OK = 0
const CLEAR = 3
const MD5 = 5
const SASL = 10
const SASL_CONTINUE = 11
const SASL_FINAL = 12
const MECHANISM = 'SCRAM-SHA-256'
/** Platform limit. PostgreSQL's default is 4,096. */
const MAX_ITERATIONS = 100_000
/** Three SCRAM messages and the final OK. */
const MAX_AUTH_REQUESTS = 4

const encoder = new TextEncoder()

/** Authenticates with SCRAM-SHA-256. On encrypted connections, MD5 and a clear-text password are also possible. */
class Login {
  readonly #user: string
  readonly #secret: string
  readonly #isEncrypted: boolean
  readonly #nonce = base64(crypto.getRandomValues(new Uint8Array(18)))
  /** Next expected SCRAM message; null: SCRAM has not started, or is done. */
  #next: typeof SASL_CONTINUE | typeof SASL_FINAL | null = null
  #requests = 0
  #serverSignature = ''

  constructor(user: string, secret: string, isSafe: boolean) {
    this.#user = user
    this.#secret = secret
    this.#isEncrypted = isSafe
  }

  /**
   * Response to an `R` frame; null if none is needed. Throws if the server requests an unsupported method or fails its
   * own proof.
   */
  async respond({ body }: Frame): Promise<Uint8Array | null> {
    const kind = int32At(body, 0)
    const isLater = kind === SASL_CONTINUE || kind === SASL_FINAL
    if (++this.#requests > MAX_AUTH_REQUESTS || kind !== (this.#next ?? (isLater ? null : kind)))
      throw new Error('The server did not prove that it knows the password')
    if (kind === OK) return null
    if (kind === CLEAR || kind === MD5) {
      if (!this.#isEncrypted)
        throw new Error(`Without TLS the server must use ${MECHANISM}, but it requested a weaker method`)
      return passwordMessage(cString(kind === CLEAR ? this.#secret : await this.#md5(body.subarray(4, 8))))
    }
    if (kind === SASL) {
      if (!textOf(body, 4).split('\0').includes(MECHANISM)) throw new Error(`The server does not support ${MECHANISM}`)
      this.#next = SASL_CONTINUE
      return saslInitialMessage(MECHANISM, `n,,${this.#clientFirst()}`)
    }
    if (kind === SASL_CONTINUE) {
      this.#next = SASL_FINAL
      return passwordMessage(encoder.encode(await this.#clientFinal(textOf(body, 4))))
    }
    if (kind === SASL_FINAL) {
      if (textOf(body, 4) !== `v=${this.#serverSignature}`)
        throw new Error('The server could not prove that it knows the password')
      this.#next = null
      return null
    }
    throw new Error(`Authentication method ${kind} is not supported. Configure the server to use ${MECHANISM}`)
  }

  async #md5(salt: Uint8Array): Promise<string> {
    const kept = await md5([encoder.encode(this.#secret + this.#user)])
    return `md5${await md5([encoder.encode(kept), salt])}`
  }

  #clientFirst(): string {
    // The user name was already sent in the startup message.
    return `n=,r=${this.#nonce}`
  }

  async #clientFinal(serverFirst: string): Promise<string> {
    const {
      r = '',
      s = '',
      i = '',
    } = Object.fromEntries(serverFirst.split(',').map((field) => [field.slice(0, 1), field.slice(2)]))
    const rounds = Number(i)
    if (!r.startsWith(this.#nonce) || !(rounds >= 1 && rounds <= MAX_ITERATIONS))
      throw new Error('The server sent an invalid SCRAM message')
    const salted = await pbkdf2(this.#secret, bytesOf(s), rounds)
    const clientKey = await hmac(salted, 'Client Key')
    const bare = `c=biws,r=${r}`
    const signed = `${this.#clientFirst()},${serverFirst},${bare}`
    const signature = await hmac(new Uint8Array(await crypto.subtle.digest('SHA-256', clientKey)), signed)
    this.#serverSignature = base64(await hmac(await hmac(salted, 'Server Key'), signed))
    const proof = clientKey.map((byte, at) => byte ^ (signature[at] ?? 0))
    return `${bare},p=${base64(proof)}`
  }
}

async function pbkdf2(secret: string, salt: Uint8Array<ArrayBuffer>, iterations: number) {
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), 'PBKDF2', false, ['deriveBits'])
  return new Uint8Array(await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt, iterations }, key, 256))
}

const hmac = async (secret: Uint8Array<ArrayBuffer>, text: string) => bytesOf(await signature(secret, text))

async function md5(parts: readonly Uint8Array[]): Promise<string> {
  const digest = await crypto.subtle.digest('MD5', concat(parts))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes))
const bytesOf = (text: string) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
