// The plan of a dry run, and the comparison of tables with migrations.

import { describe, expect, it } from 'vitest'
import { schemaFaults } from '../../../scripts/d1-schema.ts'
import type { GatewayConfig } from '../../../scripts/deploy-checks.ts'
import { deployPlan, type PlanFacts } from '../../../scripts/deploy-plan.ts'
import { withoutWorkers } from '../../../scripts/first-request.ts'
import { readConfigs } from '../../../scripts/worker-agreement.ts'

const workers = readConfigs()
const gateway: GatewayConfig = workers.gateway
const facts: PlanFacts = {
  gateway,
  workers,
  scope: 'first',
  isDryRun: true,
  given: {},
  secretsFault: null,
  account: null,
  files: { ACCOUNTS: ['0001_a.sql', '0002_b.sql'], USAGE: [], HISTORY: ['0001_c.sql'] },
}
const plan = (change: Partial<PlanFacts> = {}) => deployPlan({ ...facts, ...change }).join('\n')

describe('a plan', () => {
  it('lists everything it creates, and the commands for missing parts, without an account', () => {
    const text = plan()
    for (const name of ['accounts', 'usage', 'history'])
      expect(text).toContain(
        `D1 weir-${name} (${name.toUpperCase()}): no id. Run npm run wrangler -- d1 create weir-${name}`,
      )
    expect(text).toMatch(/KV KEYS: no id.*kv namespace create KEYS/)
    expect(text).toContain('r2 bucket create weir-archive')
    const near = plan({ gateway: { ...gateway, vars: { ...gateway.vars, FEED_REGION: 'apac-se' } } })
    for (const command of ['d1 create weir-accounts', 'd1 create weir-history', 'r2 bucket create weir-archive'])
      expect(near).toContain(`${command} --location apac\n`)
    expect(text).toMatch(/0001_a\.sql, 0002_b\.sql.*d1 migrations apply ACCOUNTS --remote/)
    for (const name of ['ADMIN_TOKEN', 'FEED_TOKEN', 'KEY_SECRET'])
      expect(text).toMatch(new RegExp(`${name}: .*random`))
    const order = text.match(/^ {2}\d\. \S+/gm)
    const names = ['weir-sql', 'weir-live', 'weir-jobs', 'weir', 'weir-live', 'weir-jobs']
    expect(order).toEqual(names.map((name, at) => `  ${at + 1}. ${name}`))
    expect(text).toContain('2. weir-live (wrangler.live.toml), without its bindings to weir and weir-jobs')
    expect(text).toContain('3. weir-jobs (wrangler.jobs.toml), without its bindings to weir\n')
  })

  it('orders later deploys and lists what the account has', () => {
    expect(plan({ scope: 'routes' }).match(/^ {2}\d\. \S+/gm)).toEqual(['  1. weir'])
    expect(plan({ scope: 'jobs' }).match(/^ {2}\d\. \S+/gm)).toEqual(['  1. weir-sql', '  2. weir-jobs'])
    const all = ['  1. weir-live', '  2. weir-sql', '  3. weir-jobs', '  4. weir']
    expect(plan({ scope: 'all' }).match(/^ {2}\d\. \S+/gm)).toEqual(all)
    const ids = gateway.d1_databases.map((one) => ({ ...one, database_id: 'x' }))
    const account = {
      secrets: ['KEY_SECRET'],
      liveSecrets: [],
      jobsSecrets: [],
      migrations: ['ACCOUNTS/0002_b.sql'],
      schemaFaults: [],
      locations: {},
    }
    const turnedOn = plan({ scope: 'all', account: { ...account, jobsSecrets: 'no worker' } })
    const jobsFirst = ['  1. weir-sql', '  2. weir-jobs', '  3. weir-live', '  4. weir']
    expect(turnedOn.match(/^ {2}\d\. \S+/gm)).toEqual(jobsFirst)
    const text = plan({ scope: 'all', gateway: { ...gateway, d1_databases: ids }, account })
    expect(text).toMatch(/0002_b\.sql.*apply ACCOUNTS --remote/)
    expect(text).toContain('HISTORY: all 1 migrations are applied')
    expect(text).toContain('KEY_SECRET: set')
    expect(text).toMatch(/FEED_TOKEN: not set.*secret put FEED_TOKEN/)
  })

  it('lists the secrets of sources for the gateway, and those of nodes for both Workers', () => {
    const node = { name: 'evm', urls: ['https://a.example/'], headers: { authorization: 'SOURCE_NODE' } }
    const source = { name: 'info', url: 'https://b.example/info', headers: { authorization: 'SOURCE_INFO' } }
    const RPC_CHAINS = JSON.stringify([node])
    const own = { ...gateway, vars: { ...gateway.vars, UPSTREAMS: JSON.stringify([source]), RPC_CHAINS } }
    const other = { ...workers.jobs, vars: { ...workers.jobs.vars, RPC_CHAINS } }
    const changed = { gateway: own, workers: { ...workers, gateway: own, jobs: other } }
    const put = (name: string, file: string) => `Run npm run wrangler -- secret put ${name} -c ${file}`
    const first = plan(changed)
    expect(first).toContain(`  SOURCE_INFO: not checked. ${put('SOURCE_INFO', 'wrangler.toml')} after the deploy\n`)
    expect(first).toContain(`  SOURCE_NODE: not checked. ${put('SOURCE_NODE', 'wrangler.toml')} after the deploy\n`)
    expect(first).toContain(
      `Secrets of weir-jobs:\n  SOURCE_NODE: not checked. ${put('SOURCE_NODE', 'wrangler.jobs.toml')} after the deploy\n`,
    )
    const account = {
      secrets: ['SOURCE_NODE'],
      liveSecrets: [],
      jobsSecrets: [],
      migrations: [],
      schemaFaults: [],
      locations: {},
    }
    const later = plan({ ...changed, scope: 'all', account })
    expect(later).toContain(`  SOURCE_INFO: not set. ${put('SOURCE_INFO', 'wrangler.toml')}\n  SOURCE_NODE: set\n`)
    expect(later).toContain(
      `Secrets of weir-jobs:\n  SOURCE_NODE: not set. ${put('SOURCE_NODE', 'wrangler.jobs.toml')}\n`,
    )
    expect(plan({ ...changed, scope: 'routes', account })).not.toContain('weir-jobs:')
  })

  it('lists the secret of alerts if there is a receiver', () => {
    const live = { ...workers.live, vars: { ...workers.live.vars, ALERT_URL: 'https://receiver.example/alerts' } }
    const alerting = { workers: { ...workers, live } }
    expect(plan(alerting)).toContain('Secrets of weir-live:\n  ALERT_SECRET: not checked.')
    expect(plan({ ...alerting, scope: 'routes' })).not.toContain('ALERT_SECRET')
    expect(plan({})).not.toContain('ALERT_SECRET')
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

it('the first file of a Worker lacks only its bindings to missing Workers', () => {
  const toml =
    'name = "weir-live"\nbindings = [\n  { name = "A", script_name = "weir-jobs" },\n  { name = "B" },\n]\n[[services]]\nbinding = "GATEWAY"\nservice = "weir" # [it]\n\n[[services]]\nservice = "weir-sql"\n[vars]\nA = "[x]"\n'
  expect(withoutWorkers(toml, ['weir', 'weir-jobs'])).toBe(
    'name = "weir-live"\nbindings = [\n  { name = "B" },\n]\n[[services]]\nservice = "weir-sql"\n[vars]\nA = "[x]"\n',
  )
})
