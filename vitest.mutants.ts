// For `npm run mutants` alone: the pure tests of the folder whose files are changed.

import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: { include: [`test/${process.env.MUTANTS_OF}/**/*.test.ts`], exclude: ['**/*.worker.test.ts'] },
})
