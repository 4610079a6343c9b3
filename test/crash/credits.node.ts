// `npm run crash [-- --kills 50 --calls 100000 --seed N]`: kills workerd (every fifth time the gateway's whole process
// group) at random points of metered calls, then compares the ledger with the calls served. `npm test` includes a small
// run. `npm run crash -- --payments 10`: ten minutes of payments by x402 under kills instead. `npm run crash -- --serve 20`:
// kills and power cuts of `weir serve`.

import { join } from 'node:path'
import { build } from '../../src/cli/launch/build.node.ts'
import { commandLine, program, valueParser } from '../../src/core/command-line.node.ts'
import { wholeNumber } from '../../src/core/whole-number.ts'
import { crashRun } from './credit-run.ts'
import { paymentRun } from './payment-run.ts'
import { powerCutFault, serveRun } from './serve-run.ts'

const CRASH = program('npm run crash --', 'metered calls under SIGKILLs, then the ledger against what was served', [
  '--kills 50 --calls 100000',
  '--payments 10',
  '--serve 20',
])
  .option('--kills <n>', 'how often a process is killed', valueParser(wholeNumber(1, 100_000)), 50)
  .option('--calls <n>', 'how many calls are made', valueParser(wholeNumber(1, 100_000_000)), 100_000)
  .option(
    '--payments <minutes>',
    'payments by x402 for so long, under kills of the gateway and the facilitator, instead of metered calls',
    valueParser(wholeNumber(1, 1_000)),
  )
  .option(
    '--serve <n>',
    'kills and power cuts of a gateway on one machine instead',
    valueParser(wholeNumber(1, 10_000)),
  )
  .option('--seed <n>', 'of the moments of kills; a new one unless said', valueParser(wholeNumber(1, 999_999_999)))
const { kills, calls: asked, payments: minutes, serve, seed = 1 + (Date.now() % 1_000_000) } = commandLine(CRASH).opts()

await build(join(import.meta.dirname, '../..'))
if (minutes !== undefined) {
  console.log(await paymentRun({ minutes, seed, say: (line) => console.log(line) }))
  process.exit()
}
if (serve !== undefined) {
  const fault = powerCutFault()
  if (fault !== null) throw new Error(fault)
  console.log(`seed ${seed}`, await serveRun({ runs: serve, seed, say: (line) => console.log(line) }))
  process.exit()
}
const startedMs = Date.now()
const report = await crashRun({
  calls: asked,
  kills,
  groupEvery: 5,
  seed,
  awaitReturn: true,
  say: (line) => console.log(line),
})
const { calls, served, unanswered, refused, charged, granted, groupKills, lost, heldAtEnd } = report
const lostInAll = lost.reduce((sum, each) => sum + each, 0)
console.log(`seed ${seed}, ${Math.round((Date.now() - startedMs) / 1000)} s: all laws hold
  kills                        ${kills}, of them ${groupKills} of the whole process group
  calls                        ${calls}: ${served} served, ${unanswered} lost their answer, ${refused} refused
  charged, of granted          ${charged / 1e6} of ${granted / 1e6} credits
  served and never charged     at most ${Math.max(...lost)} micro-credits a kill, ${Math.round(lostInAll / kills)} on average
  held once leases had ended   ${heldAtEnd}
  usage rows (meter and D1)    equal to the ledger`)
