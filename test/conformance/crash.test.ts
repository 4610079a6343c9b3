// A small run of test/crash: workerd and the gateway's process group are killed during metered calls, and the ledger is
// compared with the served calls. `npm run crash` is the large run.

import { expect, it } from 'vitest'
import { crashRun } from '../crash/credit-run.ts'

it('charges served calls through three kills, except for less than a lease each', async () => {
  const said: string[] = []
  const report = await crashRun({
    calls: 1_500,
    kills: 3,
    groupEvery: 3,
    seed: 7,
    awaitReturn: false,
    say: (line) => said.push(line),
  })
  // The run checks its invariants itself; this checks that it ran.
  expect(report).toMatchObject({ groupKills: 1, granted: 3_000_000_000 })
  expect(report.lost).toHaveLength(3)
  expect(report.calls).toBeGreaterThanOrEqual(1_500)
  expect(report.served).toBeGreaterThan(750)
})
