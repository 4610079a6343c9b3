// `npm run laws -- 10000000`: the laws of the credit ledger over so many random operations and more (ten million
// unless said otherwise). `npm test` does the same over 200,000.
import { spawnSync } from 'node:child_process'

const count = Number(process.argv[2] ?? 10_000_000)
if (!Number.isSafeInteger(count) || count < 1) {
  console.error('npm run laws -- COUNT: COUNT must be a whole number of operations, such as 10000000')
  process.exit(2)
}
const env = { ...process.env, LEDGER_OPERATIONS: String(count) }
const args = ['run', '--project', 'pure', 'test/credit/ledger.test.ts']
process.exit(spawnSync('vitest', args, { stdio: 'inherit', env }).status ?? 1)
