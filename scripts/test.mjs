// `npm test` runs the checks, then all tests of the projects in vitest.config.ts. With arguments, which go to vitest, it
// runs only those tests. Ends with `N passed, N failed`.
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { check } from './check.mjs'
import { countsText, failureText } from './counts.reporter.ts'

// Shared, because hundreds of processes compile the same files.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../node_modules/.cache/compiled')
inMemory()
/**
 * Sets of vitest runs, one set after the other. Tests of the built product have time limits of seconds, which a busy
 * machine would exceed, so those of the second set do not run beside them.
 */
const SETS = [
  [
    ['--project', 'conformance*'],
    ['--project', 'minutes'],
  ],
  [
    ['--project', 'workers'],
    ['--project', 'programs'],
  ],
]
/** Computes while the others wait, at a lower priority. */
const BESIDE = ['--project', 'pure']
/** If more files fail, the cause is not that the machine was busy. */
const MOST_FILES_ALONE = 5

const paths = process.argv.slice(2)
const unchecked = paths.length > 0 ? [] : await check()
const runs = unchecked.length > 0 ? [] : paths.length > 0 ? [await vitest(paths)] : await all()
const sum = (name) => runs.reduce((total, { counts }) => total + counts[name], 0)
const failures = runs.flatMap(({ counts }) => counts.failures)
const passedAlone = paths.length > 0 ? [] : await runAlone()
if (passedAlone.length > 0)
  console.log(
    ['', 'Passed only alone, so they depend on how busy the machine is:', ...passedAlone.map(failureText)].join('\n'),
  )
const failed = unchecked.length + sum('failed') - passedAlone.length
console.log(
  countsText({
    passed: sum('passed') + passedAlone.length,
    failed,
    skipped: sum('skipped'),
    failures: [
      ...unchecked.map((step) => ({ file: null, name: step, error: '' })),
      ...failures.filter((failure) => !passedAlone.includes(failure)),
    ],
  }),
)
const isCrash = runs.some(({ code, counts }) => code !== 0 && counts.failed === 0)
process.exit(failed > 0 || isCrash ? 1 : 0)

/**
 * Runs the files of failed tests once more, one at a time, to tell a broken product from a test that depends on how busy
 * the machine is. The second is a bug too: its failure is printed, but it does not fail the run. Returns the failures of
 * tests that passed this time.
 */
async function runAlone() {
  const files = [...new Set(failures.map(({ file }) => file))]
  if (files.length === 0 || files.length > MOST_FILES_ALONE || files.includes(null)) return []
  const { counts } = await vitest([...files, '--no-file-parallelism'])
  if (counts.failures.some(({ file }) => file === null)) return []
  const passes = new Set(counts.passes)
  return failures.filter(({ name }) => passes.has(name))
}

/** Objects sync each write, for which a disk takes milliseconds. Temporary files are in memory where the system has a disk in it. */
function inMemory() {
  const disk = '/dev/shm'
  if (process.env.TMPDIR !== undefined || freeBytes(disk) < 8 * 1024 ** 3) return
  const folder = mkdtempSync(`${disk}/weir-test-`)
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755)
  process.env.TMPDIR = folder
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
}

function freeBytes(disk) {
  try {
    const { bavail, bsize } = statfsSync(disk)
    return bavail * bsize
  } catch {
    return 0
  }
}

async function all() {
  const beside = vitest(BESIDE, constants.priority.PRIORITY_LOW)
  const runs = []
  for (const set of SETS) runs.push(...(await Promise.all(set.map((args) => vitest(args)))))
  return [await beside, ...runs]
}

/** Exit code and counts of the reporter. A run that crashes before it reports counts has failed. */
function vitest(args, priority = null) {
  const child = spawn('vitest', ['run', ...args], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  // Before it has started other processes, which inherit the priority.
  if (priority !== null && child.pid !== undefined) setPriority(child.pid, priority)
  let counts = null
  child.on('message', (message) => {
    counts = message
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) =>
      resolve({
        code,
        counts: counts ?? {
          passed: 0,
          failed: code === 0 ? 0 : 1,
          skipped: 0,
          failures: [{ file: null, name: 'vitest itself', error: '' }],
          passes: [],
        },
      }),
    )
  })
}
