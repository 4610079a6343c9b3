import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'
import { unstable_readConfig } from 'wrangler'

process.env.WRANGLER_LOG ??= 'error'
process.env.WRANGLER_SEND_METRICS ??= 'false'
process.env.WRANGLER_HIDE_BANNER ??= 'true'

// In the place of the gateway, which the objects call. Node says at each run that stripping types is experimental.
const { emitWarning } = process
process.emitWarning = () => {}
const stubGateway = stripTypeScriptTypes(readFileSync('test/stub-gateway.worker.ts', 'utf8'))
process.emitWarning = emitWarning
const { compatibility_date: compatibilityDate } = unstable_readConfig({ config: 'wrangler.toml' })

const migrations = {
  ACCOUNTS: await readD1Migrations('schemas/d1/accounts'),
  HISTORY: await readD1Migrations('schemas/d1/history'),
}

// A slow machine, or a busy one, takes this many times longer than two idle cores.
const SLOW = 8
/** Ceilings for a project whose longest test or hook takes so long on two idle cores. */
const within = (longestMs: number) => ({
  testTimeout: SLOW * longestMs,
  hookTimeout: SLOW * longestMs,
  // What a test waits for comes within milliseconds, or with the next second.
  expect: { poll: { timeout: SLOW * 1_500, interval: 50 } },
  // A core for each: left alone, vitest leaves one of two cores idle, and many tests wait.
  maxWorkers: '100%',
})

export default defineConfig({
  test: {
    reporters: ['default', './scripts/counts.reporter.ts'],
    projects: [
      {
        test: {
          name: 'pure',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.worker.test.ts', 'test/conformance/**'],
          isolate: false,
          ...within(5_000),
        },
      },
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: './wrangler.live.toml' },
            miniflare: {
              bindings: { MIGRATIONS: migrations },
              // The gateway's own stores, so that code of both Workers can be tested in one project.
              d1Databases: ['ACCOUNTS'],
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
          ...within(6_000),
        },
      },
      {
        test: {
          name: 'conformance',
          include: ['test/conformance/**/*.test.ts'],
          globalSetup: ['test/conformance/build.ts'],
          ...within(10_000),
        },
      },
    ],
  },
})
