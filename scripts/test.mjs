// `npm test`: the checks, then every test of the three projects; with arguments, which vitest reads, those tests alone.
// Ends with `N passed, N failed`.
import { spawnSync } from 'node:child_process'
import { check } from './check.mjs'

const asked = process.argv.slice(2)
const failed = asked.length > 0 ? [] : await check()
if (failed.length > 0) {
  console.log(`\n0 passed, ${failed.length} failed`)
  process.exit(1)
}
process.exit(spawnSync('vitest', ['run', ...asked], { stdio: 'inherit' }).status ?? 1)
