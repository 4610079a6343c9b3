// `npm run mutants [-- src/accounts src/relay/books/block-join.ts …]`: makes small changes to pure files, one at a time, and runs the
// tests of the same folder of `test` against each. Prints the changes that no test noticed and that test/mutants.ts does
// not explain, and fails if there are any. A full run takes hours; one file takes a minute.

import { globSync, readFileSync, statSync } from 'node:fs'
import { Stryker } from '@stryker-mutator/core'
import { commandLine, program } from '../src/core/command-line.node.ts'
import { EXPLAINED } from '../test/mutants.ts'

const FOLDERS = [
  'core',
  'protocol',
  'accounts',
  'order-books',
  'block-log',
  'archive',
  'metering',
  'relay',
  'http',
  'upstream',
  'info',
]
const SHELLS = /\.(do|store|route|client|node)\.ts$/
const EXPLAINED_OF = new Map<string, ReadonlySet<string>>(
  Object.entries(EXPLAINED).map(([file, changes]) => [file, new Set(Object.keys(changes))]),
)

const [paths] = commandLine(
  program('npm run mutants --', 'makes small changes to pure files and lists those that no test notices', [
    'src/accounts',
  ]).argument('[path...]', 'files and folders (default: all)'),
).processedArgs
const requested = paths.length > 0 ? paths : FOLDERS.map((folder) => `src/${folder}`)
const files = requested
  .flatMap((path) => (statSync(path).isDirectory() ? globSync(`${path}/**/*.ts`) : [path]))
  .filter((path) => !SHELLS.test(path))
const byFolder = Map.groupBy(files, (path) => path.split('/')[1]!)

let made = 0
let survived = 0
let explained = 0
for (const [folder, mutate] of byFolder) {
  process.env.MUTANTS_OF = folder
  const results = await new Stryker({
    mutate: mutate.sort(),
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'vitest.mutants.ts', related: false },
    // Strings are not changed, because error messages are for people. Schemas are skipped, because they are created
    // once, before any test.
    mutator: { excludedMutations: ['StringLiteral'] },
    ignoreStatic: true,
    coverageAnalysis: 'perTest',
    concurrency: 1,
    reporters: ['progress-append-only'],
    tempDirName: '.weir/mutants',
    ignorePatterns: ['dist', 'schemas', '.weir', '.wrangler'],
    // Stryker would need an older TypeScript to read it, because newer versions have no API.
    tsconfigFile: 'none',
    allowEmpty: true,
  }).runMutationTest()
  for (const { status, fileName, location, replacement } of results) {
    if (status === 'Ignored') continue
    made++
    if (status !== 'Survived' && status !== 'NoCoverage') continue
    const path = fileName.slice(process.cwd().length + 1)
    const change = `${textAt(path, location)} → ${oneLine(replacement ?? '')}`
    if (EXPLAINED_OF.get(path)?.has(change)) explained++
    else {
      survived++
      console.log(`${path}:${location.start.line}  ${change}${status === 'NoCoverage' ? '  (never run)' : ''}`)
    }
  }
}
console.log(`\n${made} mutants, ${explained} explained, ${survived} survived`)
process.exit(survived > 0 ? 1 : 0)

/** The line and the column both start at 1. */
interface SourcePosition {
  readonly line: number
  readonly column: number
}
function textAt(
  path: string,
  { start, end }: { readonly start: SourcePosition; readonly end: SourcePosition },
): string {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .slice(start.line - 1, end.line)
  lines.push(lines.pop()!.slice(0, end.column - 1))
  return oneLine([lines.shift()!.slice(start.column - 1), ...lines].join('\n'))
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}
