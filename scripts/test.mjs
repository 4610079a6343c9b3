// `npm test`: the checks, then every test of the three projects. Ends with `N passed, N failed`.
import { spawnSync } from 'node:child_process'
import { check } from './check.mjs'

const failed = await check()
if (failed.length > 0) {
  console.log(`\n0 passed, ${failed.length} failed`)
  process.exit(1)
}
process.exit(spawnSync('vitest', ['run', ...process.argv.slice(2)], { stdio: 'inherit' }).status ?? 1)
