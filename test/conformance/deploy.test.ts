// `npm run deploy` against a fake Cloudflare API: uploads, their order and secrets.

import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type HttpServer, startServer } from '../kit/http-server.ts'
import { RemoteD1 } from '../remote-d1.ts'

const ROOT = join(import.meta.dirname, '../..')
const ID = '0a1b2c3d-0a1b-4a1b-8a1b-0a1b2c3d4e5f'
/** Each program that is started here starts wrangler up to six times. */
const CEILING_MS = 600_000
/** A part of `npm run rehearse`, because these tests start wrangler dozens of times. Pure tests cover the rules. */
const played = it.runIf(process.env.REHEARSAL !== undefined)
const FEED_TOKEN = 'the-feed-token-of-the-environment'

interface Binding {
  readonly type: string
  readonly name: string
  readonly text?: string
  readonly script_name?: string
  readonly service?: string
}
interface Upload {
  readonly worker: string
  readonly bindings: readonly Binding[]
}
const uploads: Upload[] = []
const pages: string[] = []
const workers = new Map<string, readonly Binding[]>()
interface DeployedShare {
  readonly version_id: string
  readonly percentage: number
}
const OLD_ID = 'f'.repeat(8) + ID.slice(8)
const DEPLOYMENT = {
  id: ID,
  source: 'wrangler',
  strategy: 'percentage',
  author_email: '',
  created_on: '2026-01-01',
  annotations: {},
}
/** The current deployment of a Worker, and all that were requested for the live Worker. */
const OLD: readonly DeployedShare[] = [{ version_id: OLD_ID, percentage: 100 }]
let deployment = OLD
const deployments: (readonly DeployedShare[])[] = []
/** For all bindings. */
let database = new RemoteD1()
let server: HttpServer
let folder: string

beforeAll(async () => {
  server = await startServer(async (request, response) => {
    // The first request to the deployed gateway.
    if (request.url === '/workers.dev/weir/status') return void response.end('{"feedRegion":null,"readers":[0,1,2,3]}')
    const body = (await buffer(request)).toString('latin1')
    const result = answer(request.method ?? '', request.url?.split('?')[0] ?? '', body)
    const errors = result === null ? [{ code: 10007, message: 'This Worker does not exist.' }] : []
    response.writeHead(result === null ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ success: result !== null, errors, messages: [], result }))
  })
  migrate(database)
  folder = mkdtempSync(join(tmpdir(), 'weir-deploy-'))
  for (const name of ['src', 'scripts', 'schemas', 'node_modules', 'package.json', 'tsconfig.json'])
    symlinkSync(join(ROOT, name), join(folder, name))
  const withIds = (file: string) =>
    readFileSync(join(ROOT, file), 'utf8').replaceAll('database_name =', `database_id = "${ID}"\ndatabase_name =`)
  for (const name of ['wrangler.live.toml', 'wrangler.jobs.toml']) writeFileSync(join(folder, name), withIds(name))
  symlinkSync(join(ROOT, 'wrangler.sql.toml'), join(folder, 'wrangler.sql.toml'))
  const gateway = withIds('wrangler.toml').replace(
    'binding = "KEYS"',
    `binding = "KEYS"\nid = "${ID.replaceAll('-', '')}"`,
  )
  writeFileSync(join(folder, 'wrangler.toml'), gateway)
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

/** As `migrations apply --remote` posts them: a whole file as one text, with its line of the ledger. */
function migrate(to: RemoteD1, change = (_name: string, text: string) => text): void {
  to.query('CREATE TABLE d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE)')
  for (const folder of ['accounts', 'usage', 'history'].map((name) => join(ROOT, 'schemas/d1', name)))
    for (const name of readdirSync(folder).sort())
      to.query(
        `${change(name, readFileSync(join(folder, name), 'utf8'))}\nINSERT INTO d1_migrations (name) VALUES ('${name}');`,
      )
}

/** As much of Cloudflare's API as a deploy asks; null is an unknown Worker. */
function answer(method: string, path: string, body: string): unknown {
  const version = /\/versions\/([\w-]{36})$/.exec(path)?.[1]
  if (version !== undefined) {
    const created_on = version === OLD_ID ? '2026-01-01T00:00:00Z' : '2026-02-01T00:00:00Z'
    return {
      id: version,
      number: 1,
      metadata: { created_on, source: 'api', author_email: '' },
      annotations: {},
      resources: { script: {}, script_runtime: {}, bindings: [] },
    }
  }
  const [, kind, worker = '', part] = /\/workers\/(scripts|services|workers)\/([\w-]+)(?:\/([\w-]+))?$/.exec(path) ?? []
  const known = workers.get(worker)
  if (part === 'assets-upload-session') {
    pages.push(...Object.keys((JSON.parse(body) as { manifest: object }).manifest))
    return { jwt: 'all of them are there', buckets: [] }
  }
  if (kind === 'scripts' && part === undefined && method === 'PUT') {
    const { bindings } = JSON.parse(/name="metadata"[^{]*(\{.*\})\r\n/.exec(body)![1]!) as Upload
    const isKnown = (name: string | undefined) => name === undefined || name === worker || workers.has(name)
    if (!bindings.every(({ script_name: script, service }) => isKnown(script) && isKnown(service))) return null
    uploads.push({ worker, bindings })
    workers.set(worker, bindings)
    return { id: worker, deployment_id: ID.replaceAll('-', ''), startup_time_ms: 1 }
  }
  if (kind === 'scripts' && part === 'versions') {
    const { bindings } = JSON.parse(/name="metadata"[^{]*(\{.*\})\r\n/.exec(body)![1]!) as Upload
    uploads.push({ worker, bindings })
    return { id: ID, startup_time_ms: 1, metadata: { has_preview: false }, resources: { script: { etag: 'e' } } }
  }
  if (part === 'subdomain' || kind === 'workers') return { enabled: true, subdomain: { enabled: true } }
  if (kind !== undefined && known === undefined) return null
  if (part === 'secrets') return known!.filter(({ type }) => type === 'secret_text')
  if (kind === 'services')
    return { default_environment: { environment: 'production', script: { tag: 't', tags: [], migration_tag: 'v1' } } }
  if (part === 'deployments' && method === 'POST') {
    if (worker !== 'weir-live') return { id: ID }
    deployment = (JSON.parse(body) as { versions: DeployedShare[] }).versions
    deployments.push(deployment)
    return { id: ID }
  }
  if (part === 'deployments') return { deployments: [{ ...DEPLOYMENT, versions: deployment }] }
  if (path.endsWith('/query')) {
    const { sql } = JSON.parse(body) as { sql: string }
    return database.query(sql).map((results) => ({ success: true, results, meta: { served_by_region: 'WEUR' } }))
  }
  if (path.endsWith('/r2/buckets/weir-archive')) return { name: 'weir-archive', location: 'ENAM', creation_date: '' }
  if (path.endsWith('/graphql')) return { viewer: { accounts: [] } }
  if (path.endsWith('/workers/subdomain')) return { subdomain: 'me' }
  if (path.endsWith('/memberships')) return []
  if (path.endsWith('/accounts')) return [{ id: 'account', name: 'account' }]
  return { id: 'token', status: 'active', bindings: [] }
}

function deploy(args: readonly string[], more: object = {}): Promise<{ code: number; said: string }> {
  uploads.length = 0
  const env = {
    ...process.env,
    CLOUDFLARE_API_BASE_URL: `${server.url}/client/v4`,
    CLOUDFLARE_API_TOKEN: 'token',
    CLOUDFLARE_ACCOUNT_ID: 'account',
    STAND_IN_URL: server.url,
    NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import=${join(ROOT, 'test/kit/workers-dev.node.ts')}`,
    ...more,
  }
  return new Promise((resolve) => {
    const { execPath } = process
    execFile(execPath, [join(ROOT, 'scripts/deploy.ts'), ...args], { cwd: folder, env }, (error, out, said) =>
      resolve({ code: error ? Number(error.code) : 0, said: `${out}${said}` }),
    )
  })
}

const secretsOf = (upload: Upload | undefined) =>
  Object.fromEntries(
    upload!.bindings.filter(({ type }) => type === 'secret_text').map(({ name, text }) => [name, text]),
  )
const has =
  (name: string) =>
  ({ bindings }: Upload) =>
    bindings.some((binding) => binding.name === name)

played(
  'creates all Workers with secrets from the environment or generated ones, and shows none',
  async () => {
    const { code, said } = await deploy(['--first'], { FEED_TOKEN })
    expect([code, said]).toEqual([0, expect.stringContaining('.secrets.json')])
    expect(said).toContain('/status answered. The log and 4 of 4 hubs were created')
    const names = ['weir-sql', 'weir-live', 'weir-jobs', 'weir', 'weir-live', 'weir-jobs']
    expect(uploads.map(({ worker }) => worker)).toEqual(names)
    expect(uploads.map(has('GATEWAY'))).toEqual([false, false, false, false, true, true])
    expect(uploads.map(has('SQL'))).toEqual([false, false, true, false, false, true])
    expect(uploads.map(has('SINK'))).toEqual([false, false, true, true, true, true])
    expect(uploads.map(has('RELAY'))).toEqual([false, true, true, true, true, true])
    expect(pages).toEqual(expect.arrayContaining(['/console.html', '/live.html']))
    const secrets = secretsOf(uploads[3])
    expect(secrets).toEqual({ ADMIN_TOKEN: expect.any(String), FEED_TOKEN, KEY_SECRET: expect.any(String) })
    const drawn = [secrets.ADMIN_TOKEN!, secrets.KEY_SECRET!]
    expect(drawn.every((secret) => secret.length >= 32 && !said.includes(secret))).toBe(true)
    expect(drawn[0]).not.toBe(drawn[1])
    const file = join(folder, '.secrets.json')
    expect([statSync(file).mode & 0o777, JSON.parse(readFileSync(file, 'utf8'))]).toEqual([0o600, secrets])
    expect(readdirSync(folder)).not.toContain('wrangler.first.toml')
  },
  CEILING_MS,
)

played(
  'does not overwrite an unreadable secrets file',
  async () => {
    const file = join(folder, '.secrets.json')
    const kept = readFileSync(file, 'utf8')
    writeFileSync(file, kept.replace('}', ',}'))
    const { code, said } = await deploy(['--first'])
    expect([code, said, uploads]).toEqual([1, expect.stringContaining('.secrets.json is damaged'), []])
    expect(readFileSync(file, 'utf8')).toBe(kept.replace('}', ',}'))
    writeFileSync(file, kept)
  },
  CEILING_MS,
)

played(
  'keeps objects and secrets unchanged with --routes',
  async () => {
    const { code, said } = await deploy(['--routes', '--message', 'a reason'])
    expect([code, said]).toEqual([0, expect.not.stringContaining('sockets')])
    expect(uploads.map(({ worker }) => worker)).toEqual(['weir'])
    expect(secretsOf(uploads[0])).toEqual({})
  },
  CEILING_MS,
)

played(
  'stops when alerts have a receiver but no secret',
  async () => {
    const file = join(folder, 'wrangler.live.toml')
    const kept = readFileSync(file, 'utf8')
    writeFileSync(file, kept.replace('ALERT_URL = ""', 'ALERT_URL = "https://receiver.example/alerts"'))
    const { code, said } = await deploy([])
    writeFileSync(file, kept)
    expect([code, said, uploads]).toEqual([1, expect.stringMatching(/error +The secret ALERT_SECRET.*is not set/), []])
  },
  CEILING_MS,
)

played(
  'moves the live objects in steps with --gradual, then deploys the rest',
  async () => {
    let state = 'live'
    deployment = OLD
    deployments.length = 0
    const gateway = await startServer((_, response) => void response.end(JSON.stringify({ state })))
    const change = (file: string) =>
      writeFileSync(file, readFileSync(file, 'utf8').replace('PUBLIC_URL = ""', `PUBLIC_URL = "${gateway.url}"`))
    const files = ['wrangler.toml', 'wrangler.live.toml', 'wrangler.jobs.toml'].map((name) => join(folder, name))
    const kept = files.map((file) => readFileSync(file, 'utf8'))
    files.forEach(change)
    try {
      const { code, said } = await deploy(['--gradual', '25,100', '--pause', '1'])
      expect([code, said]).toEqual([0, expect.stringContaining('100 % of the objects')])
      expect(uploads.map(({ worker }) => worker)).toEqual(['weir-live', 'weir-sql', 'weir-jobs', 'weir'])
      const shares = deployments.map((versions) =>
        versions.map(({ version_id: id, percentage }) => [id === OLD_ID, percentage]),
      )
      expect(shares).toEqual([
        [
          [false, 25],
          [true, 75],
        ],
        [[false, 100]],
      ])
      deployment = OLD
      state = 'silent'
      expect(await deploy(['--gradual'])).toMatchObject({
        code: 1,
        said: expect.stringContaining('Nothing was changed'),
      })
      expect(uploads).toEqual([])
    } finally {
      for (const [at, file] of files.entries()) writeFileSync(file, kept[at]!)
      gateway.close()
    }
  },
  CEILING_MS,
)

played(
  'deploys the jobs Worker before those that bind it when it is turned on, and refuses to leave it running alone',
  async () => {
    workers.delete('weir-jobs')
    const { code, said } = await deploy([])
    expect([code, said]).toEqual([0, expect.any(String)])
    expect(uploads.map(({ worker }) => worker)).toEqual(['weir-sql', 'weir-jobs', 'weir-live', 'weir'])
    const files = ['wrangler.toml', 'wrangler.live.toml'].map((name) => join(folder, name))
    const kept = files.map((file) => readFileSync(file, 'utf8'))
    for (const [at, file] of files.entries())
      writeFileSync(
        file,
        kept[at]!.replace(/^.*script_name = "weir-jobs".*\n/gm, '')
          .replace(/^\[\[d1_databases\]\]\nbinding = "HISTORY"\n(?:\w.*\n)*/m, '')
          .replace(/^\[\[r2_buckets\]\]\nbinding = "ARCHIVE"\n(?:\w.*\n)*/m, ''),
      )
    try {
      const left =
        /^error +wrangler\.toml has no bindings to the Worker weir-jobs, which still exists.*1 error: nothing was deployed/ms
      expect(await deploy([])).toEqual({ code: 1, said: expect.stringMatching(left) })
      expect(await deploy(['--jobs'])).toEqual({ code: 2, said: expect.stringContaining('would deploy nothing') })
      expect(uploads).toEqual([])
    } finally {
      for (const [at, file] of files.entries()) writeFileSync(file, kept[at]!)
    }
  },
  CEILING_MS,
)

it(
  'lists missing parts and tables in a dry run, and sends nothing',
  async () => {
    const whole = database
    database = new RemoteD1()
    migrate(database, (_, text) =>
      text.replace(/^CREATE TABLE audit_outcomes .*?^\) STRICT;\n\nCREATE INDEX .*?\n/ms, ''),
    )
    const file = join(folder, 'wrangler.toml')
    const kept = readFileSync(file, 'utf8')
    writeFileSync(file, kept.replace(/^id = .*$/m, '').replace('FEED_REGION = ""', 'FEED_REGION = "apac-ne"'))
    const { code, said } = await deploy(['--routes', '--dry-run'])
    writeFileSync(file, kept)
    database = whole
    expect([code, uploads]).toEqual([1, []])
    expect(said).toContain('1. weir (wrangler.toml)')
    expect(said).toMatch(/KV KEYS: no id.*kv namespace create KEYS/)
    // Before wrangler speaks, and again at the end.
    expect(said.split('error    KEYS has no id')).toHaveLength(3)
    expect(said.trimEnd()).toMatch(/a deploy would stop here\.$/)
    expect(said).toContain('warning  D1 weir-history is in weur, but apac is nearest')
    expect(said).toContain('warning  R2 weir-archive is in enam, but apac is nearest')
    expect(said).toContain('error    ACCOUNTS has no table audit_outcomes, although')
  },
  CEILING_MS,
)
