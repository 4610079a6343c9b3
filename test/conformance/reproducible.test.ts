// A release is reproducible: two copies of this tree at different paths give equal files.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { findPython } from '../../scripts/build-python.ts'
import { scratch } from '../kit/program.ts'
import { copyTree } from '../kit/tree-copy.ts'

const AUTHOR = { name: 'Releaser', email: 'releaser@example.com' }
const DATE = '2026-01-02T03:04:05Z'
/** Equal in both copies, so that their commits are equal. */
const GIT = {
  GIT_AUTHOR_NAME: AUTHOR.name,
  GIT_AUTHOR_EMAIL: AUTHOR.email,
  GIT_AUTHOR_DATE: DATE,
  GIT_COMMITTER_NAME: AUTHOR.name,
  GIT_COMMITTER_EMAIL: AUTHOR.email,
  GIT_COMMITTER_DATE: DATE,
}

/** Builds the files of the release in a new copy, and returns their checksums. */
function checksumsAt(folder: string): string {
  copyTree(folder)
  const env = { ...process.env, ...GIT, PATH: join(folder, 'node_modules/.bin') + delimiter + process.env.PATH }
  const run = (command: string, ...args: readonly string[]) => execFileSync(command, args, { cwd: folder, env })
  run('git', 'init', '--quiet', '--initial-branch=main')
  run('git', 'add', '--all')
  run('git', 'commit', '--quiet', '--message', 'feat(all): begin')
  run(process.execPath, 'scripts/release-files.ts', 'dist/release')
  return readFileSync(join(folder, 'dist/release/SHA256SUMS'), 'utf8')
}

it('has equal checksums at two paths', { timeout: 600_000 }, ({ skip }) => {
  skip(process.env.REHEARSAL === undefined, 'a part of npm run rehearse, because it takes two minutes of CPU time')
  skip(findPython('hatchling') === undefined, "needs Debian's python3-hatchling")
  const { path, remove } = scratch()
  onTestFinished(remove)
  const first = checksumsAt(join(path, 'one'))
  expect(first.match(/\.(?:tgz|whl|tar\.gz|json|md)$/gim)?.length).toBeGreaterThanOrEqual(10)
  expect(checksumsAt(join(path, 'another é'))).toBe(first)
})
