// The order of test files: those first that take longest though they are short, or each would run alone in the end. The
// others as vitest has them, the largest first.

import { basename } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const LONGEST = ['soak', 'archive', 'sim', 'package', 'console', 'pages', 'fresh', 'deploy', 'guides', 'crash'].map(
  (name) => `${name}.test.ts`,
)

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.indexOf(basename(moduleId))
      return at < 0 ? LONGEST.length : at
    }
    return (await super.sort(files)).sort((a, b) => rankOf(a) - rankOf(b))
  }
}
