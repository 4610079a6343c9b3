// For `npm run mutants` alone: the pure tests of the folder whose files are changed.

import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Changed files carry every mutant at once, and are slower for it.
  test: {
    testTimeout: 60_000,
    include: [`test/${process.env.MUTANTS_OF}/**/*.test.ts`],
    exclude: ['**/*.worker.test.ts'],
  },
})
