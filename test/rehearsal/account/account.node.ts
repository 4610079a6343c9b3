// `npm run rehearse -- --account`: deploys the probe with the operator's databases, runs the checks, and deletes it.

import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { effectiveFiles } from '../../../src/cli/deploy/effective-file.ts'
import { addressOf } from '../../../src/cli/deploy/first-request.ts'
import { readTemplates } from '../../../src/cli/deploy/worker-files.node.ts'
import { readSettings } from '../../../src/cli/settings/settings-file.node.ts'
import { ROOT } from '../../kit/program.ts'
import { until } from '../../kit/until.ts'
import { type AccountCheck, type AskProbe, accountChecks } from './checks.ts'

const NAME = 'weir-probe'
const CONFIG = '.wrangler.probe.json'
const OUTPUT = '.wrangler.probe.ndjson'
const HINTS = ['apac-ne', 'apac-se', 'weur', 'enam', 'wnam', 'sam']
const CALLS = 200
/** A new host name takes a few seconds to resolve everywhere. */
const REACHABLE_MS = 120_000

/** The probe with the stores of weir.toml. */
function probeConfig(token: string) {
  const settings = readSettings('.')
  if (!settings.ok) throw new Error(settings.error)
  const { account_id, ids } = settings.value
  if (ids.accounts === undefined || ids.keys === undefined)
    throw new Error('weir.toml has no ids of stores. Run "npx weir deploy" first: docs/operators/guides/deploy.md')
  const { gateway } = effectiveFiles(readTemplates(ROOT), settings.value, ROOT)
  return {
    name: NAME,
    account_id,
    main: join(ROOT, 'test/rehearsal/account/probe.worker.ts'),
    compatibility_date: gateway.compatibility_date,
    workers_dev: true,
    preview_urls: false,
    vars: { PROBE_TOKEN: token },
    d1_databases: gateway.d1_databases.filter(({ binding }) => binding === 'ACCOUNTS'),
    kv_namespaces: gateway.kv_namespaces,
    r2_buckets: gateway.r2_buckets,
    durable_objects: { bindings: [{ name: 'PROBE', class_name: 'Probe' }] },
    migrations: [{ tag: 'v1', new_sqlite_classes: ['Probe'] }],
  }
}

/** A caller of the probe at this address. */
export function probeAt(url: string, token: string): AskProbe {
  const run = randomBytes(8).toString('hex')
  return async (check, query = {}) => {
    const address = `${url}/${check}?${new URLSearchParams({ run, ...query })}`
    const answer = await fetch(address, { headers: { authorization: `Bearer ${token}` } })
    if (!answer.ok) throw new Error(`the probe answered ${answer.status}`)
    const { value, error } = (await answer.json()) as { value?: unknown; error?: string }
    if (error !== undefined) throw new Error(error)
    return value
  }
}

/** Runs the checks and prints each. */
export async function checkAccount(ask: AskProbe, say: (line: string) => void): Promise<readonly AccountCheck[]> {
  const options = { sleep: (ms: number) => sleep(ms), nowMs: () => performance.now(), hints: HINTS, calls: CALLS }
  return accountChecks(ask, options, ({ name, state, text }) => say(`${state.padEnd(10)}  ${name}: ${text}`))
}

/**
 * Deploys the probe, runs the checks and deletes the probe, whatever they say. Rejects if it cannot be deployed, and if a store
 * has no id, because wrangler would create one.
 */
export async function rehearseAccount(say: (line: string) => void): Promise<readonly AccountCheck[]> {
  const token = randomBytes(24).toString('hex')
  const config = probeConfig(token)
  writeFileSync(CONFIG, JSON.stringify(config), { mode: 0o600 })
  try {
    wrangler('deploy', '-c', CONFIG)
    try {
      const url = addressOf(readFileSync(OUTPUT, 'utf8'), NAME)
      if (url === null) throw new Error(`wrangler deployed ${NAME} without an address on workers.dev`)
      const ask = probeAt(url, token)
      await until(async () => (await ask('isolate')) !== null, 'the probe is not reachable', { withinMs: REACHABLE_MS })
      return await checkAccount(ask, say)
    } finally {
      wrangler('delete', '-c', CONFIG, '--force')
    }
  } finally {
    for (const file of [CONFIG, OUTPUT]) rmSync(file, { force: true })
  }
}

function wrangler(...args: readonly string[]): void {
  const env = { ...process.env, WRANGLER_OUTPUT_FILE_PATH: OUTPUT, WRANGLER_SEND_METRICS: 'false' }
  const { status } = spawnSync(process.execPath, [join(ROOT, 'node_modules/wrangler/bin/wrangler.js'), ...args], {
    env,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error(`wrangler ${args[0]} ended with ${status}`)
}
