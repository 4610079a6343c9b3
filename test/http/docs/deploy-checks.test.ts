// Checks of `npm run deploy` before wrangler runs.

import { describe, expect, it } from 'vitest'
import { unstable_readConfig } from 'wrangler'
import { type DeployFacts, deployFindings, type GatewayConfig } from '../../../scripts/deploy-checks.ts'
import type { WorkerConfig } from '../../../scripts/worker-agreement.ts'
import { CATALOGUE } from '../../../src/info/queries/catalogue.ts'

const files: GatewayConfig = unstable_readConfig({ config: 'wrangler.toml' })
const REQUIRED = ['ADMIN_TOKEN', 'FEED_TOKEN', 'KEY_SECRET']
const SOURCES = [
  { name: 'node', url: 'https://node.example.com/info', types: ['meta'] },
  { name: 'all', url: 'https://api.example.com/info' },
]
const vars = (over: object) => ({ vars: { ...files.vars, ...over } })
const upstreams = (...sources: object[]) => vars({ UPSTREAMS: JSON.stringify(sources) })

const withIds = <T extends object>(databases: readonly T[]) =>
  databases.map((one) => ({ ...one, database_id: '0a1b2c3d-0a1b-4a1b-8a1b-0a1b2c3d4e5f' }))
const liveFile = unstable_readConfig({ config: 'wrangler.live.toml' })
const jobsFile = unstable_readConfig({ config: 'wrangler.jobs.toml' })
const sqlFile = unstable_readConfig({ config: 'wrangler.sql.toml' })

const gateway: GatewayConfig = {
  ...files,
  ...upstreams(...SOURCES),
  d1_databases: withIds(files.d1_databases),
  kv_namespaces: [{ binding: 'KEYS', id: '0123456789abcdef0123456789abcdef' }],
}
const live = { ...liveFile, d1_databases: withIds(liveFile.d1_databases) }
const jobs = { ...jobsFile, d1_databases: withIds(jobsFile.d1_databases) }
const workers = { gateway, live, jobs, sql: sqlFile }
const account = (over: object = {}) => ({
  account: {
    secrets: REQUIRED,
    liveSecrets: [],
    jobsSecrets: [],
    migrations: [],
    schemaFaults: [],
    locations: {},
    ...over,
  },
})
const facts: DeployFacts = {
  gateway,
  workers,
  secretsFault: null,
  scope: 'all',
  isDryRun: false,
  given: {},
  ...account(),
}
const said = (change: Partial<DeployFacts>) =>
  deployFindings({ ...facts, ...change }).map(({ level, text }) => `${level}: ${text}`)
const saidOf = (change: Partial<GatewayConfig>) => said({ gateway: { ...gateway, ...change } })
const at = (url: string) => saidOf(upstreams({ name: 'node', url }))

describe('a deploy', () => {
  it('accepts valid files and a ready account', () => {
    expect(said({})).toEqual([])
    expect(said({ scope: 'routes' })).toEqual([])
  })

  it('reports errors of the SQL Worker', () => {
    const lines = said({
      workers: { ...workers, sql: { ...sqlFile, name: 'other', vars: { SQL_RUNNERS: '0', SQL_TOKEN: '' } } },
    })
    expect(lines).toEqual([
      'error: wrangler.sql.toml: SQL_RUNNERS must be a whole number from 1 to 64.',
      expect.stringMatching(/^error: service of SQL: .*"other".*"weir-sql"/),
    ])
  })

  it('warns about stores that are far from the node, and creates them near it', () => {
    const near = <C extends Pick<WorkerConfig, 'vars'>>(file: C) => ({
      ...file,
      vars: { ...file.vars, FEED_REGION: 'apac-ne' },
    })
    const locations = { 'D1 weir-accounts': 'WEUR', 'D1 weir-history': 'APAC', 'R2 weir-archive': '(unknown)' }
    const all = { gateway: near(gateway), workers: { ...workers, live: near(live), jobs: near(jobs) } }
    expect(said({ ...all, ...account({ locations }) })).toEqual([
      expect.stringMatching(/^warning: D1 weir-accounts is in weur, but apac is nearest to FEED_REGION\./),
    ])
    expect(said(account({ locations }))).toEqual([])
    const lacking = { ...all.gateway, d1_databases: files.d1_databases }
    expect(said({ ...all, gateway: lacking })).toContainEqual(
      expect.stringContaining('"npm run wrangler -- d1 create weir-accounts --location apac"'),
    )
  })

  it('reports missing settings for selling', () => {
    const SIGNUP_SETTINGS = JSON.stringify({ turnstileSiteKey: '0x4AAAAAAADnPIDROrmt1Wwj' })
    const sells = { CHECKOUT: 'stripe', SIGNUP: 'http', SIGNUP_SETTINGS }
    const lines = saidOf({ vars: { ...gateway.vars, ...sells } })
    expect(lines.filter((line) => / required when /.test(line))).toHaveLength(3)
    for (const name of ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', 'SIGNUP_MAILER_TOKEN', 'SIGNUP_TURNSTILE_SECRET'])
      expect(lines).toContainEqual(expect.stringMatching(`^error: .*${name} is not set`))
    expect(saidOf({ vars: { ...gateway.vars, SIGNUP: 'log' } })).toEqual([
      expect.stringMatching(/^warning: SIGNUP is "log"/),
    ])
  })

  it('reports unreachable chain nodes, without the parts of their URLs that may be keys', () => {
    const chains = [{ name: 'evm', urls: ['https://rpc.example.com/key', 'http://127.0.0.1:8545/secret'] }]
    const lines = saidOf({ vars: { ...gateway.vars, RPC_CHAINS: JSON.stringify(chains) } })
    expect(lines).toEqual([
      expect.stringMatching(/^error: RPC_CHAINS: .*wrangler\.jobs\.toml have different values/),
      expect.stringMatching(/^error: RPC_CHAINS: .*127\.0\.0\.1 of "evm"/),
    ])
    expect(lines[1]).not.toContain('secret')
  })

  it('reports all errors at once', () => {
    const { d1_databases, kv_namespaces } = files
    const vars = { ...files.vars, BOOK_HUBS: '8', PATH_KEYS: 'no' }
    const lines = said({ gateway: { ...gateway, d1_databases, kv_namespaces, vars }, account: null })
    expect(lines.map((line) => line.split(/[ :]+/).slice(0, 3).join(' '))).toEqual([
      'error ACCOUNTS has',
      'error USAGE has',
      'error HISTORY has',
      'error KEYS has',
      'error wrangler.toml PATH_KEYS',
      'error BOOK_HUBS wrangler.toml',
      'error HISTORY wrangler.toml',
      'error BOOK_HUBS wrangler.toml',
      'error HISTORY wrangler.toml',
      'warning UPSTREAMS is',
      'error Not logged',
    ])
  })

  it('requires the bindings under the names that the code uses', () => {
    const [database, , history] = gateway.d1_databases
    expect(saidOf({ d1_databases: [{ ...database!, binding: 'weir_accounts' }, history!] })).toEqual([
      expect.stringMatching(/^error: wrangler.toml .*\[\[d1_databases\]\] .*"ACCOUNTS".*weir_accounts, HISTORY/),
      expect.stringMatching(/^error: wrangler.toml .*"USAGE"/),
    ])
    expect(saidOf({ kv_namespaces: [...gateway.kv_namespaces, ...gateway.kv_namespaces] })).toEqual([
      expect.stringMatching(/^error: wrangler.toml .*\[\[kv_namespaces\]\] .*"KEYS".*KEYS, KEYS/),
    ])
  })

  it('accepts a complete archive or none', () => {
    const isKept = ({ binding }: { binding: string }) => binding !== 'HISTORY'
    const none = { d1_databases: [], r2_buckets: [] }
    const bare = { ...gateway, d1_databases: gateway.d1_databases.filter(isKept) }
    const without = { ...bare, r2_buckets: [] }
    const objects = (change: object) => ({
      workers: { ...workers, live: { ...live, ...change }, jobs: { ...jobs, ...change } },
    })
    expect(said({ gateway: without, ...objects(none) })).toEqual([])
    expect(said({ gateway: bare, ...objects({ d1_databases: [] }) })).toEqual([
      expect.stringMatching(/^error: The archive .*\[\[d1_databases\]\] with binding = "HISTORY"/),
    ])
    expect(said({ gateway: without })).toEqual(
      ['live', 'jobs'].flatMap((role) => [
        expect.stringMatching(`^error: HISTORY: .*nothing, wrangler.${role}.toml has "0a1b`),
        expect.stringMatching(/^error: ARCHIVE: /),
      ]),
    )
  })

  it('accepts a product without background Workers, but no archive without them, and none that still exists', () => {
    const withoutJobs = <C extends Pick<WorkerConfig, 'durable_objects'>>(config: C) => ({
      ...config,
      durable_objects: {
        bindings: config.durable_objects.bindings.filter((one) => one.script_name !== jobs.name),
      },
    })
    const ofGateway = withoutJobs(gateway)
    const gone = account({ jobsSecrets: 'no worker' })
    const change = { ...facts, workers: { ...workers, live: withoutJobs(live) }, ...gone }
    expect(said({ ...change, gateway: ofGateway })).toEqual([
      expect.stringMatching(/^error: The archive needs the bindings to the jobs Worker/),
    ])
    const none = { d1_databases: ofGateway.d1_databases.filter(({ binding }) => binding !== 'HISTORY'), r2_buckets: [] }
    const bare = { ...change.workers.live, d1_databases: [], r2_buckets: [] }
    const off = { gateway: { ...ofGateway, ...none }, workers: { ...workers, live: bare } }
    expect(said({ ...off, ...gone })).toEqual([])
    expect(said(off)).toEqual([
      expect.stringMatching(/^error: .* no bindings to the Worker weir-jobs, which still exists\. Delete it first/),
    ])
  })

  it('distinguishes missing, invalid and unknown variables', () => {
    const { BOOK_HUBS, ...vars } = gateway.vars
    expect(saidOf({ vars: { ...vars, BOOKHUBS: BOOK_HUBS } })).toEqual([
      'error: wrangler.toml: BOOK_HUBS is missing: it must be a whole number from 1 to 64 (you sent "BOOKHUBS").',
      expect.stringMatching(/^warning: wrangler.toml: BOOKHUBS .*did you mean "BOOK_HUBS"/),
    ])
  })

  it.each<[object, RegExp]>([
    [{ timeout: 5 }, /^error: wrangler.toml: UPSTREAMS 0.timeout: unknown field; did you mean "timeoutMs"/],
    [{ budget: 5 }, /^error: wrangler.toml: UPSTREAMS 0.budget: must be at least 240/],
    [{ url: 'https://node.example.com' }, /^warning: Source "node": .* has no path.* \/info/],
  ])('explains the expected form of a source with %j', (field, words) => {
    const source = { name: 'node', url: 'https://node.example.com/info', ...field }
    expect(saidOf(upstreams(source))).toEqual([expect.stringMatching(words)])
  })

  it.each<[string, Partial<GatewayConfig>, RegExp]>([
    [
      'an id of a database',
      { d1_databases: [{ binding: 'ACCOUNTS', database_id: '<id>' }, ...gateway.d1_databases.slice(1)] },
      /^error: database_id "<id>" of ACCOUNTS .*"npm run wrangler -- d1 create/,
    ],
    [
      'an id of a namespace',
      { kv_namespaces: [{ binding: 'KEYS', id: 'xxx' }] },
      /^error: id "xxx" of KEYS .*"npm run wrangler -- kv namespace create KEYS"/,
    ],
    ['no sources', upstreams(), new RegExp(`^warning: UPSTREAMS is empty: only 11 of ${CATALOGUE.length} info types`)],
    ['text that is no JSON', vars({ UPSTREAMS: '{' }), /^error: wrangler\.toml: UPSTREAMS is not JSON/],
    ['a list in TOML', vars({ UPSTREAMS: [{}] }), /^error: wrangler\.toml: UPSTREAMS must be a string/],
    ['no list', vars({ UPSTREAMS: undefined }), /^error: wrangler\.toml: UPSTREAMS must be a string/],
    ['an unknown field', upstreams({ ...SOURCES[1], header: 'x' }), /^error: wrangler\.toml: UPSTREAMS 0.header: /],
    [
      'a type that nobody asks for',
      upstreams({ ...SOURCES[0], types: ['metaa'] }, SOURCES[1]!),
      /^warning: UPSTREAMS names "metaa"/,
    ],
    ['types that nobody serves', upstreams(SOURCES[0]!), /^warning: No source serves activeAssetData, .+ \d\d others/],
  ])('reports errors of %s', (_, change, line) => {
    expect(saidOf(change)).toEqual([expect.stringMatching(line)])
  })

  it.each([
    '127.0.0.1:3001',
    '127.1',
    '10.0.0.7',
    '[::1]',
    '203.0.113.7',
    'localhost:3001',
    'node',
    'node.lan',
    'a.internal',
  ])('rejects a source at %s, which no Worker can reach', (host) => {
    expect(at(`http://${host}/info`)[0]).toMatch(/^error: Source "node": .*reach http/)
  })

  it.each(['https://node.example.com/info', 'http://1.example.com:8080/info', 'https://local.example/info'])(
    'takes the source %s',
    (url) => {
      expect(at(url)).toEqual([])
    },
  )

  it.each<[string, Partial<DeployFacts>, RegExp]>([
    ['nobody is logged in', { account: null }, /^error: Not logged in.*"npm run wrangler -- login"/],
    [
      'nobody is logged in, at a dry run',
      { account: null, isDryRun: true },
      /^note: Not logged in: .*ADMIN_TOKEN, FEED_TOKEN, KEY_SECRET/,
    ],
    ['there is no Worker', account({ secrets: 'no worker' }), /^error: The Worker weir does not exist yet/],
    [
      'a secret is missing',
      account({ secrets: ['ADMIN_TOKEN', 'KEY_SECRET'] }),
      /^error: .*FEED_TOKEN is not set.*secret put FEED_TOKEN/,
    ],
    ['secrets cannot be read', account({ secrets: null }), /^warning: The secrets of the account could not/],
    [
      'migrations are missing',
      account({ migrations: ['HISTORY/0006_x.sql'] }),
      /^error: HISTORY .*0006_x\.sql.* apply HISTORY/,
    ],
    [
      'a table is missing although its migration is noted',
      account({ schemaFaults: ['ACCOUNTS/no table audit'] }),
      /^error: ACCOUNTS has no table audit,.*schemas\/d1\/accounts/,
    ],
    ['migrations cannot be read', account({ migrations: null }), /^warning: The migrations/],
  ])('reports where %s', (_, change, line) => {
    expect(said(change)).toEqual([expect.stringMatching(line)])
  })

  const headers = { Authorization: 'SOURCE_TOKEN' }
  const chains = JSON.stringify([{ name: 'c', urls: ['https://node.example.com/evm'], headers }])
  const guarded = { ...gateway, ...upstreams({ ...SOURCES[1]!, headers }) }
  const guardedBoth = {
    gateway: { ...guarded, vars: { ...guarded.vars, RPC_CHAINS: chains } },
    workers: { ...workers, jobs: { ...jobs, vars: { ...jobs.vars, RPC_CHAINS: chains } } },
  }
  it.each<[string, Partial<DeployFacts>, RegExp[]]>([
    [
      'the gateway lacks one',
      { gateway: guarded },
      [/^error: The secret SOURCE_TOKEN, .* is not set\. .*-c wrangler\.toml/],
    ],
    ['the gateway has it', { gateway: guarded, ...account({ secrets: [...REQUIRED, 'SOURCE_TOKEN'] }) }, []],
    [
      'the jobs Worker lacks one',
      { ...guardedBoth, ...account({ secrets: [...REQUIRED, 'SOURCE_TOKEN'] }) },
      [/^error: The secret SOURCE_TOKEN, .* is not set\. .*-c wrangler\.jobs\.toml/],
    ],
    [
      'the jobs Worker is turned on',
      { ...guardedBoth, ...account({ secrets: [...REQUIRED, 'SOURCE_TOKEN'], jobsSecrets: 'no worker' }) },
      [/^note: .* the secret SOURCE_TOKEN\. .*-c wrangler\.jobs\.toml" after the deploy/],
    ],
    [
      'both have it',
      { ...guardedBoth, ...account({ secrets: [...REQUIRED, 'SOURCE_TOKEN'], jobsSecrets: ['SOURCE_TOKEN'] }) },
      [],
    ],
    [
      'only the gateway is deployed',
      { ...guardedBoth, scope: 'routes', ...account({ secrets: [...REQUIRED, 'SOURCE_TOKEN'] }) },
      [],
    ],
  ])('checks the secrets of sources: %s', (_, change, lines) => {
    expect(said(change)).toEqual(lines.map((line) => expect.stringMatching(line)))
  })

  it('says before the first deploy which secrets of sources to set afterwards', () => {
    const none = { secrets: 'no worker', jobsSecrets: 'no worker' } as const
    const lines = said({ ...guardedBoth, scope: 'first', ...account(none) }).filter((line) => line.includes('SOURCE_'))
    expect(lines).toEqual([
      expect.stringMatching(/^note: .*secret put SOURCE_TOKEN -c wrangler\.toml" after the deploy/),
      expect.stringMatching(/^note: .*secret put SOURCE_TOKEN -c wrangler\.jobs\.toml" after the deploy/),
    ])
    const draft = account({ secrets: ['SOURCE_TOKEN'] })
    expect(said({ gateway: guarded, scope: 'first', ...draft }).filter((line) => line.startsWith('error'))).toEqual([
      expect.stringMatching(/already has a Worker weir without secrets/),
    ])
  })

  it.each<[string, Partial<DeployFacts>, RegExp[]]>([
    ['unset', {}, [/^error: The secret ALERT_SECRET, .* is not set\. .*put ALERT_SECRET -c wrangler\.live\.toml/]],
    ['set', account({ liveSecrets: ['ALERT_SECRET'] }), []],
    ['set only for the gateway', account({ secrets: [...REQUIRED, 'ALERT_SECRET'] }), [/^error: .*ALERT_SECRET/]],
    ['unknown', account({ liveSecrets: null }), [/^warning: Whether the secret ALERT_SECRET is set is unknown\./]],
    ['unset, but the live Worker is not deployed', { scope: 'routes' }, []],
    ['not checked', { account: null, isDryRun: true }, [/^note: Not logged in: .*ALERT_SECRET/]],
  ])('checks the secret of alerts: %s', (_, change, lines) => {
    const alerting = { ...live, vars: { ...live.vars, ALERT_URL: 'https://receiver.example/alerts' } }
    const found = said({ workers: { ...workers, live: alerting }, ...change })
    expect(found).toEqual(lines.map((line) => expect.stringMatching(line)))
  })

  it('rejects secrets on unencrypted connections', () => {
    const plain = { ...SOURCES[1]!, url: 'http://api.example.com/info', headers }
    const lines = said({
      gateway: { ...gateway, ...upstreams(plain) },
      ...account({ secrets: [...REQUIRED, 'SOURCE_TOKEN'] }),
    })
    expect(lines).toEqual([expect.stringMatching(/^error: "all" has headers with secrets, .*https/)])
  })

  it.each<[string, Partial<DeployFacts>, RegExp | null]>([
    ['no Worker', account({ secrets: 'no worker' }), null],
    ['a Worker that is not ours', account({ secrets: [] }), /^error: The account .* Worker weir without.*overwrite/],
    ['a damaged file of secrets', { secretsFault: '.secrets.json is damaged.' }, /^error: .secrets.json is damaged/],
    ['secrets of an earlier try', account(), null],
    ['a part of the secrets', account({ secrets: ['KEY_SECRET', 'FEED_TOKEN'] }), /^error: .*ADMIN_TOKEN is not set/],
    ['secrets that cannot be read', account({ secrets: null }), /^error: The secrets of the account could not/],
    [
      'a secret that nobody could send',
      { given: { ADMIN_TOKEN: `${'x'.repeat(32)}\r`, FEED_TOKEN: 'x'.repeat(32) } },
      /^error: ADMIN_TOKEN from the environment or \.secrets\.json contains a space/,
    ],
    [
      'a short secret',
      { given: { ADMIN_TOKEN: 'short', FEED_TOKEN: undefined, KEY_SECRET: 'x'.repeat(32) } },
      /^error: ADMIN_TOKEN .*\.secrets\.json .*32 characters/,
    ],
  ])('the first time handles %s', (_, change, line) => {
    const lines = said({ ...change, scope: 'first' })
    const always = /^note: .*costs\.md|^warning: FEED_REGION is empty/
    expect(lines.filter((one) => always.test(one))).toHaveLength(2)
    expect(lines.filter((one) => !always.test(one))).toEqual(line === null ? [] : [expect.stringMatching(line)])
  })

  it('requires the zone of its own address, which pipelines must not reach', () => {
    const routes = [{ pattern: 'api.example.com', custom_domain: true }, 'www.example.net/*']
    const own = (vars: object) => said({ gateway: { ...gateway, routes, vars: { ...gateway.vars, ...vars } } })
    const missing = (host: string) => expect.stringMatching(`^error: routes: .*${host}`)
    expect(own({})).toEqual([missing('api.example.com'), missing('www.example.net')])
    const zones = { OWN_ZONES: 'example.net', PUBLIC_URL: 'https://api.example.com' }
    expect(own(zones).filter((line) => line.includes('routes'))).toEqual([])
  })

  it('rejects insecure settings in every file', () => {
    const open = { ...facts.workers.live, preview_urls: true }
    expect(said({ workers: { ...facts.workers, live: open } })).toEqual([
      expect.stringMatching(/^error: wrangler.live.toml: preview_urls must be false/),
    ])
  })

  it('rejects variables that are too large in every file', () => {
    const large = { ...jobs, vars: { ...jobs.vars, PIPELINE_HYPERDRIVE: 'x'.repeat(5_121) } }
    expect(said({ workers: { ...workers, jobs: large } })).toContainEqual(
      expect.stringMatching(/^error: wrangler.jobs.toml: PIPELINE_HYPERDRIVE has 5,121 bytes/),
    )
  })
})
