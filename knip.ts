// What `npm run check` takes for used. Two runs: whatever nothing uses, or its own file alone; and with `--production`,
// where tests do not count as users, what only they use. There an export may be its file's own affair: what is tested
// is often a part.

import type { KnipConfig } from 'knip'

export default {
  // `!`: runs in production.
  entry: [
    'src/live.ts!',
    'src/sql.ts!',
    'src/cli/launch/sql.node.ts!',
    'test/live.worker.ts',
    'src/**/main.node.ts!',
    'src/cli/launch/gateway.node.ts!',
    'src/console/{console,live/live,status/status}.tsx!',
    'src/console/docs/docs.dom.ts!',
    'src/cli/{admin,backfill,keys,replay,watch}.node.ts!',
    // What the client package is made of, by scripts/build-client.ts.
    'src/client/{create-client.client,books.client,schemas}.ts!',
    'test/conformance/package/{contract.ts,use.mts}',
    'scripts/*.{ts,mjs}!',
    'test/bench/counted/*.worker.ts',
    'test/pipelines/plant/gateway.{node,worker}.ts',
    'test/pipelines/destinations/sender.worker.ts',
    'test/pipelines/kills.node.ts',
    // Named as text: by vitest.config.ts, by scripts/mutants.ts; and a program.
    'test/stub-gateway.worker.ts',
    'vitest.mutants.ts',
    'test/fixtures/invent.node.ts',
    'test/browser/live-load.node.ts',
    // In the place of `cloudflare:workers`.
    'test/sim/workers-module.ts',
  ],
  project: ['src/**/*.{ts,tsx}!', 'scripts/**!', 'test/**/*.ts', '*.ts'],
  ignoreDependencies: ['weir-client', '@stryker-mutator/vitest-runner'],
  // Of the machine, where it has them: a PostgreSQL with TLS.
  ignoreBinaries: ['openssl'],
  ignoreExportsUsedInFile: process.argv.includes('--production'),
} satisfies KnipConfig
