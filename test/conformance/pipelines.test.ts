// A pipeline over the built Workers while workerd is killed: every row there once, in order. `node test/pipeline/kills.node.ts`
// is the same at length.

import { expect, it } from 'vitest'
import { hasPostgres } from '../pipeline/destinations/postgres-server.ts'
import { killsRun } from '../pipeline/kills-run.ts'

// PIPE-1, PIPE-2, PIPE-4
it('a pipeline brings every row, once by its key and in order, whatever is killed', { timeout: 300_000 }, async () => {
  const found = await killsRun({ kills: 1, seed: 2, hasPostgres, say: () => undefined })
  expect(found.rows).toBeGreaterThan(100)
})
