// The plan of a deploy, and the comparison of tables with migrations.

import { describe, expect, it } from 'vitest'
import { schemaFaults } from '../../../src/cli/deploy/d1-schema.node.ts'
import { deployPlan, type PlanFacts, scopeOf } from '../../../src/cli/deploy/deploy-plan.ts'
import type { WeirSettings } from '../../../src/cli/settings/weir-settings.ts'
import { accountOf, factsOf, settingsWith } from './facts.ts'

const files = { ACCOUNTS: ['0001_a.sql', '0002_b.sql'], USAGE: [], HISTORY: ['0001_c.sql'] }
const plan = (settings: WeirSettings, change: Partial<PlanFacts> = {}) =>
  deployPlan({ ...factsOf(settings, { account: null, scope: 'first' }), files, ...change }).join('\n')
const empty = settingsWith({ ids: {} })
const steps = (text: string) => text.match(/^ {2}\d\. \S+/gm)

describe('a plan', () => {
  it('lists everything that it creates, without an account', () => {
    const text = plan(empty)
    for (const store of ['D1 weir-accounts', 'D1 weir-usage', 'D1 weir-history', 'KV weir-keys', 'R2 weir-archive'])
      expect(text).toMatch(new RegExp(`${store}: not checked; .* is created`))
    for (const name of ['ADMIN_TOKEN', 'FEED_TOKEN', 'KEY_SECRET'])
      expect(text).toMatch(new RegExp(`${name}: .*random`))
    const names = ['weir-sql', 'weir-live', 'weir-jobs', 'weir', 'weir-live', 'weir-jobs']
    expect(steps(text)?.map((line) => line.replace(/,$/, ''))).toEqual(names.map((name, at) => `  ${at + 1}. ${name}`))
    expect(text).toContain('2. weir-live, without its bindings to weir and weir-jobs')
    expect(text).toContain('3. weir-jobs, without its bindings to weir\n')
    expect(text).toContain('weir answers at https://weir.<you>.workers.dev.')
  })

  it('says which stores exist, and where the others are created', () => {
    const near = settingsWith({ ids: {}, name: 'acme', vars: { FEED_REGION: 'apac-se' } })
    const account = accountOf(near)
    const stores = { ...account.stores, USAGE: { state: 'missing' }, KEYS: { state: 'missing' } } as const
    const text = plan(near, { account: { ...account, stores, lacking: { ...account.lacking, USAGE: ['0001_u.sql'] } } })
    expect(text).toContain('D1 acme-accounts: exists\n')
    expect(text).toContain('D1 acme-usage: is created in apac\n')
    expect(text).toContain('KV acme-keys: is created\n')
    expect(text).toContain('ACCOUNTS: all 2 migrations are applied')
    expect(text).toContain('USAGE: 1 of 0 migrations are applied by this deploy')
  })

  it('orders later deploys, and names the address', () => {
    const account = accountOf(settingsWith())
    const later = (scope: PlanFacts['scope'], change = account) =>
      steps(plan(settingsWith(), { scope, account: change }))
    expect(later('routes')).toEqual(['  1. weir'])
    expect(later('jobs')).toEqual(['  1. weir-sql', '  2. weir-jobs'])
    expect(later('all')).toEqual(['  1. weir-live', '  2. weir-sql', '  3. weir-jobs', '  4. weir'])
    const turnedOn = { ...account, secrets: { ...account.secrets, jobs: 'no worker' } } as const
    expect(later('all', turnedOn)).toEqual(['  1. weir-sql', '  2. weir-jobs', '  3. weir-live', '  4. weir'])
    const off = settingsWith({ jobs: false, workers_dev: false, routes: [{ pattern: 'api.example.com' }] })
    const text = plan(off, { scope: 'all', account: accountOf(off) })
    expect(steps(text)).toEqual(['  1. weir-live', '  2. weir'])
    expect(text).toContain('weir answers at api.example.com.')
    expect(text).not.toContain('weir-history')
    expect(plan(settingsWith({ workers_dev: false }))).toContain('weir has no address: set routes or workers_dev')
  })

  it('is that of a first deploy until the gateway and its objects exist', () => {
    const account = accountOf(settingsWith())
    const lacking = (role: string) => ({ ...account, secrets: { ...account.secrets, [role]: 'no worker' as const } })
    expect([scopeOf(account), scopeOf(null)]).toEqual(['all', 'first'])
    expect(['gateway', 'live', 'jobs', 'sql'].map((role) => scopeOf(lacking(role)))).toEqual([
      'first',
      'first',
      'all',
      'all',
    ])
  })

  it('lists the secrets of sources for the gateway, and those of nodes for both Workers', () => {
    const node = { name: 'evm', urls: ['https://a.example/'], headers: { authorization: 'SOURCE_NODE' } }
    const source = { name: 'info', url: 'https://b.example/info', headers: { authorization: 'SOURCE_INFO' } }
    const settings = settingsWith({ vars: { UPSTREAMS: [source], RPC_CHAINS: [node] } })
    const put = (name: string) => `Run npx weir deploy --secret ${name}`
    const first = plan(settings)
    expect(first).toContain(`  SOURCE_INFO: not checked. ${put('SOURCE_INFO')} after the deploy\n`)
    expect(first).toContain(
      `Secrets of weir-jobs:\n  SOURCE_NODE: not checked. ${put('SOURCE_NODE')} after the deploy\n`,
    )
    const account = accountOf(settings)
    const some = { ...account, secrets: { ...account.secrets, gateway: ['SOURCE_NODE', 'KEY_SECRET'] } }
    const later = plan(settings, { scope: 'all', account: some })
    expect(later).toContain(`  SOURCE_INFO: not set. ${put('SOURCE_INFO')}\n  SOURCE_NODE: set\n`)
    expect(later).toContain(`Secrets of weir-jobs:\n  SOURCE_NODE: not set. ${put('SOURCE_NODE')}\n`)
    expect(later).toMatch(/KEY_SECRET: set\n(?:.*\n)*.*METRICS_TOKEN: optional/)
    expect(later).toContain('FEED_TOKEN: not set. Run npx weir deploy --secret FEED_TOKEN')
    expect(plan(settings, { scope: 'routes', account: some })).not.toContain('weir-jobs:')
  })

  it('lists the secret of alerts if there is a receiver', () => {
    const alerting = settingsWith({ vars: { ALERT_URL: 'https://receiver.example/alerts' } })
    expect(plan(alerting)).toContain('Secrets of weir-live:\n  ALERT_SECRET: not checked.')
    expect(plan(alerting, { scope: 'routes' })).not.toContain('ALERT_SECRET')
    expect(plan(empty)).not.toContain('ALERT_SECRET')
  })
})
describe('tables', () => {
  const expected = ['CREATE TABLE a (x INTEGER NOT NULL, y TEXT) STRICT;', 'CREATE INDEX by_y ON a (y, x);']
  const found = (...statements: string[]) =>
    statements.map((sql) => ({ type: sql.split(' ')[1]!.toLowerCase(), name: sql.split(' ')[2]!, sql }))

  it('that match the migrations are accepted, in any order and next to others', () => {
    const more = found(
      'CREATE INDEX by_y ON a (y, x)',
      'CREATE TABLE a (x INTEGER NOT NULL, -- why\n y TEXT, z TEXT) STRICT',
    )
    expect(schemaFaults(expected, [...more, { type: 'table', name: '_cf_KV', sql: 'no SQL' }])).toEqual([])
  })

  it.each([
    [found(), ['no table a', 'no index by_y']],
    [
      found('CREATE TABLE a (x INTEGER, y TEXT)', 'CREATE INDEX by_y ON a (y, x)'),
      ['table a without x INTEGER NOT NULL'],
    ],
    [found('CREATE TABLE a (x INTEGER NOT NULL, y TEXT)', 'CREATE INDEX by_y ON a (y)'), ['index by_y without (y, x)']],
  ])('that are missing or different are listed: %#', (rows, faults) => {
    expect(schemaFaults(expected, rows)).toEqual(faults)
  })
})
