// `weir deploy` against a stand-in for a Cloudflare account: from an empty account to a paid call, with kills at every step,
// updates, a gradual deploy, a roll-back, and the probe of `npm run rehearse -- --account`.

import { spawn } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lockFile } from '../../src/core/file-lock.node.ts'
import { API_TOKEN, Cloudflare, textsOf, type Upload } from '../kit/cloudflare.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'
import { MAIN, ROOT } from '../kit/program.ts'
import { startProbe } from '../rehearsal/account/probe.node.ts'

/** Each deploy starts wrangler up to six times. */
const CEILING_MS = 300_000
/** A part of `npm run rehearse`, because it takes minutes of CPU time. Unit tests cover the rules. */
const played = it.runIf(process.env.REHEARSAL !== undefined)
const FEED_TOKEN = 'the-feed-token-of-the-environment'
const WEIR = 'https://weir.me.workers.dev'
const NODE_URL = 'http://node.example.com'
const ALL_STORES = ['D1 weir-accounts', 'D1 weir-history', 'D1 weir-usage', 'KV weir-keys', 'R2 weir-archive']

const probes: Awaited<ReturnType<typeof startProbe>>[] = []
const folders: string[] = []
let node: HttpServer

beforeAll(async () => {
  node = await startServer((_, response) => {
    response.setHeader('content-type', 'application/json').end('{"time":1,"specialStatuses":null}')
  })
})
afterAll(async () => {
  await Promise.all(probes.map(({ dispose }) => dispose()))
  node?.close()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

interface Outcome {
  readonly code: number | null
  readonly said: string
  /** Standard output. */
  readonly out: string
}

/** An operator's empty folder, and an account. */
class Operator {
  readonly cloudflare = new Cloudflare({
    reach: { [NODE_URL]: node.url },
    runOther: async (upload) => {
      const probe = await startProbe(upload.modules.get('probe.worker.js') ?? '', textsOf(upload, 'plain_text'))
      probes.push(probe)
      return probe.url
    },
  })
  readonly folder = mkdtempSync(join(tmpdir(), 'weir-deploy-'))

  constructor() {
    folders.push(this.folder)
  }

  /** Runs a program in the folder, logged in. It is killed, with what it started, once the account has a change like this. */
  async run(command: readonly string[], more: object = {}, killedAt?: RegExp): Promise<Outcome> {
    this.cloudflare.uploads.length = 0
    // Other files of this process set secrets of their own.
    const { ADMIN_TOKEN: _, KEY_SECRET: __, FEED_TOKEN: ___, ...own } = process.env
    const env = {
      ...own,
      WRANGLER_SEND_METRICS: 'false',
      CLOUDFLARE_API_BASE_URL: `${this.cloudflare.url}/client/v4`,
      CLOUDFLARE_API_TOKEN: API_TOKEN,
      STAND_IN_URL: this.cloudflare.url,
      NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import=${join(ROOT, 'test/kit/workers-dev.node.ts')}`,
      ...more,
    }
    const [program = '', ...args] = command
    const stdio = ['pipe', 'pipe', 'pipe'] as const
    const child = spawn(program, args, { cwd: this.folder, env, stdio: [...stdio], detached: true })
    child.stdin.end(`${'a-new-secret-'.repeat(3)}\n`)
    if (killedAt !== undefined)
      this.cloudflare.onChange = (change) => killedAt.test(change) && process.kill(-child.pid!, 'SIGKILL')
    const texts = { out: '', said: '' }
    child.stdout.on('data', (piece) => {
      texts.out += piece
      texts.said += piece
    })
    child.stderr.on('data', (piece) => (texts.said += piece))
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    this.cloudflare.onChange = () => undefined
    return { code, ...texts }
  }

  deploy(args: readonly string[], more: object = {}, killedAt?: RegExp): Promise<Outcome> {
    return this.run([process.execPath, MAIN, 'deploy', ...args], more, killedAt)
  }

  wrangler(...args: readonly string[]): Promise<Outcome> {
    return this.run([process.execPath, join(ROOT, 'node_modules/wrangler/bin/wrangler.js'), ...args])
  }

  get settings(): string {
    return readFileSync(join(this.folder, 'weir.toml'), 'utf8')
  }

  /** Replaces text of weir.toml, and returns a function that undoes it. */
  edit(from: string | RegExp, to: string): () => void {
    const kept = this.settings
    expect(kept).toMatch(from)
    writeFileSync(join(this.folder, 'weir.toml'), kept.replace(from, to))
    return () => writeFileSync(join(this.folder, 'weir.toml'), kept)
  }

  get secrets(): Record<string, string> {
    return JSON.parse(readFileSync(join(this.folder, '.secrets.json'), 'utf8')) as Record<string, string>
  }

  /** A request to the deployed gateway. */
  ask(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.cloudflare.url}/workers.dev/weir${path}`, init)
  }

  /** States of the keys of all accounts. */
  async keys(): Promise<readonly { readonly revoked: number | null }[]> {
    const headers = { authorization: `Bearer ${this.secrets.ADMIN_TOKEN}` }
    const { keys } = (await (await this.ask('/admin/keys', { headers })).json()) as {
      keys: { revoked: number | null }[]
    }
    return keys
  }
}

const named = (uploads: readonly Upload[]) => uploads.map(({ worker }) => worker)
const has =
  (name: string) =>
  ({ bindings }: Upload) =>
    bindings.some((binding) => binding.name === name)
const migrationsOf = (name: string) => readdirSync(join(ROOT, 'schemas/d1', name)).sort()

/** Names of the recorded migrations of each database. */
function applied({ created, databases }: Cloudflare): Record<string, unknown> {
  const found = created.filter(({ kind }) => kind === 'D1')
  return Object.fromEntries(
    found.map(({ id, name }) => {
      const [rows = []] = databases.get(id)!.query('SELECT name FROM d1_migrations ORDER BY id')
      return [name.replace('weir-', ''), rows.map((row) => row.name)]
    }),
  )
}
const ALL_MIGRATIONS = Object.fromEntries(['accounts', 'usage', 'history'].map((name) => [name, migrationsOf(name)]))

describe('the template of the button', () => {
  let operator: Operator
  beforeAll(async () => {
    operator = new Operator()
    await operator.cloudflare.start()
  })
  afterAll(() => operator.cloudflare.stop())

  it(
    'deploys everything to an empty account with its one command, and asks nothing',
    async () => {
      cpSync(join(ROOT, 'deploy/cloudflare'), operator.folder, { recursive: true })
      mkdirSync(join(operator.folder, 'node_modules/.bin'), { recursive: true })
      chmodSync(join(ROOT, 'packages/weir/bin/weir.js'), 0o755)
      symlinkSync(join(ROOT, 'packages/weir/bin/weir.js'), join(operator.folder, 'node_modules/.bin/weir'))
      const { code, out, said } = await operator.run(['npm', 'run', '--silent', 'deploy'], { FEED_TOKEN })
      expect([code, said]).toEqual([0, expect.stringContaining(`The gateway answers at ${WEIR}`)])
      const { cloudflare, secrets } = operator
      expect(cloudflare.stores).toEqual(ALL_STORES)
      expect(cloudflare.created.filter(({ kind }) => kind !== 'KV').map(({ location }) => location)).toEqual(
        Array(4).fill('apac'),
      )
      expect(applied(cloudflare)).toEqual(ALL_MIGRATIONS)
      const { uploads } = cloudflare
      expect(named(uploads)).toEqual(['weir-sql', 'weir-live', 'weir-jobs', 'weir', 'weir-live', 'weir-jobs'])
      expect(uploads.map(has('GATEWAY'))).toEqual([false, false, false, false, true, true])
      expect(uploads.map(has('SQL'))).toEqual([false, false, true, false, false, true])
      expect(uploads.map(has('SINK'))).toEqual([false, false, true, true, true, true])
      expect(uploads.map(has('RELAY'))).toEqual([false, true, true, true, true, true])
      expect(cloudflare.pages).toEqual(expect.arrayContaining(['/console.html', '/live.html']))
      const { WEIR_KEY, WEIR_URL, ...sent } = secrets
      expect(textsOf(uploads[3], 'secret_text')).toEqual(sent)
      expect(sent).toEqual({ ADMIN_TOKEN: expect.any(String), FEED_TOKEN, KEY_SECRET: expect.any(String) })
      expect([out.trim(), WEIR]).toEqual([WEIR_KEY, WEIR_URL])
      // Neither what was generated nor what was given is shown.
      expect(Object.values(sent).filter((secret) => secret.length < 32 || said.includes(secret))).toEqual([])
      expect(sent.ADMIN_TOKEN).not.toBe(sent.KEY_SECRET)
      expect(said).toContain(
        `FEED_TOKEN=<FEED_TOKEN of .secrets.json> npx weir feed --data ~/hl/data --info http://127.0.0.1:3001 --gateway ${WEIR}\n`,
      )
      expect(said).toContain(`${WEIR}/status answered. The log and 4 of 4 hubs were created in the region apac-ne`)
      expect(statSync(join(operator.folder, '.secrets.json')).mode & 0o777).toBe(0o600)
      expect(existsSync(join(operator.folder, '.weir-deploy/secrets.json'))).toBe(false)
      const answer = await operator.ask('/platform/account', { headers: { authorization: `Bearer ${WEIR_KEY}` } })
      expect(((await answer.json()) as { data: { balance: string } }).data.balance).toBe('100000')
    },
    CEILING_MS,
  )
})

describe('a deploy that changes nothing', () => {
  let operator: Operator
  beforeAll(async () => {
    operator = new Operator()
    await operator.cloudflare.start()
  })
  afterAll(() => operator.cloudflare.stop())

  const stops = async (args: readonly string[], more: object = {}) => {
    const { code, said } = await operator.deploy(args, more)
    expect([code, operator.cloudflare.uploads]).toEqual([1, []])
    return said
  }

  it(
    'says why',
    async () => {
      const { cloudflare, folder } = operator
      const file = join(folder, 'weir.toml')
      expect(await stops(['--yes'], { CLOUDFLARE_API_TOKEN: 'wrong' })).toMatch(
        /^The login was refused: Authentication error/,
      )
      const silent = await stops([])
      expect(silent).toMatch(/^Pass --name, or --yes for all defaults \(here weir\)/)
      expect(silent.match(/^Pass --\w+/gm)).toEqual(
        ['name', 'region', 'node', 'domain'].map((name) => `Pass --${name}`),
      )
      cloudflare.accounts.push({ id: 'other', name: 'Another' })
      expect(await stops(['--yes'])).toMatch(/^Pass --account\. .*\n {2}account {2}account\n {2}other {2}Another/)
      cloudflare.accounts.pop()
      writeFileSync(file, 'nam = "acme"\n')
      expect(await stops(['--yes'])).toMatch(/^weir\.toml: nam unknown field; did you mean "name"/)
      writeFileSync(file, '[vars]\nBOOK_HUB = "4"\n')
      expect(await stops(['--yes'])).toBe(
        'weir.toml: vars.BOOK_HUB is not a variable of Weir. Did you mean BOOK_HUBS?\n',
      )
      writeFileSync(file, '[ids]\nkeys = "00000001000040008000000000000009"\n')
      expect(await stops(['--yes'])).toMatch(
        /ids\.keys is 0+1\d+, but the account has no KV namespace.*\n1 error: nothing was deployed/s,
      )
      rmSync(file)
      expect(await stops(['--yes'], { WORKERS_CI: '1' })).toContain('would be lost with the folder of this build')
      expect(await stops(['--yes', '--jobs'])).toContain('The Worker weir does not exist yet')
      const lock = lockFile(join(folder, '.weir-deploy/lock.sqlite'), 0)
      for (const args of [['--yes'], ['--secret', 'ADMIN_TOKEN']])
        expect(await stops(args)).toBe('Another "weir deploy" runs in this folder. Wait until it has ended.\n')
      lock?.close()
      expect(cloudflare.created).toEqual([])
      const refusal = { status: 403, code: 10042, message: 'Please enable R2 through the Cloudflare Dashboard.' }
      cloudflare.failing = {
        request: 'POST /client/v4/accounts/account/r2/buckets',
        refusal: { ...refusal, status: 400 },
      }
      expect(await stops(['--yes'])).toContain('Turn on R2 at https://dash.cloudflare.com/account/r2')
      expect(cloudflare.stores).toEqual(ALL_STORES.slice(0, 4))
    },
    CEILING_MS,
  )

  it(
    'lists what it would do in a dry run, and every problem',
    async () => {
      const undo = operator.edit('UPSTREAMS = []', 'UPSTREAMS = "{"')
      const { cloudflare } = operator
      const before = operator.settings
      cloudflare.remove('weir-usage')
      const { code, said } = await operator.deploy(['--routes', '--dry-run'])
      undo()
      expect([code, cloudflare.uploads, cloudflare.stores.length]).toEqual([1, [], 3])
      expect(said).toContain('1. weir\n')
      expect(said).toContain('R2 weir-archive: is created in apac')
      expect(said).toContain('D1 weir-accounts: exists')
      // Before wrangler runs, and again at the end.
      expect(said.split('error    weir.toml: UPSTREAMS is not JSON')).toHaveLength(3)
      expect(said.split('error    weir.toml: ids.usage is ')).toHaveLength(3)
      expect(said.trimEnd()).toMatch(/a deploy would stop here\.$/)
      expect(before).toContain('UPSTREAMS = "{"')
    },
    CEILING_MS,
  )

  it(
    'continues after a store was deleted, and says if the account needs a paid plan',
    async () => {
      const { cloudflare } = operator
      operator.edit(/^usage = .*\n/m, '')
      const message = 'Please upgrade to a paid plan: https://dash.cloudflare.com/account/workers/plans'
      const request = 'PUT /client/v4/accounts/account/workers/scripts/weir-sql'
      cloudflare.failing = { request, refusal: { status: 400, code: 10015, message } }
      expect(await stops(['--yes'])).toContain('The account needs the Workers Paid plan. Fix the cause and run')
      expect(cloudflare.stores).toEqual(ALL_STORES)
      expect(applied(cloudflare)).toEqual(ALL_MIGRATIONS)
    },
    CEILING_MS,
  )
})

describe('a gateway', () => {
  let operator: Operator
  let ids: string[]
  const exchangeStatus = (path: string, more: Readonly<Record<string, string>> = {}) =>
    operator.ask(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...more },
      body: JSON.stringify({ type: 'exchangeStatus' }),
    })
  const authorization = () => ({ authorization: `Bearer ${operator.secrets.WEIR_KEY}` })
  const balance = async () => {
    const answer = await operator.ask('/platform/account', { headers: authorization() })
    return ((await answer.json()) as { data: { balance: string } }).data.balance
  }
  beforeAll(async () => {
    operator = new Operator()
    await operator.cloudflare.start()
  })
  afterAll(() => operator.cloudflare.stop())

  const ANSWERS = ['--yes', '--node', `${NODE_URL}/info`]
  const killed = async (at: RegExp) => {
    const { code, said } = await operator.deploy(ANSWERS, { FEED_TOKEN }, at)
    expect([code, said]).toEqual([null, expect.any(String)])
  }

  it(
    'has one of each store, although the command was killed between them',
    async () => {
      const { cloudflare } = operator
      await killed(/^POST \S+\/d1\/database .*weir-usage/)
      expect(cloudflare.stores).toEqual(['D1 weir-accounts', 'D1 weir-usage'])
      expect(operator.settings).toMatch(/accounts = .*\n$/)
      await killed(/^POST \S+\/kv\/namespaces /)
      await killed(/^POST \S+\/query .*INSERT INTO d1_migrations .*'0002/s)
      expect(cloudflare.stores).toEqual(ALL_STORES)
      ids = operator.settings.match(/^(?:accounts|usage|history|keys) = .*$/gm) ?? []
      expect(ids).toHaveLength(4)
      expect(cloudflare.uploads).toEqual([])
    },
    CEILING_MS,
  )

  played(
    'is completed after kills during the deploys and after the first key',
    async () => {
      const { cloudflare } = operator
      await killed(/^PUT \S+\/scripts\/weir-jobs /)
      expect([...cloudflare.deployments.keys()]).toEqual(['weir-sql', 'weir-live', 'weir-jobs'])
      await killed(/^PUT \S+\/scripts\/weir /)
      const kept = operator.secrets
      await killed(/^POST \/admin\/keys /)
      const { code, said } = await operator.deploy(ANSWERS)
      expect([code, said]).toEqual([0, expect.stringContaining('The first key, of the account main')])
      expect(cloudflare.stores).toEqual(ALL_STORES)
      expect(operator.settings.match(/^(?:accounts|usage|history|keys) = .*$/gm)).toEqual(ids)
      expect(applied(cloudflare)).toEqual(ALL_MIGRATIONS)
      const { WEIR_KEY, WEIR_URL, ...sent } = operator.secrets
      expect([sent, sent.FEED_TOKEN]).toEqual([kept, FEED_TOKEN])
      expect(textsOf(cloudflare.current('weir'), 'secret_text')).toEqual(sent)
      expect((await operator.keys()).filter(({ revoked }) => revoked === null)).toHaveLength(1)
      expect([WEIR_KEY, WEIR_URL]).toEqual([expect.stringMatching(/^cqt_\w+$/), WEIR])
      expect(
        ['weir-live', 'weir-jobs'].map((name) =>
          cloudflare.current(name)?.bindings.some(({ name: one }) => one === 'GATEWAY'),
        ),
      ).toEqual([true, true])
    },
    CEILING_MS,
  )

  played(
    'serves and charges a call with the first key',
    async () => {
      const answer = await exchangeStatus('/info', authorization())
      expect([answer.status, answer.headers.get('x-credits-cost')]).toEqual([200, '1'])
      expect(await answer.json()).toEqual({ time: 1, specialStatuses: null })
      expect(await balance()).toBe('99999')
    },
    CEILING_MS,
  )

  played(
    'is updated by the same command, which creates nothing',
    async () => {
      const { cloudflare } = operator
      const before = [operator.settings, operator.secrets, cloudflare.stores]
      const { code, out, said } = await operator.deploy([])
      expect([code, out]).toEqual([0, ''])
      expect(said).toContain('WebSockets close within 5 minutes')
      expect(named(cloudflare.uploads)).toEqual(['weir-live', 'weir-sql', 'weir-jobs', 'weir'])
      expect([operator.settings, operator.secrets, cloudflare.stores]).toEqual(before)
      expect((await operator.keys()).filter(({ revoked }) => revoked === null)).toHaveLength(1)
      expect(await operator.deploy(['--jobs'])).toMatchObject({
        code: 0,
        said: expect.not.stringContaining('close within'),
      })
      expect(named(cloudflare.uploads)).toEqual(['weir-sql', 'weir-jobs'])
    },
    CEILING_MS,
  )

  played(
    'keeps secrets, keys and balances over an update of its routes, and is rolled back',
    async () => {
      const { cloudflare, secrets } = operator
      const byPath = async () => (await exchangeStatus(`/k/${secrets.WEIR_KEY}/info`)).status
      expect(await byPath()).toBe(404)
      const undo = operator.edit('[vars]', '[vars]\nPATH_KEYS = "on"')
      const { code } = await operator.deploy(['--routes', '--message', 'a reason'])
      undo()
      expect([code, named(cloudflare.uploads)]).toEqual([0, ['weir']])
      expect(textsOf(cloudflare.uploads[0], 'secret_text')).toEqual({})
      expect([await byPath(), await balance()]).toEqual([200, '99998'])
      const rolledBack = await operator.wrangler('rollback', '-c', '.weir-deploy/gateway.toml', '-y')
      expect([rolledBack.code, await byPath(), await balance()]).toEqual([0, 404, '99998'])
    },
    CEILING_MS,
  )

  played(
    'moves its live objects in steps, and stops if the feed is not live',
    async () => {
      const { cloudflare } = operator
      let state = 'live'
      const status = await startServer((_, response) => void response.end(JSON.stringify({ state })))
      const undo = operator.edit('[vars]', `[vars]\nPUBLIC_URL = "${status.url}"`)
      const [old] = cloudflare.deployments.get('weir-live')?.[0] ?? []
      try {
        const { code, said } = await operator.deploy(['--gradual', '25,100', '--pause', '1'])
        expect([code, said]).toEqual([0, expect.stringContaining('100 % of the objects')])
        expect(named(cloudflare.uploads)).toEqual(['weir-live', 'weir-sql', 'weir-jobs', 'weir'])
        const steps = cloudflare.deployments.get('weir-live')?.slice(0, 2).reverse() ?? []
        const shares = steps.map((versions) =>
          versions.map(({ version_id: id, percentage }) => [id === old?.version_id, percentage]),
        )
        expect(shares).toEqual([
          [
            [false, 25],
            [true, 75],
          ],
          [[false, 100]],
        ])
        state = 'silent'
        const stopped = await operator.deploy(['--gradual'])
        expect(stopped).toMatchObject({ code: 1, said: expect.stringContaining('Nothing was changed') })
        expect(cloudflare.uploads).toEqual([])
      } finally {
        undo()
        status.close()
      }
    },
    CEILING_MS,
  )

  played(
    'gets a secret from standard input, which is kept in the file of secrets if it was there',
    async () => {
      const { cloudflare } = operator
      const value = 'a-new-secret-'.repeat(3)
      expect(await operator.deploy(['--secret', 'FEED_TOKEN'])).toMatchObject({
        code: 0,
        said: 'Set FEED_TOKEN of weir.\n',
      })
      expect(await operator.deploy(['--secret', 'ALERT_SECRET'])).toMatchObject({
        code: 0,
        said: 'Set ALERT_SECRET of weir-live.\n',
      })
      expect(await operator.deploy(['--secret', 'FEED_TOKE'])).toMatchObject({
        code: 1,
        said: expect.stringContaining('Did you mean FEED_TOKEN?'),
      })
      expect(operator.secrets).toMatchObject({ FEED_TOKEN: value })
      expect(operator.secrets).not.toHaveProperty('ALERT_SECRET')
      expect(textsOf(cloudflare.current('weir'), 'secret_text')).toMatchObject({ FEED_TOKEN: value })
      expect(textsOf(cloudflare.current('weir-live'), 'secret_text')).toEqual({ ALERT_SECRET: value })
    },
    CEILING_MS,
  )

  played(
    'refuses to leave the jobs Worker running alone, and deploys it before those that bind it when it is turned on',
    async () => {
      const { cloudflare } = operator
      const undo = operator.edit(/^name/m, 'jobs = false\nname')
      const left =
        /^error +weir\.toml: jobs is false, but the Worker weir-jobs still exists.*1 error: nothing was deployed/ms
      expect(await operator.deploy([])).toMatchObject({ code: 1, said: expect.stringMatching(left) })
      undo()
      expect(cloudflare.uploads).toEqual([])
      cloudflare.deployments.delete('weir-jobs')
      expect(await operator.deploy([])).toMatchObject({ code: 0 })
      expect(named(cloudflare.uploads)).toEqual(['weir-sql', 'weir-jobs', 'weir-live', 'weir'])
    },
    CEILING_MS,
  )

  played(
    'has a probe deployed by the rehearsal, which reports what the account does, and deletes it',
    async () => {
      const rehearse = [process.execPath, join(ROOT, 'test/rehearsal/main.node.ts'), '--account']
      const { code, said } = await operator.run(rehearse)
      expect([code, said]).toEqual([0, expect.not.stringMatching(/^failed/m)])
      expect(said).toMatch(/^reported +place of apac-ne: TST, /m)
      expect(said).toContain('6 objects of one class and place run in 1 isolates')
      // workerd alone refuses no write of KV.
      expect(said).toMatch(/^differs +KV: writes of one key/m)
      expect(said).toMatch(/^as assumed +KV: a write after a cached miss/m)
      expect(operator.cloudflare.deleted).toEqual(['weir-probe'])
      expect(readdirSync(operator.folder).filter((name) => name.includes('probe'))).toEqual([])
    },
    CEILING_MS,
  )
})
