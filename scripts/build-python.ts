// `node scripts/build-python.ts` builds the Python package in packages/python: a wheel and a source archive in
// dist/packages, ready to publish. Equal sources give equal bytes, because the backend sets all times to
// SOURCE_DATE_EPOCH, or to a constant.

import { spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const PACKAGE_DIR = join(ROOT, 'packages/python')
const OUT_DIR = join(ROOT, 'dist/packages')

/** The first Python that can import these modules. The system's Python may not be the first one of the PATH. */
export function findPython(...modules: string[]): string | undefined {
  const program = `import ${modules.join(', ')}`
  return ['python3', '/usr/bin/python3'].find((name) => spawnSync(name, ['-c', program]).status === 0)
}

/** Returns the paths of the wheel and of the source archive. */
export function buildPython(outDir = OUT_DIR): { wheel: string; sdist: string } {
  const python = findPython('hatchling')
  if (python === undefined)
    throw new Error(
      'No Python has the build backend. Install python3-hatchling (Debian), or run: pip install hatchling',
    )
  const run = spawnSync(python, ['-m', 'hatchling', 'build', '-t', 'wheel', '-t', 'sdist', '-d', outDir], {
    cwd: PACKAGE_DIR,
    encoding: 'utf8',
  })
  if (run.status !== 0) throw new Error(run.stderr)
  // Hatchling prints the path of each file.
  const paths = run.stdout.trim().split('\n')
  const pathOf = (suffix: string) => {
    const path = paths.find((name) => name.endsWith(suffix))
    if (path === undefined) throw new Error(`Hatchling wrote no ${suffix} file:\n${run.stdout}${run.stderr}`)
    const file = resolve(PACKAGE_DIR, path)
    // Hatchling moves a temporary file, which only its owner can read.
    chmodSync(file, 0o644)
    return file
  }
  return { wheel: pathOf('.whl'), sdist: pathOf('.tar.gz') }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    for (const path of Object.values(buildPython())) console.log(path)
  } catch (error) {
    console.error((error as Error).message)
    process.exitCode = 1
  }
}
