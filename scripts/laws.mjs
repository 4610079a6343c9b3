// `npm run laws -- 10000000` checks the invariants of the credit ledger over at least that many random operations (ten
// million by default). `npm test` does the same over 200,000.
import { spawnSync } from 'node:child_process'
import { commandLine, program, valueParser } from '../src/core/command-line.node.ts'
import { wholeNumber } from '../src/core/whole-number.ts'

const LAWS = program('npm run laws --', 'checks the invariants of the credit ledger over random operations', [
  '10000000',
]).argument('[count]', 'number of operations', valueParser(wholeNumber(1, Number.MAX_SAFE_INTEGER)), 10_000_000)
const [count] = commandLine(LAWS).processedArgs
const env = { ...process.env, LEDGER_OPERATIONS: String(count) }
const args = ['run', '--project', 'pure', 'test/metering/ledger.test.ts']
process.exit(spawnSync('vitest', args, { stdio: 'inherit', env }).status ?? 1)
