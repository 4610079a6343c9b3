// The wrangler files of one gateway, from those of this version and weir.toml.

import { describe, expect, it } from 'vitest'
import { effectiveFiles, withoutWorkers } from '../../../src/cli/deploy/effective-file.ts'
import { secretOwners } from '../../../src/cli/deploy/secret-owners.ts'
import { ROLES } from '../../../src/cli/deploy/workers.ts'
import { IDS, settingsWith, templates } from './facts.ts'

const filesOf = (settings: Readonly<Record<string, unknown>>) =>
  effectiveFiles(templates, settingsWith(settings), '/installed')
const scripts = (settings: Readonly<Record<string, unknown>>) =>
  ROLES.map((role) => [
    ...new Set(filesOf(settings)[role].durable_objects.bindings.map(({ script_name: script }) => script)),
  ])

describe('the files of a gateway', () => {
  it('have the stores of weir.toml and absolute paths, and leave the rest to this version', () => {
    const { gateway, live, jobs } = filesOf({})
    const databases = gateway.d1_databases.map(({ binding, database_name: name, database_id: id }) => [
      binding,
      name,
      id,
    ])
    expect(databases).toEqual(
      ['accounts', 'usage', 'history'].map((name) => [name.toUpperCase(), `weir-${name}`, IDS.accounts]),
    )
    expect([live, jobs].map(({ d1_databases: [one] }) => one?.database_id)).toEqual([IDS.history, IDS.history])
    expect(gateway.kv_namespaces).toEqual([{ binding: 'KEYS', id: IDS.keys }])
    expect(gateway.assets?.directory).toBe('/installed/dist/console')
    expect(gateway.d1_databases[0]?.migrations_dir).toBe('/installed/schemas/d1/accounts')
    expect(ROLES.map((role) => filesOf({})[role].main)).toEqual(
      ROLES.map((role) => `/installed/dist/${role}/${role}.js`),
    )
    for (const role of ROLES) {
      const { compatibility_date, compatibility_flags, preview_urls, observability } = templates[role]
      expect(filesOf({ name: 'acme' })[role]).toMatchObject({
        compatibility_date,
        compatibility_flags,
        preview_urls,
        observability,
      })
    }
  })

  it('carry the name of the gateway everywhere, so that two of them fit into one account', () => {
    const files = filesOf({ name: 'acme' })
    expect(ROLES.map((role) => files[role].name)).toEqual(['acme-live', 'acme-sql', 'acme-jobs', 'acme'])
    expect(JSON.stringify(files)).not.toMatch(/"weir(?:-(?:live|jobs|sql|accounts|usage|history|archive))?"/)
    expect(files.gateway.ratelimits[0]?.namespace_id).not.toBe(templates.gateway.ratelimits[0]?.namespace_id)
    expect(filesOf({}).gateway.ratelimits).toEqual(templates.gateway.ratelimits)
  })

  it('set a variable for each Worker that declares it, and for no other', () => {
    const files = filesOf({
      vars: { BOOK_HUBS: 8, ALERT_URL: 'https://a.example', UPSTREAMS: [{ name: 'n', url: 'https://b.example/info' }] },
    })
    expect(ROLES.map((role) => files[role].vars.BOOK_HUBS)).toEqual(['8', undefined, '8', '8'])
    expect(ROLES.map((role) => files[role].vars.ALERT_URL)).toEqual([
      'https://a.example',
      undefined,
      undefined,
      undefined,
    ])
    expect(files.gateway.vars.UPSTREAMS).toBe('[{"name":"n","url":"https://b.example/info"}]')
  })

  it('leave out what weir.toml turns off', () => {
    expect(scripts({})).toEqual([
      [undefined, 'weir-jobs'],
      [undefined],
      ['weir-live', undefined],
      ['weir-live', 'weir-jobs'],
    ])
    expect(scripts({ jobs: false })[3]).toEqual(['weir-live'])
    for (const settings of [{ jobs: false }, { archive: false }]) {
      const { gateway, live } = filesOf(settings)
      expect(gateway.d1_databases.map(({ binding }) => binding)).toEqual(['ACCOUNTS', 'USAGE'])
      expect([gateway.r2_buckets, live.r2_buckets, live.d1_databases]).toEqual([[], [], []])
    }
  })

  it('have the routes, the counters and the databases of pipelines that weir.toml names', () => {
    const routes = [{ pattern: 'api.example.com', custom_domain: true }]
    const hyperdrive = [{ binding: 'FILLS_DB', id: IDS.keys }]
    const files = filesOf({ routes, workers_dev: false, metrics: 'weir', hyperdrive })
    expect(files.gateway).toMatchObject({
      routes,
      workers_dev: false,
      analytics_engine_datasets: [{ binding: 'METRICS', dataset: 'weir' }],
    })
    expect(ROLES.map((role) => files[role].hyperdrive)).toEqual([undefined, undefined, hyperdrive, undefined])
    expect(ROLES.map((role) => filesOf({})[role].workers_dev)).toEqual([false, false, false, true])
    expect(files.live.routes).toEqual([])
  })
})

it('the first file of a Worker lacks only its bindings to missing Workers', () => {
  const { live } = filesOf({})
  const partial = withoutWorkers(live, ['weir', 'weir-jobs'])
  expect(partial.services).toEqual([])
  const kept = live.durable_objects.bindings.filter(({ script_name: script }) => script === undefined)
  expect(partial).toEqual({ ...live, services: [], durable_objects: { bindings: kept } })
})

it('secrets are those of the Workers that read them', () => {
  const node = { name: 'evm', urls: ['https://a.example/'], headers: { authorization: 'SOURCE_NODE' } }
  const files = filesOf({ vars: { RPC_CHAINS: [node] } })
  expect(
    ['FEED_TOKEN', 'ALERT_SECRET', 'SOURCE_NODE', 'SOURCE_INFO', 'OTHER'].map((name) => secretOwners(name, files)),
  ).toEqual([['gateway'], ['live'], ['gateway', 'jobs'], ['gateway'], []])
})
