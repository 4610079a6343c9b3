// Settings of the unused-code check in `npm run check`. The first run reports exports that no other file uses. The run
// with `--production` ignores tests and reports code that only tests use. In that run, an export that its own file uses
// is allowed, because tests often cover a part of a file.

import type { KnipConfig } from 'knip'

export default {
  workspaces: {
    '.': {
      // `!`: runs in production.
      entry: [
        'src/live.ts!',
        'src/jobs.ts!',
        'src/sql.ts!',
        'src/cli/launch/sql.node.ts!',
        'test/live.worker.ts',
        'src/**/main.node.ts!',
        'src/cli/launch/guard.node.ts!',
        'src/cli/launch/gateway.node.ts!',
        'src/feeder/{long-line,snapshot}-thread.node.ts!',
        'src/console/{console,live/live,status/status}.tsx!',
        'src/console/{site,docs/docs,landing/landing}.dom.ts!',
        // Entry points of the client package, which scripts/build-client.ts builds.
        'src/client/{create-client.client,books.client,schemas}.ts!',
        'test/conformance/package/{contract.ts,use.mts,use-ws.mts}',
        'scripts/*.{ts,mjs}!',
        'test/bench/counted/*.worker.ts',
        'test/pipelines/plant/gateway.{node,worker}.ts',
        'test/pipelines/destinations/sender.worker.ts',
        'test/pipelines/kills.node.ts',
        // The first two are named in strings of vitest.config.ts and scripts/mutants.ts. The others are programs.
        'test/stub-gateway.worker.ts',
        'vitest.mutants.ts',
        'test/fixtures/invent.node.ts',
        'test/browser/live-load.node.ts',
        // Replaces `cloudflare:workers`.
        'test/sim/workers-module.ts',
        // Read as text into the Workers of a rehearsal.
        'test/rehearsal/{shim,faulty}.worker.ts',
        'test/rehearsal/preload.node.ts',
        'test/kit/workers-dev.node.ts',
        'test/rehearsal/account/probe.worker.ts',
      ],
      project: ['src/**/*.{ts,tsx}!', 'scripts/**!', 'test/**/*.ts', '*.ts'],
    },
    'packages/weir': {},
  },
  // The font is named in a style sheet.
  ignoreDependencies: ['@weir/client', '@stryker-mutator/vitest-runner', '@fontsource-variable/inter'],
  // Installed on the machine, or missing: tests of PostgreSQL with TLS use it.
  ignoreBinaries: [
    'bwrap',
    'caddy',
    'chattr',
    'java',
    'mkfs.ext4',
    'mount',
    'openssl',
    'promtool',
    'ssh-keygen',
    'systemd-analyze',
    'systemd-notify',
    'truncate',
    'umount',
  ],
  ignoreExportsUsedInFile: process.argv.includes('--production'),
} satisfies KnipConfig
