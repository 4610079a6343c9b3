import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'

process.env.WRANGLER_LOG ??= 'error'
process.env.WRANGLER_SEND_METRICS ??= 'false'
process.env.WRANGLER_HIDE_BANNER ??= 'true'

const migrations = await readD1Migrations('schemas/d1/accounts')

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
                  compatibilityDate: '2026-11-01',
                  script: `
                    import { WorkerEntrypoint } from 'cloudflare:workers'
                    export class Internal extends WorkerEntrypoint {
                      info(identity, body) { return { status: 200, body: JSON.stringify({ echo: JSON.parse(body) }) } }
                      keepUsage() {}
                      caller(keyHash) {
                        if (keyHash.startsWith('expired')) return { ok: false, why: 'expired' }
                        const who = { v: 1, account: '', keyHash, kind: 'api', plan: 'enterprise', products: ['stream'] }
                        return { ok: true, identity: who }
                      }
                    }
                    export default { fetch: () => new Response('stub gateway') }`,
                },
              ],
            },
          }),
        ],
        test: {
          name: 'workers',
          include: ['test/**/*.worker.test.ts'],
          setupFiles: ['test/migrate.worker.ts'],
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
