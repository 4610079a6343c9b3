// `npm run check` runs all static checks. It prints each step and exits with 1 if a step fails.
// `npm run check -- lint types` runs only the steps whose names contain one of the words.
import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

// Runs one step per core at a time, because a step that uses several cores checks the same types on each of them.
const TSC = ['tsc', '--checkers', '1', '-p']
const STEPS = [
  // First, because it takes longest: it builds the Workers if their sources changed.
  ['start-up of the Workers', 'node', 'scripts/startup.ts'],
  ['types of Node files', ...TSC, 'tsconfig.node.json'],
  ['types of Worker files', ...TSC, 'tsconfig.worker.json'],
  ['types of browser files', ...TSC, 'tsconfig.console.json'],
  ['types of pure files', ...TSC, 'tsconfig.pure.json'],
  ['format and lint', 'biome', 'check', '--error-on-warnings'],
  ['settings of the Workers', 'node', 'scripts/worker-agreement.ts'],
  ['binding types', 'node', 'scripts/bindings.ts', '--check'],
  ['generated schemas', 'node', 'scripts/generate.ts', '--check'],
  ['English of strings and comments', 'node', 'scripts/english.ts'],
  ['unused code', 'knip', '--no-progress', '--cache'],
  ['code that only tests use', 'knip', '--no-progress', '--cache', '--production', '--include', 'files,exports,types'],
]

/** Runs the steps, as many at once as there are cores, and returns the names of those that failed. */
export async function check(steps = STEPS) {
  const failed = []
  const waiting = [...steps]
  const worker = async () => {
    for (let step = waiting.shift(); step; step = waiting.shift()) if (!(await passes(step))) failed.push(step[0])
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker))
  return failed
}

function passes([name, command, ...args]) {
  return new Promise((resolve) => {
    execFile(command, args, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      console.error(`${error ? 'FAIL' : 'ok  '} ${name}`)
      if (error) console.error(`${stdout}${stderr}${stdout || stderr ? '' : error.message}`)
      resolve(!error)
    })
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const words = process.argv.slice(2)
  const steps =
    words.length === 0
      ? STEPS
      : STEPS.filter(([name]) => words.some((word) => name.toLowerCase().includes(word.toLowerCase())))
  if (steps.length === 0)
    console.error(`No step has such a name. There are: ${STEPS.map(([name]) => name).join(', ')}.`)
  process.exit(steps.length === 0 ? 2 : (await check(steps)).length > 0 ? 1 : 0)
}
