// `npm run soak [-- --minutes 30 --clients 500 --fault-every 20 --connections 10000 --scale mainnet --seed N --state
// DIR]`: the whole product at the exchange's size under faults, with clients of many kinds. Finally checks every book,
// every credit and the memory of every object. Ctrl-C ends it early with its findings so far.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { commandLine, program, valueParser } from '../../src/core/command-line.node.ts'
import { wholeNumber } from '../../src/core/whole-number.ts'
import { outageSoak } from './outages.node.ts'
import { soak } from './soak.node.ts'
import { failures, outageSummary, outagesTable, tableOf } from './table.ts'

/** Funding comes within a long run too, twice. */
const FUNDING_BLOCKS = { small: 857, mainnet: 9_000 }
/** Often enough that one lies outside of all outages. */
const OUTAGE_FUNDING_BLOCKS = { small: 857, mainnet: 2_000 }
/** Beyond its minutes, for start and end. */
const LIMIT_MS = 25 * 60_000

const SOAK = program('npm run soak --', 'the whole product at the real size, under faults', [
  '--minutes 30 --clients 500 --fault-every 20',
  '--scale small --minutes 3 --clients 50',
])
  .option('--minutes <n>', 'minutes with faults', valueParser(wholeNumber(1, 1_440)), 30)
  .option('--clients <n>', 'number of clients', valueParser(wholeNumber(11, 5_000)), 500)
  .option('--fault-every <n>', 'seconds between faults', valueParser(wholeNumber(5, 3_600)), 20)
  .option('--connections <n>', 'short-lived connections at the end', valueParser(wholeNumber(40, 1_000_000)), 10_000)
  .option(
    '--scale <name>',
    'size of the exchange: small or mainnet',
    valueParser(z.enum(['small', 'mainnet'], 'must be small or mainnet')),
    'mainnet',
  )
  .option(
    '--seed <n>',
    'seed of exchange, clients and faults (default: random)',
    valueParser(wholeNumber(1, 999_999_999)),
  )
  .option('--outages <n>', 'outages of a node with repairs, instead of clients', valueParser(wholeNumber(1, 20)))
  .option('--state <dir>', 'empty folder to keep (default: a temporary one)')
const {
  minutes,
  clients,
  faultEvery,
  connections,
  scale,
  outages,
  seed = 1 + (Date.now() % 1_000_000),
  state: kept,
} = commandLine(SOAK).opts()

const beganMs = Date.now()
const say = (line: string) =>
  void process.stderr.write(`${String(Math.round((Date.now() - beganMs) / 1000)).padStart(5)} s  ${line}\n`)
const state = kept === undefined ? mkdtempSync(join(tmpdir(), 'weir-soak-')) : resolve(kept)
mkdirSync(state, { recursive: true })
const early = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    // A second one does not wait: children end with their parent.
    if (early.signal.aborted) process.exit(130)
    say('ending early with the findings so far')
    early.abort()
  })
setTimeout(
  () => {
    say('still running')
    process.exit(1)
  },
  minutes * 60_000 + LIMIT_MS,
).unref()
// Also where a second Ctrl-C, or the limit, ends it at once.
if (kept === undefined) process.once('exit', () => rmSync(state, { recursive: true, force: true, maxRetries: 5 }))
say(`seed ${seed}, logs in ${join(state, 'log')}`)
const common = { minutes, scale, seed, state, say, signal: early.signal }
const { found, table, reasons, summary } = await (outages === undefined ? runSoak() : runOutages(outages))
if (kept !== undefined) writeFileSync(join(state, 'findings.json'), JSON.stringify(found, null, 1))
process.stdout.write(`\n${table}\n\n`)
for (const reason of reasons) process.stdout.write(`FAILED: ${reason}\n`)
process.stdout.write(reasons.length === 0 ? `${summary}\n` : '')
process.exit(reasons.length === 0 ? 0 : 1)

async function runSoak() {
  const found = await soak({
    ...common,
    fundingBlocks: FUNDING_BLOCKS[scale],
    clients,
    connections,
    faultEveryMs: faultEvery * 1000,
  })
  return { found, table: tableOf(found), reasons: failures(found), summary: 'all holds' }
}

async function runOutages(count: number) {
  const found = await outageSoak({ ...common, fundingBlocks: OUTAGE_FUNDING_BLOCKS[scale], outages: count })
  return { found, table: outagesTable(found), reasons: found.wrong, summary: outageSummary(found) }
}
