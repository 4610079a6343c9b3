// Settings for `npm run mutants`, which runs the pure tests of one folder.

import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Instrumented files are slow, because each contains all its mutants.
  test: {
    testTimeout: 60_000,
    include: [`test/${process.env.MUTANTS_OF}/**/*.test.ts`],
    exclude: ['**/*.worker.test.ts'],
  },
})
