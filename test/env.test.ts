// Variables of both Workers: as in their files, and invalid in every way.

import { describe, expect, it } from 'vitest'
import { disagreements, openSettings, readConfigs, type WorkerConfig } from '../scripts/worker-agreement.ts'
import { ArchiveSettings } from '../src/archive/archive/archive-settings.ts'
import { PayerSettings } from '../src/billing/x402/settings.ts'
import { ROLES, WORKERS } from '../src/cli/deploy/workers.ts'
import { LiveSettings, readVariables } from '../src/core/variables.ts'
import { GatewaySettings, gatewaySettings } from '../src/http/gateway-settings.ts'
import { RequestLogSettings } from '../src/metering/request-log/log-settings.ts'
import { AlertSettings } from '../src/monitor/alert-settings.ts'
import { SinkSettings } from '../src/pipelines/sink/sink-settings.ts'

const configs = readConfigs()
const gateway: WorkerConfig = configs.gateway
const live: WorkerConfig = configs.live
const jobs: WorkerConfig = configs.jobs
const { sql } = configs
const liveSettings = (env: object) => readVariables(LiveSettings, env)

it.each(['-1', '169', '1.5', 'day'])('REQUEST_LOG_HOURS cannot be %s', (hours) => {
  expect(() => readVariables(RequestLogSettings, { REQUEST_LOG_HOURS: hours })).toThrow(
    'REQUEST_LOG_HOURS: must be a whole number from 0 to 168',
  )
})

describe('wrangler file variables', () => {
  it('are all parsed', () => {
    expect(Object.keys(gateway.vars).sort()).toEqual(Object.keys(GatewaySettings.shape).sort())
    expect(Object.keys(live.vars).sort()).toEqual(
      Object.keys({ ...AlertSettings.shape, ...PayerSettings.shape, ...RequestLogSettings.shape }).sort(),
    )
    const ofJobs = { ...ArchiveSettings.shape, ...SinkSettings.shape }
    expect(Object.keys(jobs.vars).sort()).toEqual(Object.keys(ofJobs).sort())
    expect(liveSettings(live.vars)).toEqual({
      CHAIN: 'hyperliquid',
      BOOK_HUBS: 4,
      RELAY_SOCKETS: 500,
      FEED_REGION: null,
      PIPELINE_PRIVATE: false,
      OWN_ZONES: [],
      PUBLIC_URL: '',
    })
    expect(gatewaySettings(gateway.vars)).toEqual({
      ...liveSettings(live.vars),
      RELAYS_PER_REGION: 2,
      RELAY_REGIONS: null,
      PATH_KEYS: false,
      KEY_CHECK: true,
      METER_FAILURE: 'closed',
      EMPTY_CANDLES: 'none',
      TRUST_PROXY: true,
      MILLION_CREDITS_USD: null,
      LIVE_ACCOUNT: null,
      LIVE_CREDITS_PER_HOUR: 6_000,
      LIVE_SOCKETS: 100,
      LIVE_COINS: null,
      UPSTREAMS: [],
      RPC_CHAINS: [],
      CHECKOUT: 'off',
      CHECKOUT_PRICES: { currency: 'usd', packages: [], instructions: '' },
      SIGNUP: 'off',
      SIGNUP_SETTINGS: { perDay: 200, refusedDomains: [] },
      SITE_LINKS: {},
      X402: [],
      INVOICE: null,
    })
  })

  const COUNTS = ['', 'NaN', 'many', '0', '-1', '1.5', '1e9', 'Infinity', undefined, null, [], {}]
  const SWITCHES = ['', 'ON', 'true', '1', undefined, null, true]
  it.each([
    ['BOOK_HUBS', COUNTS],
    ['RELAY_SOCKETS', COUNTS],
    ['RELAYS_PER_REGION', COUNTS],
    ['RELAY_REGIONS', ['apac', 'weur, enam', 'weur,', 'weur,weur', 'local', undefined, null, 5]],
    ['LIVE_CREDITS_PER_HOUR', COUNTS],
    ['LIVE_SOCKETS', COUNTS],
    ['PATH_KEYS', SWITCHES],
    ['KEY_CHECK', SWITCHES],
    ['TRUST_PROXY', SWITCHES],
    ['OWN_ZONES', ['com', 'Example.com', 'a.example, b.example', 'a.example,', 'https://a.example', undefined, null]],
    ['MILLION_CREDITS_USD', ['49,5', '-1', '1e3', '0x1', ' ', '1.2345678', undefined, null, 5]],
    ['PIPELINE_PRIVATE', SWITCHES],
    ['METER_FAILURE', ['', 'shut', undefined]],
    ['EMPTY_CANDLES', ['', 'zero', undefined]],
    ['FEED_REGION', ['tokyo', 'APAC', ' ', undefined, null, 5]],
    ['CHAIN', ['', 'x'.repeat(33), 5, undefined]],
    ['LIVE_ACCOUNT', ['a b', '-a', 'ä', 'x'.repeat(65), undefined, null, 5]],
    ['LIVE_COINS', ['BTC,', ',BTC', 'BTC, ETH', 'B TC', 'x'.repeat(65), `${'A,'.repeat(64)}A`, undefined, null]],
    ['UPSTREAMS', ['', '{', '[{}]', '{}', undefined]],
    ['RPC_CHAINS', ['', '{', '[{}]', '{}', undefined]],
    ['CHECKOUT', ['', 'Stripe', undefined]],
    ['CHECKOUT_PRICES', ['', '{', '[]', '{"packages":[{}]}', '{"currency":"EUR"}', undefined, {}]],
    ['INVOICE', ['{', '[]', '{}', '{"seller":{}}', 'off', undefined, {}, 5]],
    ['X402', ['{', '{}', '[{}]', 'off', undefined, {}, 5]],
    ['SIGNUP', ['', 'on', undefined]],
    ['SIGNUP_SETTINGS', ['', '{', '{"perDay":0}', '{"more":1}', undefined]],
    [
      'SITE_LINKS',
      [
        '',
        '[]',
        ...['http://a.example', 'javascript:alert(1)', 'mailto:a', 'mailto:"@b', ''].map((terms) =>
          JSON.stringify({ terms }),
        ),
        '{"blog":"https://a.example"}',
        undefined,
      ],
    ],
    ['PUBLIC_URL', ['api.example.com', 'https://api.example.com/', 'https://a b', 'ftp://a.example', undefined]],
  ])('%s is refused by its name, and never guessed', (name, values) => {
    const words = new RegExp(`^${name}: [^;]+$`)
    for (const value of values) {
      expect(() => gatewaySettings({ ...gateway.vars, [name]: value }), String(value)).toThrow(words)
      if (!(name in jobs.vars)) continue
      expect(() => readVariables(SinkSettings, { ...jobs.vars, [name]: value }), String(value)).toThrow(words)
    }
  })

  it('name a platform location hint for log and hubs, or none', () => {
    expect(liveSettings({ ...live.vars, FEED_REGION: 'apac-ne' }).FEED_REGION).toBe('apac-ne')
    expect(() => liveSettings({ ...live.vars, FEED_REGION: 'tokyo' })).toThrow(
      'FEED_REGION: must be one of wnam, enam, sam, weur, eeur, apac, apac-ne, apac-se, oc, afr, me, or empty for none',
    )
  })

  it('name the operator’s own pages', () => {
    const links = { terms: 'https://example.com/terms', support: 'mailto:help@example.com' }
    const read = gatewaySettings({ ...gateway.vars, SITE_LINKS: JSON.stringify(links) })
    expect(read.SITE_LINKS).toEqual(links)
  })

  it('name the regions of relays', () => {
    const read = (RELAY_REGIONS: string) => gatewaySettings({ ...gateway.vars, RELAY_REGIONS }).RELAY_REGIONS
    expect(read('apac-ne,weur,enam')).toEqual(['apac-ne', 'weur', 'enam'])
    expect(read('')).toBeNull()
  })

  it('of a checkout or a sign-up require others', () => {
    const url = 'https://api.example.com'
    const mailer = '{"mailer":{"url":"https://mail.example","from":"a@b.example"}}'
    const read = (vars: object) => () => gatewaySettings({ ...gateway.vars, ...vars })
    expect(read({ CHECKOUT: 'stripe' })).toThrow(/^PUBLIC_URL: .*CHECKOUT/)
    expect(read({ SIGNUP: 'http' })).toThrow(/PUBLIC_URL: .*; SIGNUP_SETTINGS: mailer is required/)
    expect(read({ CHECKOUT: 'stripe', PUBLIC_URL: url })).not.toThrow()
    expect(read({ SIGNUP: 'http', PUBLIC_URL: url, SIGNUP_SETTINGS: mailer })).not.toThrow()
    const asset = { address: `0x${'1'.repeat(40)}`, symbol: 'USDC', decimals: 6, name: 'USD Coin', version: '2' }
    const topUp = { leastUsd: '1', mostUsd: '100' }
    const prices = { creditsPerUsd: '1000', leastUsd: '0.005', multiple: '1', topUp, plan: 'entry' }
    const networkAt = (facilitator: string) =>
      JSON.stringify({ payTo: asset.address, network: 'eip155:8453', asset, facilitator, ...prices })
    const X402 = networkAt('https://facilitator.example')
    expect(read({ X402 })).toThrow(/^PUBLIC_URL: .*X402/)
    expect(read({ X402, PUBLIC_URL: url })).not.toThrow()
    expect(read({ X402: networkAt('http://127.0.0.1:3001/facilitator') })).not.toThrow()
    expect(read({ CHECKOUT: 'manual', SIGNUP: 'log' })).not.toThrow()
  })

  it.each([
    [{ 'CF-Access-Client-Id': 'SOURCE_ID', Authorization: 'SOURCE_SECRET' }, null],
    [{ Authorization: 'ADMIN_TOKEN' }, /headers.*must be the name of a secret that starts with SOURCE_/],
    [{ Authorization: 'SOURCE_BUDGET' }, /must be the name of a secret/],
    [{ 'Content-Type': 'SOURCE_A' }, /must not contain a header that the gateway sets itself/],
    [{ authorization: 'SOURCE_A', Authorization: 'SOURCE_B' }, /must not contain a header twice/],
    [{ 'Bearer s3cret': 'SOURCE_A' }, /^(?!.*s3cret).*header names must consist of/],
    [JSON.parse('{"__proto__":"SOURCE_A"}'), /header names must consist of/],
  ])('accept headers of sources only if they name secrets: %j', (headers, message) => {
    const UPSTREAMS = JSON.stringify([{ name: 'node', url: 'https://node.example.com/info', headers }])
    const read = () => gatewaySettings({ ...gateway.vars, UPSTREAMS })
    if (message === null) expect(read).not.toThrow()
    else expect(read).toThrow(message)
  })

  it('reject secrets for nodes of different hosts', () => {
    const urls = ['https://node.example.com/evm', 'https://rpc.example.net/evm']
    const chains = (list: string[]) =>
      JSON.stringify([{ name: 'c', urls: list, headers: { Authorization: 'SOURCE_A' } }])
    expect(() => gatewaySettings({ ...gateway.vars, RPC_CHAINS: chains(urls) })).toThrow(/headers.*same host/)
    expect(() => gatewaySettings({ ...gateway.vars, RPC_CHAINS: chains([]) })).toThrow(/RPC_CHAINS/)
    expect(() => gatewaySettings({ ...gateway.vars, RPC_CHAINS: chains(urls.slice(0, 1)) })).not.toThrow()
  })

  it('are all named if several are wrong', () => {
    const wrong = { ...live.vars, RELAY_SOCKETS: 'none', BOOK_HUBS: '65' }
    const words =
      'BOOK_HUBS: must be a whole number from 1 to 64; RELAY_SOCKETS: must be a whole number from 1 to 32,768'
    expect(() => liveSettings(wrong)).toThrow(words)
  })
})

describe('archive retention', () => {
  it.each([
    ['ARCHIVE_KEEP_MB', 1_000_000_000, ' (MB)'],
    ['ARCHIVE_KEEP_EVENTS_DAYS', 36_500, ' (days)'],
    ['ARCHIVE_KEEP_BOOKS_DAYS', 36_500, ' (days)'],
    ['ARCHIVE_KEEP_CHECKPOINTS_DAYS', 36_500, ' (days)'],
    ['ARCHIVE_KEEP_FILL_TABLES_DAYS', 36_500, ' (days)'],
  ])('is refused by name and with what would do: %s', (name, most, unit) => {
    for (const value of ['0', '-1', '1.5', 'all', ' ', `${most + 1}`, undefined, null, []])
      expect(() => readVariables(ArchiveSettings, { ...jobs.vars, [name]: value }), String(value)).toThrow(
        `${name}: must be a whole number from 1 to ${most.toLocaleString('en-US')}${unit}, or empty to keep all`,
      )
    const read = (value: string) => readVariables(ArchiveSettings, { ...jobs.vars, [name]: value })
    expect(read('')).toMatchObject({ [name]: null })
    expect(read('7')).toMatchObject({ [name]: name === 'ARCHIVE_KEEP_MB' ? 7_000_000 : 7 })
  })
})

describe('the wrangler files', () => {
  const found = (change: object) => disagreements({ gateway, live, jobs, sql, ...change })

  it('agree', () => {
    expect(found({})).toEqual([])
  })

  it.each(['live', 'jobs'] as const)('agree on everything that the file of the Worker %s shares', (role) => {
    const file = configs[role]
    const [first, ...others] = file.durable_objects.bindings
    const changed: [Partial<WorkerConfig>, string][] = [
      [{ vars: { ...file.vars, BOOK_HUBS: '8' } }, `BOOK_HUBS: wrangler.toml has "4", wrangler.${role}.toml has "8"`],
      [{ vars: { ...file.vars, PIPELINE_RESOLVER: '' } }, 'PIPELINE_RESOLVER: wrangler.live.toml has '],
      [{ compatibility_date: '2026-01-01' }, 'compatibility_date: '],
      [{ durable_objects: { bindings: others } }, 'durable_objects: '],
      [{ durable_objects: { bindings: [{ ...first!, class_name: 'Log' }, ...others] } }, 'durable_objects: '],
      [{ services: [{ binding: 'GATEWAY', service: 'weird' }] }, 'service of GATEWAY: '],
      [{ name: 'other' }, 'script_name of '],
      [{ d1_databases: [] }, 'HISTORY: '],
      [{ r2_buckets: [] }, 'ARCHIVE: '],
    ]
    for (const [change, words] of changed) expect(found({ [role]: { ...file, ...change } })[0]).toContain(words)
    expect(found({ gateway: { ...gateway, vars: { ...gateway.vars, ONLY_HERE: 'x' } } })).toEqual([])
    const bare = { d1_databases: [{ binding: 'HISTORY' }], r2_buckets: [{ binding: 'ARCHIVE' }] }
    const files = { gateway: { ...gateway, ...bare }, live: { ...live, ...bare }, jobs: { ...jobs, ...bare } }
    expect(found(files)).toEqual([])
    expect(found({ ...files, [role]: { ...file, d1_databases: [], r2_buckets: [] } })).toEqual([
      `HISTORY: wrangler.toml has "", wrangler.${role}.toml has nothing`,
      `ARCHIVE: wrangler.toml has "", wrangler.${role}.toml has nothing`,
    ])
  })

  it('agree on the Worker that runs SQL', () => {
    expect(found({ sql: { ...sql, name: 'other' } })[0]).toContain('service of SQL: ')
    expect(found({ sql: { ...sql, compatibility_date: '2026-01-01' } })[0]).toContain('compatibility_date: ')
  })
})

describe('settings that must be closed', () => {
  it.each(ROLES)('are closed in the file of the Worker %s', (role) => {
    expect(openSettings(WORKERS[role], configs[role])).toEqual([])
  })

  it.each<[Partial<WorkerConfig>, RegExp]>([
    [{ compatibility_flags: ['nodejs_als'] }, /^x: .*"global_fetch_strictly_public"/],
    [{ compatibility_flags: undefined }, /^x: .*compatibility_flags/],
    [{ preview_urls: undefined }, /^x: preview_urls must be false/],
    [{ preview_urls: true }, /^x: preview_urls must be false/],
    [{ observability: { traces: { enabled: false } } }, /^x: observability.logs.invocation_logs must be false/],
    [
      { observability: { logs: { invocation_logs: true }, traces: { enabled: false } } },
      /^x: observability.logs.invocation_logs must be false/,
    ],
    [{ observability: { logs: { invocation_logs: false } } }, /^x: observability.traces.enabled must be false/],
  ])('are told where they are open: %j', (change, words) => {
    expect(openSettings('x', { ...gateway, ...change })).toEqual([expect.stringMatching(words)])
  })
})
