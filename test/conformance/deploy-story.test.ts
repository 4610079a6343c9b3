// The life of a gateway on Cloudflare, played against a stand-in for its API: an empty account, a first deploy that fails
// and is resumed, a paid call, an update, a roll-back, and the probe of `npm run rehearse -- --account`.

import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Cloudflare, textsOf, type Upload } from '../kit/cloudflare.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'
import { ROOT } from '../kit/program.ts'
import { startProbe } from '../rehearsal/account/probe.node.ts'

/** Each program that is started here starts wrangler up to a dozen times. */
const CEILING_MS = 300_000
/** A part of `npm run rehearse`, because it takes three minutes of CPU time. */
const played = it.runIf(process.env.REHEARSAL !== undefined)
const FEED_TOKEN = 'the-feed-token-of-the-environment'
const WEIR = 'https://weir.me.workers.dev'
const DATABASES = ['accounts', 'usage', 'history']
const FILES = ['wrangler.toml', 'wrangler.live.toml', 'wrangler.jobs.toml']
const NODE_URL = 'http://node.example.com'

const probes: Awaited<ReturnType<typeof startProbe>>[] = []
let node: HttpServer
let cloudflare: Cloudflare
let folder: string

beforeAll(async () => {
  node = await startServer((_, response) => {
    response.setHeader('content-type', 'application/json').end('{"time":1,"specialStatuses":null}')
  })
  cloudflare = new Cloudflare({
    reach: { [NODE_URL]: node.url },
    runOther: async (upload) => {
      const probe = await startProbe(upload.modules.get('probe.worker.js') ?? '', textsOf(upload, 'plain_text'))
      probes.push(probe)
      return probe.url
    },
  })
  await cloudflare.start()
  folder = mkdtempSync(join(tmpdir(), 'weir-deploy-'))
  for (const name of ['src', 'scripts', 'schemas', 'test', 'node_modules', 'package.json', 'tsconfig.json'])
    symlinkSync(join(ROOT, name), join(folder, name))
  symlinkSync(join(ROOT, 'wrangler.sql.toml'), join(folder, 'wrangler.sql.toml'))
  for (const name of FILES) writeFileSync(join(folder, name), readFileSync(join(ROOT, name)))
  edit('wrangler.toml', 'UPSTREAMS = "[]"', `UPSTREAMS = '[{"name":"node","url":"${NODE_URL}/info"}]'`)
})
afterAll(async () => {
  await Promise.all(probes.map(({ dispose }) => dispose()))
  await cloudflare?.stop()
  node?.close()
  rmSync(folder, { recursive: true })
})

/** Replaces text in a configuration file, and returns a function that undoes it. */
function edit(name: string, from: string | RegExp, to: string): () => void {
  const file = join(folder, name)
  const kept = readFileSync(file, 'utf8')
  writeFileSync(file, kept.replaceAll(from, to))
  return () => writeFileSync(file, kept)
}

interface Outcome {
  readonly code: number
  readonly said: string
}

/** Runs a program of the repository in the operator's folder, logged in to the stand-in. */
function run(program: string, args: readonly string[], more: object = {}): Promise<Outcome> {
  // Other files of this process set secrets of their own, and those of the deployed gateway are read from its environment.
  const { ADMIN_TOKEN: _, KEY_SECRET: __, FEED_TOKEN: ___, ...own } = process.env
  const env = {
    ...own,
    WRANGLER_SEND_METRICS: 'false',
    WRANGLER_LOG: 'log',
    CLOUDFLARE_API_BASE_URL: `${cloudflare.url}/client/v4`,
    CLOUDFLARE_API_TOKEN: 'token',
    CLOUDFLARE_ACCOUNT_ID: 'account',
    STAND_IN_URL: cloudflare.url,
    NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import=${join(ROOT, 'test/kit/workers-dev.node.ts')}`,
    ...more,
  }
  return new Promise((resolve) => {
    execFile(process.execPath, [join(ROOT, program), ...args], { cwd: folder, env }, (error, out, said) =>
      resolve({ code: error ? Number(error.code) : 0, said: `${out}${said}` }),
    )
  })
}
const wrangler = (...args: readonly string[]) => run('node_modules/wrangler/bin/wrangler.js', args)

function deploy(args: readonly string[], more: object = {}): Promise<Outcome> {
  cloudflare.uploads.length = 0
  return run('scripts/deploy.ts', args, more)
}

const named = (uploads: readonly Upload[]) => uploads.map(({ worker }) => worker)
const has =
  (name: string) =>
  ({ bindings }: Upload) =>
    bindings.some((binding) => binding.name === name)

/** A request to the deployed gateway. */
const ask = (path: string, init: RequestInit = {}) => fetch(`${cloudflare.url}/workers.dev/weir${path}`, init)
const exchangeStatus = (path: string, more: Readonly<Record<string, string>> = {}) =>
  ask(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...more },
    body: JSON.stringify({ type: 'exchangeStatus' }),
  })
async function balance(): Promise<string> {
  const answer = await ask('/platform/account', { headers: { authorization: `Bearer ${key}` } })
  return ((await answer.json()) as { data: { balance: string } }).data.balance
}

let key = ''

played(
  'fills an empty account with stores and tables',
  async () => {
    // Wrangler would create stores for the probe.
    const early = await run('test/rehearsal/main.node.ts', ['--account'])
    expect([early.code, early.said]).toEqual([1, expect.stringContaining('wrangler.toml has stores without an id')])
    expect([cloudflare.uploads, cloudflare.stores]).toEqual([[], []])
    const created = await Promise.all([
      ...DATABASES.map((name) => wrangler('d1', 'create', `weir-${name}`, '--location', 'apac')),
      wrangler('r2', 'bucket', 'create', 'weir-archive', '--location', 'apac'),
      wrangler('kv', 'namespace', 'create', 'KEYS'),
    ])
    expect(created.filter(({ code }) => code !== 0)).toEqual([])
    for (const [at, name] of DATABASES.entries()) {
      const id = /database_id = "([\w-]{36})"/.exec(created[at]!.said)![1]!
      const ofDatabase = `database_name = "weir-${name}"`
      for (const file of FILES) edit(file, ofDatabase, `database_id = "${id}"\n${ofDatabase}`)
    }
    const namespace = /id = "(\w{32})"/.exec(created.at(-1)!.said)![1]!
    edit('wrangler.toml', 'binding = "KEYS"', `binding = "KEYS"\nid = "${namespace}"`)
    const applied = await Promise.all(
      DATABASES.map((name) => wrangler('d1', 'migrations', 'apply', name.toUpperCase(), '--remote')),
    )
    expect(applied.filter(({ code }) => code !== 0)).toEqual([])
    expect(cloudflare.stores.toSorted()).toEqual([
      'D1 weir-accounts',
      'D1 weir-history',
      'D1 weir-usage',
      'KV KEYS',
      'R2 weir-archive',
    ])
  },
  CEILING_MS,
)

played(
  'resumes a first deploy that failed, with the same secrets, and shows none',
  async () => {
    cloudflare.failing = 'weir-jobs'
    const failed = await deploy(['--first'], { FEED_TOKEN })
    expect([failed.code, failed.said]).toEqual([1, expect.stringContaining('run the same command again')])
    expect(named(cloudflare.uploads)).toEqual(['weir-sql', 'weir-live'])
    const file = join(folder, '.secrets.json')
    const kept = readFileSync(file, 'utf8')
    const { code, said } = await deploy(['--first'])
    expect([code, said]).toEqual([0, expect.stringContaining('.secrets.json')])
    const { uploads } = cloudflare
    expect(named(uploads)).toEqual(['weir-sql', 'weir-live', 'weir-jobs', 'weir', 'weir-live', 'weir-jobs'])
    expect(uploads.map(has('GATEWAY'))).toEqual([false, false, false, false, true, true])
    expect(uploads.map(has('SQL'))).toEqual([false, false, true, false, false, true])
    expect(uploads.map(has('SINK'))).toEqual([false, false, true, true, true, true])
    expect(uploads.map(has('RELAY'))).toEqual([false, true, true, true, true, true])
    expect(cloudflare.pages).toEqual(expect.arrayContaining(['/console.html', '/live.html']))
    const secrets = textsOf(uploads[3], 'secret_text')
    expect(secrets).toEqual({ ADMIN_TOKEN: expect.any(String), FEED_TOKEN, KEY_SECRET: expect.any(String) })
    const drawn = [secrets.ADMIN_TOKEN!, secrets.KEY_SECRET!]
    expect(drawn.every((secret) => secret.length >= 32 && !(failed.said + said).includes(secret))).toBe(true)
    expect(drawn[0]).not.toBe(drawn[1])
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(secrets)
    expect([statSync(file).mode & 0o777, kept]).toEqual([0o600, readFileSync(file, 'utf8')])
    expect(readdirSync(folder)).not.toContain('wrangler.first.toml')
    // The first request, to the Workers as they were uploaded.
    expect(said).toContain(`${WEIR}/status answered. The log and 4 of 4 hubs were created`)
  },
  CEILING_MS,
)

played(
  'creates a key with the command of the guide, and serves and charges a call',
  async () => {
    const { ADMIN_TOKEN } = textsOf(cloudflare.current('weir'), 'secret_text')
    const created = await run('src/cli/main.node.ts', ['keys', 'create', '--credits', '1000', '--url', WEIR], {
      ADMIN_TOKEN,
    })
    expect(created.code).toBe(0)
    key = /^cqt_\w+$/m.exec(created.said)![0]
    const answer = await exchangeStatus('/info', { authorization: `Bearer ${key}` })
    expect([answer.status, answer.headers.get('x-credits-cost')]).toEqual([200, '1'])
    expect(await answer.json()).toEqual({ time: 1, specialStatuses: null })
    expect(await balance()).toBe('999')
  },
  CEILING_MS,
)

played(
  'updates the routes, which keep secrets, keys and balances, and rolls them back',
  async () => {
    const byPath = async () => (await exchangeStatus(`/k/${key}/info`)).status
    expect(await byPath()).toBe(404)
    const undo = edit('wrangler.toml', 'PATH_KEYS = "off"', 'PATH_KEYS = "on"')
    const { code, said } = await deploy(['--routes', '--message', 'a reason'])
    undo()
    expect([code, said]).toEqual([0, expect.not.stringContaining('sockets')])
    expect(named(cloudflare.uploads)).toEqual(['weir'])
    expect(textsOf(cloudflare.uploads[0], 'secret_text')).toEqual({})
    expect([await byPath(), await balance()]).toEqual([200, '998'])
    const rolledBack = await wrangler('rollback', '-c', 'wrangler.toml')
    expect([rolledBack.code, await byPath(), await balance()]).toEqual([0, 404, '998'])
  },
  CEILING_MS,
)

played(
  'deploys the probe of the rehearsal, reports what the account does, and deletes it',
  async () => {
    const { code, said } = await run('test/rehearsal/main.node.ts', ['--account'])
    expect([code, said]).toEqual([0, expect.not.stringMatching(/^failed/m)])
    expect(said).toMatch(/^reported +place of apac-ne: TST, /m)
    expect(said).toContain('6 objects of one class and place run in 1 isolates')
    // workerd alone refuses no write of KV.
    expect(said).toMatch(/^differs +KV: writes of one key/m)
    expect(said).toMatch(/^as assumed +KV: a write after a cached miss/m)
    expect(cloudflare.deleted).toEqual(['weir-probe'])
    expect(readdirSync(folder).filter((name) => name.includes('probe'))).toEqual([])
  },
  CEILING_MS,
)
