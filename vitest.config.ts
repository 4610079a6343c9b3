import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { availableParallelism } from 'node:os'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin'
import { kCurrentWorker } from 'miniflare'
import { defineConfig } from 'vitest/config'
import { unstable_readConfig } from 'wrangler'
import { LongestFirst } from './scripts/longest-first.sequencer.ts'

process.env.WRANGLER_LOG ??= 'error'
process.env.WRANGLER_SEND_METRICS ??= 'false'
process.env.WRANGLER_HIDE_BANNER ??= 'true'

// Replaces the gateway, which the objects call. Node's warning that type stripping is experimental is suppressed.
const { emitWarning } = process
process.emitWarning = () => {}
const stubGateway = stripTypeScriptTypes(readFileSync('test/stub-gateway.worker.ts', 'utf8'))
process.emitWarning = emitWarning
const { compatibility_date: compatibilityDate } = unstable_readConfig({ config: 'wrangler.toml' })
const jobs = unstable_readConfig({ config: 'wrangler.jobs.toml' })
/** The objects of the jobs and SQL Workers, which run in the same Worker as those of the live Worker. */
const otherObjects = [
  ...jobs.durable_objects.bindings,
  ...unstable_readConfig({ config: 'wrangler.sql.toml' }).durable_objects.bindings,
]
  .filter(({ script_name: script }) => script === undefined)
  .map(({ name, class_name: className }) => [name, { className, useSQLite: true }])

/** Two networks, the second with a node. */
const PAYMENT_NETWORKS = [{}, { rpcUrl: 'https://node.example' }].map((more, i) => ({
  payTo: `0x${'c'.repeat(40)}`,
  network: `eip155:${i + 1}`,
  asset: { address: `0x${'b'.repeat(40)}`, symbol: 'USDC', decimals: 6, name: 'USD Coin', version: '2' },
  facilitator: 'https://facilitator.example',
  creditsPerUsd: '1000',
  leastUsd: '0.005',
  multiple: '1',
  topUp: { leastUsd: '1', mostUsd: '1000' },
  plan: 'entry',
  ...more,
}))

const migrations = {
  ACCOUNTS: await readD1Migrations('schemas/d1/accounts'),
  USAGE: await readD1Migrations('schemas/d1/usage'),
  HISTORY: await readD1Migrations('schemas/d1/history'),
}

// A slow or busy machine may take this many times as long as two idle cores, and a rehearsal adds the platform's latencies.
const SLOW = process.env.REHEARSAL ? 24 : 8
/** Time limits of a project whose longest test or hook takes `longestMs` on two idle cores. */
const within = (longestMs: number, filesPerCore = 1) => ({
  testTimeout: SLOW * longestMs,
  hookTimeout: SLOW * longestMs,
  // Events that a test waits for happen within milliseconds, or at the start of the next second.
  expect: { poll: { timeout: SLOW * 1_500, interval: 50 } },
  // By default, vitest leaves one of two cores idle, although many tests only wait.
  maxWorkers: Math.ceil(filesPerCore * availableParallelism()),
})

/** Of the projects in Node. */
const SETUP = ['test/no-idle-connections.ts']
/** Sets a certificate in the environment, which Miniflare reads when it is loaded. */
const LOADS_MINIFLARE = 'test/conformance/postgres.test.ts'
/** Tests of programs and servers in processes of their own, which kill them in the middle of their work or wait for their time limits. */
const OF_PROGRAMS = ['feeder', 'cli', 'examples', 'pipelines/destinations']
  .map((folder) => `test/${folder}/**/*.test.ts`)
  .concat('test/devnet/main.test.ts', 'test/core/command-line.test.ts', 'test/scripts/release/release.test.ts')
/** These tests use a core for a few seconds, and wait for a segment or a file of the archive the rest of their time. */
const WAIT_FOR_MINUTES = ['test/conformance/repair.test.ts', 'test/conformance/archive.test.ts']

export default defineConfig({
  test: {
    reporters: ['default', './scripts/counts.reporter.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'pure',
          setupFiles: SETUP,
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.worker.test.ts', 'test/conformance/**', ...OF_PROGRAMS],
          isolate: false,
          // Each project has its own group, because all projects of a group must have the same number of workers.
          sequence: { groupOrder: 0 },
          // In `npm test`, the other projects go first, so these tests may get little of a core for many minutes.
          ...within(120_000),
        },
      },
      {
        test: {
          name: 'programs',
          setupFiles: SETUP,
          include: OF_PROGRAMS,
          isolate: false,
          sequence: { groupOrder: 1 },
          ...within(15_000),
        },
      },
      {
        plugins: [
          cloudflareTest({
            main: './test/live.worker.ts',
            wrangler: { configPath: './wrangler.live.toml' },
            miniflare: {
              durableObjects: Object.fromEntries(otherObjects),
              serviceBindings: { SQL: kCurrentWorker },
              bindings: {
                ...jobs.vars,
                MIGRATIONS: migrations,
                X402: JSON.stringify(PAYMENT_NETWORKS),
                SQL_RUNNERS: '1',
                SQL_TOKEN: '',
                PIPELINE_MINUTE_CREDITS: '0',
              },
              // The gateway's own stores, so that code of both Workers can be tested in one project.
              d1Databases: ['ACCOUNTS', 'USAGE'],
              kvNamespaces: ['KEYS'],
              workers: [
                {
                  name: 'weir',
                  modules: true,
                  ...(compatibilityDate && { compatibilityDate }),
                  script: stubGateway,
                },
              ],
            },
          }),
        ],
        test: {
          name: 'workers',
          include: ['test/**/*.worker.test.ts'],
          setupFiles: ['test/migrate.worker.ts'],
          isolate: false,
          // These tests mostly wait for alarms and deadlines. In `npm test`, the other projects of their set slow them.
          ...within(15_000, 2),
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'conformance',
          setupFiles: SETUP,
          include: ['test/conformance/**/*.test.ts'],
          exclude: [LOADS_MINIFLARE, ...WAIT_FOR_MINUTES],
          globalSetup: ['test/conformance/build.ts'],
          // With isolation, each file would load Miniflare and wrangler again, which takes 4 s of CPU time.
          isolate: false,
          // These tests wait half of their time. With one more file at a time, public clients run into their own time limits.
          ...within(10_000, 1.5),
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: 'conformance-alone',
          setupFiles: SETUP,
          include: [LOADS_MINIFLARE],
          ...within(10_000, 1.5),
          // In parallel with the others. In a group of its own, it would use one core while it starts its servers.
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: 'minutes',
          setupFiles: SETUP,
          include: WAIT_FOR_MINUTES,
          globalSetup: ['test/conformance/build.ts'],
          ...within(10_000, 1.5),
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
})
