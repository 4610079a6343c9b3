// Orders the test files. Small files that take long run first, because they would otherwise run alone at the end. The
// other files follow in the order of vitest: the largest first.

import { basename } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const LONGEST = [
  'soak',
  'console',
  'sim',
  'package',
  // A browser takes a core. Behind the others, it seldom runs beside that of `console`.
  'owner',
  'fresh',
  'guides',
  'pages',
  'pipelines',
  'kills',
  'unread',
  'rehearsal',
  'streams',
  'crash',
  'postgres',
  'full',
  'refiled.worker',
].map((name) => `${name}.test.ts`)

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.indexOf(basename(moduleId))
      return at < 0 ? LONGEST.length : at
    }
    return (await super.sort(files)).sort((a, b) => rankOf(a) - rankOf(b))
  }
}
