// What a deploy knows, for tests: the wrangler files of this version with any settings, and an account that has everything.

import type { AccountFacts, DeployFacts } from '../../../src/cli/deploy/deploy-checks.ts'
import { effectiveFiles } from '../../../src/cli/deploy/effective-file.ts'
import { storesOf } from '../../../src/cli/deploy/stores.ts'
import { readTemplates } from '../../../src/cli/deploy/worker-files.node.ts'
import { WeirSettings } from '../../../src/cli/settings/weir-settings.ts'
import { ROOT } from '../../kit/program.ts'

export const templates = readTemplates(ROOT)
export const REQUIRED = ['ADMIN_TOKEN', 'FEED_TOKEN', 'KEY_SECRET']
export const SOURCES = [
  { name: 'node', url: 'https://node.example.com/info', types: ['meta'] },
  { name: 'all', url: 'https://api.example.com/info' },
]
const DATABASE = '0a1b2c3d-0a1b-4a1b-8a1b-0a1b2c3d4e5f'
export const IDS = { accounts: DATABASE, usage: DATABASE, history: DATABASE, keys: '0123456789abcdef0123456789abcdef' }

/** The settings of a gateway with sources and stores, changed as in weir.toml. */
export function settingsWith(
  change: Readonly<Record<string, unknown>> & { readonly vars?: object } = {},
): WeirSettings {
  return WeirSettings.parse({ ids: IDS, ...change, vars: { UPSTREAMS: SOURCES, ...change.vars } })
}

/** An account in which all Workers and stores of these settings exist. */
export function accountOf(settings: WeirSettings, change: Partial<AccountFacts> = {}): AccountFacts {
  const stores = storesOf(settings).map(({ binding, id = binding }) => [
    binding,
    { state: 'there', id, location: null } as const,
  ])
  return {
    secrets: { gateway: REQUIRED, live: [], jobs: settings.jobs ? [] : 'no worker', sql: [] },
    stores: Object.fromEntries(stores),
    lacking: { ACCOUNTS: [], USAGE: [], HISTORY: [] },
    schemaFaults: [],
    ...change,
  }
}

export function factsOf(settings = settingsWith(), change: Partial<DeployFacts> = {}): DeployFacts {
  return {
    settings,
    workers: effectiveFiles(templates, settings, '/installed'),
    scope: 'all',
    isTemporary: false,
    given: {},
    secretsFault: null,
    account: accountOf(settings),
    ...change,
  }
}
