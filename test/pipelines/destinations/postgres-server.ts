// Starts a new PostgreSQL server for tests, if the machine has one installed. It has a free port, passwords and TLS.

import { execFileSync } from 'node:child_process'
import { chownSync, globSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../../src/cli/launch/processes.node.ts'
import { type Program, runCommand, scratch } from '../../kit/program.ts'
import { until } from '../../kit/until.ts'

export interface PostgresServer {
  readonly port: number
  /** Path of the certificate that it shows, and that whoever trusts it has to know. */
  readonly certificate: string
  /** Rows of a query, a text each. */
  query(sql: string): string[]
  stop(): Promise<void>
  start(): Promise<void>
  /** As if its machine had gone. */
  kill(): Promise<void>
  remove(): Promise<void>
}

export const PASSWORD = 'p@ss "word"'
/** Of one query. */
const ANSWER_BYTES_MOST = 64 * 1024 ** 2
const BINARIES = globSync('/usr/lib/postgresql/*/bin').at(-1)
export const hasPostgres = BINARIES !== undefined

/** Root may not run it. */
function owner(): { uid: number; gid: number } | object {
  if (process.getuid?.() !== 0) return {}
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' })))
  return { uid, gid }
}

/** `name`: with a certificate of this name, TLS; null: without. */
export async function startPostgres(name: string | null = null): Promise<PostgresServer> {
  const as = owner()
  const { path: folder, remove } = scratch()
  const data = join(folder, 'data')
  const secret = join(folder, 'secret')
  writeFileSync(secret, PASSWORD)
  const port = await freePort(undefined)
  if ('uid' in as) for (const path of [folder, secret]) chownSync(path, as.uid as number, (as as { gid: number }).gid)
  const run = (name: string, args: string[]) =>
    execFileSync(join(BINARIES!, name), args, { ...as, stdio: ['ignore', 'pipe', 'pipe'], cwd: folder })
  const words = '-U weir -A scram-sha-256 -E UTF8 --no-sync --locale=C --pwfile'.split(' ')
  run('initdb', ['-D', data, ...words, secret])
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'password_encryption=scram-sha-256',
  ]
  const options = [...settings, ...(name === null ? [] : ['ssl=on'])].flatMap((setting) => ['-c', setting])
  const certificate = join(data, 'server.crt')
  if (name !== null) {
    const named = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
    const subject = ['-x509', '-newkey', 'rsa:2048', '-nodes', ...named, '-days', '2']
    const files = ['-keyout', join(data, 'server.key'), '-out', certificate]
    execFileSync('openssl', ['req', ...subject, ...files], { ...as, stdio: 'ignore' })
  }
  const query = (sql: string) => {
    const env = { ...process.env, PGPASSWORD: PASSWORD }
    const args = [...`-h 127.0.0.1 -p ${port} -U weir -d postgres -Atq -v ON_ERROR_STOP=1 -c`.split(' '), sql]
    const text = execFileSync(join(BINARIES!, 'psql'), args, {
      env,
      encoding: 'utf8',
      maxBuffer: ANSWER_BYTES_MOST,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return text.split('\n').filter((line) => line !== '')
  }
  let server: Program | null = null
  const start = async () => {
    server = runCommand(join(BINARIES!, 'postgres'), ['-D', data, ...options], {}, { ...as, cwd: folder })
    const isUp = () => query('SELECT 1').length > 0
    await until(isUp, 'PostgreSQL does not answer', { withinMs: 20_000, everyMs: 100 })
  }
  const end = async (signal: NodeJS.Signals) => server?.end(signal)
  await start()
  return {
    port,
    certificate,
    query,
    start,
    stop: () => end('SIGINT'),
    kill: () => end('SIGQUIT'),
    remove: async () => {
      await end('SIGINT')
      remove()
    },
  }
}
