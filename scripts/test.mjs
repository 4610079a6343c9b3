// `npm test`: the checks, then every test of the three projects; with arguments, which vitest reads, those tests alone.
// Ends with `N passed, N failed`.
import { spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { check } from './check.mjs'
import { countsText } from './counts.reporter.ts'

// Hundreds of processes compile the same files.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../node_modules/.cache/compiled')
/** Of everything that runs beside the tests of the built product: three times less than they get. */
const BESIDE = 5

const asked = process.argv.slice(2)
const runs = asked.length > 0 ? [await vitest(asked)] : await everything()
const sum = (name) => runs.reduce((total, { counts }) => total + counts[name], 0)
console.log(countsText({ passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') }))
process.exit(runs.some(({ code }) => code !== 0) ? 1 : 0)

/**
 * The tests of the built product mostly wait, and hold leases, links and ceilings of seconds, which a busy machine breaks:
 * checks and all other tests have the processor time that they leave.
 */
async function everything() {
  const stop = new AbortController()
  const product = vitest(['--project', 'conformance'], stop.signal)
  setPriority(BESIDE)
  const failed = (await check()).length
  if (failed > 0) stop.abort()
  const others = failed > 0 ? null : await vitest(['--project', 'pure', '--project', 'workers'])
  const tests = await product
  return others ? [others, tests] : [{ code: 1, counts: { passed: 0, failed, skipped: 0 } }]
}

/** Its exit code, and what its reporter counted: one that breaks before that has failed. */
function vitest(args, signal) {
  const child = spawn('vitest', ['run', ...args], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  let counts = null
  child.on('message', (message) => {
    counts = message
  })
  signal?.addEventListener('abort', () => child.kill('SIGINT'))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) =>
      resolve({ code, counts: counts ?? { passed: 0, failed: code === 0 ? 0 : 1, skipped: 0 } }),
    )
  })
}
