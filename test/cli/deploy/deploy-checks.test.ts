// Checks of `weir deploy` before anything is created.

import { describe, expect, it } from 'vitest'
import { type AccountFacts, type DeployFacts, deployFindings } from '../../../src/cli/deploy/deploy-checks.ts'
import { CATALOGUE } from '../../../src/info/queries/catalogue.ts'
import { accountOf, factsOf, IDS, REQUIRED, SOURCES, settingsWith } from './facts.ts'

type Facts = Omit<Partial<DeployFacts>, 'settings'>
type Change = Facts & { readonly settings?: Readonly<Record<string, unknown>> }

/** The findings about these settings and facts. */
function said({ settings = {}, ...change }: Change = {}): string[] {
  return deployFindings(factsOf(settingsWith(settings), change)).map(({ level, text }) => `${level}: ${text}`)
}
const withVars = (vars: object, change: Facts = {}) => said({ settings: { vars }, ...change })
const upstreams = (...sources: object[]) => withVars({ UPSTREAMS: sources })
const at = (url: string) => upstreams({ name: 'node', url })
const account = (change: Partial<AccountFacts>, settings: Readonly<Record<string, unknown>> = {}) => ({
  account: accountOf(settingsWith(settings), change),
})
const secrets = (change: Partial<AccountFacts['secrets']>): { account: AccountFacts } => {
  const whole = accountOf(settingsWith())
  return { account: { ...whole, secrets: { ...whole.secrets, ...change } } }
}

describe('a deploy', () => {
  it('accepts valid settings and a ready account', () => {
    expect(said()).toEqual([])
    expect(said({ scope: 'routes' })).toEqual([])
    expect(said({ settings: { jobs: false } })).toEqual([])
    expect(said({ settings: { archive: false } })).toEqual([])
  })

  it('warns about stores that are far from the node', () => {
    const there = (id: string, location: string) => ({ state: 'there', id, location }) as const
    const stores = { ACCOUNTS: there('a', 'WEUR'), HISTORY: there('h', 'APAC'), ARCHIVE: there('r', '(unknown)') }
    const far = { settings: { vars: { FEED_REGION: 'apac-ne' } }, ...account({ stores }) }
    expect(said(far)).toEqual([
      expect.stringMatching(/^warning: D1 weir-accounts is in weur, but apac is nearest to the node\./),
    ])
    expect(said({ ...far, settings: { ...far.settings, location: 'weur' } })).toEqual([
      expect.stringMatching(/^warning: D1 weir-history is in apac/),
    ])
    expect(said(account({ stores }))).toEqual([])
  })

  it.each([
    ['ACCOUNTS', `accounts is ${IDS.accounts}, but the account has no D1 database`],
    ['KEYS', `keys is ${IDS.keys}, but the account has no KV namespace`],
  ])('stops if the store %s no longer exists', (binding, words) => {
    const stores = { ...accountOf(settingsWith()).stores, [binding]: { state: 'gone' } as const }
    expect(said(account({ stores }))).toEqual([expect.stringContaining(`error: weir.toml: ids.${words}`)])
  })

  it('reports missing settings for selling', () => {
    const SIGNUP_SETTINGS = { turnstileSiteKey: '0x4AAAAAAADnPIDROrmt1Wwj' }
    const lines = withVars({ CHECKOUT: 'stripe', SIGNUP: 'http', SIGNUP_SETTINGS })
    expect(lines.filter((line) => / required when /.test(line))).toHaveLength(3)
    for (const name of ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', 'SIGNUP_MAILER_TOKEN', 'SIGNUP_TURNSTILE_SECRET'])
      expect(lines).toContainEqual(expect.stringMatching(`^error: .*${name} is not set.*--secret ${name}`))
    expect(withVars({ SIGNUP: 'log' })).toEqual([expect.stringMatching(/^warning: SIGNUP is "log"/)])
  })

  it('reports unreachable chain nodes, without the parts of their URLs that may be keys', () => {
    const chains = [{ name: 'evm', urls: ['https://rpc.example.com/key', 'http://127.0.0.1:8545/secret'] }]
    const lines = withVars({ RPC_CHAINS: chains })
    expect(lines).toEqual([expect.stringMatching(/^error: RPC_CHAINS: .*127\.0\.0\.1 of "evm"/)])
    expect(lines[0]).not.toContain('secret')
  })

  it('reports all errors at once, and each once, although several Workers have the variable', () => {
    const lines = withVars({ BOOK_HUBS: 0, PATH_KEYS: 'no', SQL_RUNNERS: 0, UPSTREAMS: '[]' }, secrets({ gateway: [] }))
    expect(lines.map((line) => line.split(/[ :]+/).slice(0, 3).join(' '))).toEqual([
      'error weir.toml BOOK_HUBS',
      'error weir.toml PATH_KEYS',
      'error weir.toml SQL_RUNNERS',
      'warning UPSTREAMS is',
      ...REQUIRED.map(() => 'error The secret'),
    ])
  })

  it('stops while a jobs Worker that is turned off still exists', () => {
    const left = { settings: { jobs: false }, ...secrets({ jobs: [] }) }
    expect(said(left)).toEqual([
      expect.stringMatching(
        /^error: weir\.toml: jobs is false, but the Worker weir-jobs still exists\. Delete it first/,
      ),
    ])
  })

  it.each<[object, RegExp]>([
    [{ timeout: 5 }, /^error: weir\.toml: UPSTREAMS 0.timeout: unknown field; did you mean "timeoutMs"/],
    [{ budget: 5 }, /^error: weir\.toml: UPSTREAMS 0.budget: must be at least 240/],
    [{ url: 'https://node.example.com' }, /^warning: Source "node": .* has no path.* \/info/],
  ])('explains the expected form of a source with %j', (field, words) => {
    expect(upstreams({ name: 'node', url: 'https://node.example.com/info', ...field })).toEqual([
      expect.stringMatching(words),
    ])
  })

  it.each<[string, object, RegExp]>([
    [
      'no sources',
      { UPSTREAMS: [] },
      new RegExp(`^warning: UPSTREAMS is empty: only 11 of ${CATALOGUE.length} info types`),
    ],
    ['text that is no JSON', { UPSTREAMS: '{' }, /^error: weir\.toml: UPSTREAMS is not JSON/],
    ['an unknown field', { UPSTREAMS: [{ ...SOURCES[1], header: 'x' }] }, /^error: weir\.toml: UPSTREAMS 0.header: /],
    [
      'a type that nobody asks for',
      { UPSTREAMS: [{ ...SOURCES[0], types: ['metaa'] }, SOURCES[1]] },
      /^warning: UPSTREAMS names "metaa"/,
    ],
    [
      'types that nobody serves',
      { UPSTREAMS: [SOURCES[0]] },
      /^warning: No source serves activeAssetData, .+ \d\d others/,
    ],
  ])('reports errors of %s', (_, vars, line) => {
    expect(withVars(vars)[0]).toMatch(line)
  })

  it('measures variables in UTF-8 bytes', () => {
    const lines = withVars({ CHECKOUT_PRICES: 'é'.repeat(2_561), PIPELINE_HYPERDRIVE: `"${'x'.repeat(5_118)}"` })
    expect(lines).toContainEqual(expect.stringMatching(/^error: weir\.toml: vars\.CHECKOUT_PRICES has 5,122 bytes/))
    expect(lines.filter((line) => line.includes('bytes'))).toHaveLength(1)
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

  it.each<[string, Facts, RegExp]>([
    ['nobody is logged in', { account: null }, /^note: Not logged in: .*ADMIN_TOKEN, FEED_TOKEN, KEY_SECRET/],
    ['there is no Worker', secrets({ gateway: 'no worker' }), /^error: The Worker weir does not exist yet/],
    [
      'a secret is missing',
      secrets({ gateway: ['ADMIN_TOKEN', 'KEY_SECRET'] }),
      /^error: .*FEED_TOKEN is not set.*--secret FEED_TOKEN/,
    ],
    [
      'the secrets cannot be read',
      secrets({ gateway: null }),
      /^warning: The secrets of the account could not be read/,
    ],
    [
      'a database cannot be read',
      account({ lacking: { ACCOUNTS: null, USAGE: [], HISTORY: [] } }),
      /^error: The tables of the database ACCOUNTS could not be read/,
    ],
    [
      'a table is missing',
      account({ schemaFaults: ['ACCOUNTS/no table keys'] }),
      /^error: ACCOUNTS has no table keys, although .*schemas\/d1\/accounts/,
    ],
  ])('explains what to do when %s', (_, change, line) => {
    expect(said({ ...change, scope: 'routes' })).toEqual([expect.stringMatching(line)])
  })

  it('applies missing migrations instead of stopping', () => {
    expect(said(account({ lacking: { ACCOUNTS: ['0002_b.sql'], USAGE: [], HISTORY: [] } }))).toEqual([])
  })

  const headers = { authorization: 'SOURCE_TOKEN' }
  const guarded = { UPSTREAMS: [{ ...SOURCES[1], headers }] }
  const both = { ...guarded, RPC_CHAINS: [{ name: 'c', urls: ['https://node.example.com/evm'], headers }] }
  const set = { gateway: [...REQUIRED, 'SOURCE_TOKEN'] }
  it.each<[string, object, Facts, RegExp[]]>([
    ['the gateway lacks one', guarded, {}, [/^error: The secret SOURCE_TOKEN, .* of weir need, is not set/]],
    ['the gateway has it', guarded, secrets(set), []],
    ['the jobs Worker lacks one', both, secrets(set), [/^error: .* of weir-jobs need, .*--secret SOURCE_TOKEN/]],
    [
      'the jobs Worker is turned on',
      both,
      secrets({ ...set, jobs: 'no worker' }),
      [/^note: .* weir-jobs need the secret SOURCE_TOKEN.* after the deploy/],
    ],
    ['both have it', both, secrets({ ...set, jobs: ['SOURCE_TOKEN'] }), []],
    ['only the gateway is deployed', both, { scope: 'routes', ...secrets(set) }, []],
  ])('checks the secrets of sources: %s', (_, vars, change, lines) => {
    expect(withVars(vars, change)).toEqual(lines.map((line) => expect.stringMatching(line)))
  })

  it('says before the first deploy which secrets of sources to set afterwards', () => {
    const none = secrets({ gateway: 'no worker', live: 'no worker', jobs: 'no worker' })
    const lines = withVars(both, { scope: 'first', ...none }).filter((line) => line.includes('SOURCE_'))
    expect(lines).toEqual([
      expect.stringMatching(/^note: Variables of weir need .*after the deploy/),
      expect.stringMatching(/^note: Variables of weir-jobs need .*after the deploy/),
    ])
  })

  it.each<[string, Facts, RegExp[]]>([
    ['unset', {}, [/^error: The secret ALERT_SECRET, .* is not set\. .*--secret ALERT_SECRET/]],
    ['set', secrets({ live: ['ALERT_SECRET'] }), []],
    ['set only for the gateway', secrets({ gateway: [...REQUIRED, 'ALERT_SECRET'] }), [/^error: .*ALERT_SECRET/]],
    [
      'unknown',
      secrets({ live: null }),
      [/^warning: Whether the secret ALERT_SECRET of weir-live is set is unknown\./],
    ],
    ['unset, but the live Worker is not deployed', { scope: 'routes' }, []],
    ['not checked', { account: null }, [/^note: Not logged in: .*ALERT_SECRET/]],
  ])('checks the secret of alerts: %s', (_, change, lines) => {
    const found = withVars({ ALERT_URL: 'https://receiver.example/alerts' }, change)
    expect(found).toEqual(lines.map((line) => expect.stringMatching(line)))
  })

  it('rejects secrets on unencrypted connections', () => {
    const lines = withVars(
      { UPSTREAMS: [{ ...SOURCES[1], url: 'http://api.example.com/info', headers }] },
      secrets(set),
    )
    expect(lines).toEqual([expect.stringMatching(/^error: "all" has headers with secrets, .*https/)])
  })

  const none = secrets({ gateway: 'no worker' })
  it.each<[string, Change, RegExp | null]>([
    ['no Worker', none, null],
    [
      'a Worker that is not ours',
      secrets({ gateway: ['API_KEY'] }),
      /^error: The name is taken: .* Worker weir .*replace_worker/,
    ],
    ['a Worker to overwrite', { ...secrets({ gateway: [] }), settings: { replace_worker: true } }, null],
    [
      'a damaged file of secrets',
      { ...none, secretsFault: '.secrets.json is damaged.' },
      /^error: .secrets.json is damaged/,
    ],
    ['secrets of an earlier try', {}, null],
    [
      'a folder that will be deleted',
      { ...none, isTemporary: true },
      /^error: The secrets ADMIN_TOKEN.* would be lost/,
    ],
    ['a part of the secrets', secrets({ gateway: ['KEY_SECRET', 'FEED_TOKEN'] }), /^error: .*ADMIN_TOKEN is not set/],
    ['secrets that cannot be read', secrets({ gateway: null }), /^error: The secrets of the account could not/],
    [
      'a secret that nobody could send',
      { ...none, given: { ADMIN_TOKEN: `${'x'.repeat(32)}\r`, FEED_TOKEN: 'x'.repeat(32) } },
      /^error: ADMIN_TOKEN from the environment or \.secrets\.json contains a space/,
    ],
    [
      'a short secret',
      { ...none, given: { ADMIN_TOKEN: 'short', FEED_TOKEN: undefined, KEY_SECRET: 'x'.repeat(32) } },
      /^error: ADMIN_TOKEN .*\.secrets\.json .*32 characters/,
    ],
  ])('the first time handles %s', (_, change, line) => {
    const given = Object.fromEntries(REQUIRED.map((name) => [name, undefined]))
    const lines = said({ given, ...change, scope: 'first' })
    const always = /^note: .*costs\.md|^warning: FEED_REGION is empty/
    expect(lines.filter((one) => always.test(one))).toHaveLength(2)
    expect(lines.filter((one) => !always.test(one))).toEqual(line === null ? [] : [expect.stringMatching(line)])
  })

  it('requires the zone of its own address, which pipelines must not reach', () => {
    const routes = [{ pattern: 'api.example.com', custom_domain: true }, 'www.example.net/*']
    const own = (vars: object) => said({ settings: { routes, vars } })
    const missing = (host: string) => expect.stringMatching(`^error: routes: .*${host}`)
    expect(own({})).toEqual([missing('api.example.com'), missing('www.example.net')])
    expect(own({ OWN_ZONES: 'example.net', PUBLIC_URL: 'https://api.example.com' })).toEqual([])
  })
})
