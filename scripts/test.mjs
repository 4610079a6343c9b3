// `npm test` runs the checks, then all tests of the projects in vitest.config.ts. With arguments, which go to vitest, it
// runs only those tests. Ends with `N passed, N failed`.
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { check } from './check.mjs'
import { countsText } from './counts.reporter.ts'

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
const alone = paths.length > 0 ? null : await runAlone()
const failed = alone?.counts.failed ?? sum('failed')
if (alone !== null) console.log(['', 'Not all passed beside the others:', ...failures].join('\n'))
console.log(
  countsText({
    passed: sum('passed') + sum('failed') - failed,
    failed: unchecked.length + failed,
    skipped: sum('skipped'),
    failures: [...unchecked.map((step) => `FAILED ${step}`), ...(alone?.counts.failures ?? failures)],
  }),
)
process.exit(unchecked.length > 0 || (alone === null ? runs : [alone]).some(({ code }) => code !== 0) ? 1 : 0)

/**
 * Runs the files of failed tests once more, one at a time, to tell a broken product from a test that depends on how busy
 * the machine is. The second is a bug too: its failure is printed, but it does not fail the run. Null: all passed, or the
 * failures are of another kind.
 */
async function runAlone() {
  const files = runs.flatMap(({ counts }) => counts.failedFiles)
  const areOfFiles = runs.every(({ code, counts }) => code === 0 || counts.failedFiles.length > 0)
  if (files.length === 0 || files.length > MOST_FILES_ALONE || !areOfFiles) return null
  return vitest([...files, '--no-file-parallelism'])
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
          failures: ['FAILED vitest itself'],
          failedFiles: [],
        },
      }),
    )
  })
}
