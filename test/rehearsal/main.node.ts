// `npm run rehearse [-- --scale 100 --clients 400 --previous REF]`: the conformance, contract, credit and kill tests under
// the conditions of the platform, deploys against a stand-in, every command in a new folder, resets of all objects under
// many clients, and the previous release's Workers against the present ones. `npm test` includes a short form.

import { spawn } from 'node:child_process'
import { build } from '../../src/cli/launch/build.node.ts'
import { commandLine, program, valueParser } from '../../src/core/command-line.node.ts'
import { wholeNumber } from '../../src/core/whole-number.ts'
import { startWorld } from '../kit/gateway.ts'
import { ROOT } from '../kit/program.ts'
import type { Spread } from '../kit/statistics.ts'
import { rehearseAccount } from './account/account.node.ts'
import { gateRun } from './gate-run.ts'
import { lastRelease, MIXTURES, previousBundles } from './previous.node.ts'
import { resetRun } from './reset-run.ts'
import { Rehearsal } from './topology.ts'

const REHEARSE = program('npm run rehearse --', 'the built Workers under the conditions of the platform', [
  '--clients 400',
  '--previous v0.2.0',
])
  .option('--scale <percent>', 'latencies and replication times, in percent', valueParser(wholeNumber(1, 1000)), 100)
  .option(
    '--clients <n>',
    'clients that follow a stream while objects are reset',
    valueParser(wholeNumber(1, 10_000)),
    400,
  )
  .option('--resets <n>', 'how often all objects are reset', valueParser(wholeNumber(1, 1000)), 3)
  .option(
    '--account',
    'deploys a probe to your Cloudflare account for about ten minutes, and reports what only an account shows',
  )
  .option('--previous <ref>', 'git reference of the previous release; default: the last release')
const { scale: percent, clients, resets, account, previous = lastRelease() } = commandLine(REHEARSE).opts()
if (account) {
  const checks = await rehearseAccount(console.log)
  process.exit(checks.some(({ state }) => state === 'failed') ? 1 : 0)
}
const scale = percent / 100

/** Tests of the product as a whole that use its own gateway. */
const SUITES = ['contract', 'keys', 'streams', 'info', 'upstreams', 'edge', 'crash', 'kills']
/** Those that compare what old and new Workers say to each other. */
const MIXED_SUITES = ['keys', 'streams', 'info']

/** Half of what a relay takes, because sockets are placed by account. */
const CLIENTS_PER_RELAY = 250

const failed: string[] = []
const durations: string[] = []

await build(ROOT)
await step('conformance, contract, credits and kills', () => tests(SUITES))
await step('deploys against a stand-in', () => tests(['deploy', 'deploy-story']))
await step('every command in a new folder', () => tests(['fresh']))
await step('a release built twice', () => tests(['reproducible']))
await step(`${clients} clients while all objects are reset`, async () => {
  const relays = Math.max(2, Math.ceil(clients / CLIENTS_PER_RELAY))
  const world = await startWorld({ rehearsal: new Rehearsal({ scale }), vars: { RELAYS_PER_REGION: `${relays}` } })
  try {
    const { failures, recoveredMs } = await resetRun(world, { clients, resets, blockEveryMs: 500, say: console.log })
    if (failures.length > 0) throw new Error(failures.join('; '))
    console.log(`recovered after ${recoveredMs.join(', ')} ms`)
  } finally {
    await world.stop()
  }
})
await step('frames with and without the output gate', async () => {
  const { withGate, withoutGate, frames } = await gateRun({ blocks: 300, scale })
  const text = ({ p50, p90, p99 }: Spread) =>
    `p50 ${p50.toFixed(1)} ms, p90 ${p90.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
  console.log(`${frames} frames from feeder to client: with ${text(withGate)}; without ${text(withoutGate)}`)
})
if (previous === null)
  console.log('previous release: skipped, because nothing has been released (--previous REF names one)')
else {
  const bundles = previousBundles(previous)
  for (const name of MIXTURES)
    await step(`${name} of ${previous}, the other Workers of today`, () =>
      tests(MIXED_SUITES, { REHEARSAL_BUNDLES: bundles.mixed(name) }),
    )
  bundles.remove()
}
console.log(`\n${durations.join('\n')}`)
for (const name of failed) console.log(`FAILED ${name}`)
process.exit(failed.length > 0 ? 1 : 0)

async function step(name: string, run: () => Promise<void>): Promise<void> {
  console.log(`\n== ${name}`)
  const sinceMs = performance.now()
  try {
    await run()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    failed.push(name)
  }
  durations.push(`${Math.round((performance.now() - sinceMs) / 1000)} s  ${name}`)
}

function tests(names: readonly string[], env: Record<string, string> = {}): Promise<void> {
  const files = names.map((name) => `test/conformance/${name}.test.ts`)
  // One file at a time: latencies are real, and so are the limits of time in these tests.
  const args = ['run', '--project', 'conformance', '--project', 'minutes', '--no-file-parallelism', ...files]
  const child = spawn('vitest', args, {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, REHEARSAL: `${scale}`, ...env },
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`tests ended with ${code}`))))
  })
}
