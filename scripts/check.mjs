// `npm run check`: everything that can be said of the code without running it. Prints each step; exit 1 if one fails.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const STEPS = [
  ['format and lint', 'biome', 'check', '--error-on-warnings'],
  ['types of pure files', 'tsc', '-p', 'tsconfig.pure.json'],
  ['types of Worker files', 'tsc', '-p', 'tsconfig.worker.json'],
  ['types of Node files', 'tsc', '-p', 'tsconfig.node.json'],
  ['variables of both Workers', 'node', 'scripts/worker-agreement.ts'],
  ['binding types', 'node', 'scripts/bindings.ts', '--check'],
  ['generated schemas', 'node', 'scripts/generate.ts', '--check'],
  ['what nothing uses', 'knip', '--no-progress', '--cache'],
  ['what tests alone use', 'knip', '--no-progress', '--cache', '--production', '--include', 'files,exports,types'],
]

/** Runs every step and answers the names of those that failed. */
export function check() {
  return STEPS.filter(([name, command, ...args]) => {
    const run = spawnSync(command, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })
    const passed = run.status === 0
    console.error(`${passed ? 'ok  ' : 'FAIL'} ${name}`)
    if (!passed) console.error(`${run.stdout ?? ''}${run.stderr ?? ''}${run.error ?? ''}`)
    return !passed
  }).map(([name]) => name)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit(check().length > 0 ? 1 : 0)
