// `npm run laws -- 10000000`: the laws of the credit ledger over so many random operations and more (ten million
// unless said otherwise). `npm test` does the same over 200,000.
import { spawnSync } from 'node:child_process'
import { commandLine, refuseArgs } from '../src/core/command-line.node.ts'

const USAGE = 'Usage: npm run laws -- COUNT   (a whole number of operations, such as 10000000)'
const { words } = commandLine({}, USAGE, 'words too')
const count = Number(words[0] ?? 10_000_000)
if (!Number.isSafeInteger(count) || count < 1 || words.length > 1) refuseArgs('', USAGE)
const env = { ...process.env, LEDGER_OPERATIONS: String(count) }
const args = ['run', '--project', 'pure', 'test/credit/ledger.test.ts']
process.exit(spawnSync('vitest', args, { stdio: 'inherit', env }).status ?? 1)
