// A small run of test/crash: workerd and the gateway's process group are killed amid metered calls, and the ledger is
// held against what callers were served. The large one is `npm run crash`.

import { expect, it } from 'vitest'
import { crashRun } from '../crash/credit-run.ts'

it('charges what was served through three kills, but for less than a lease each', async () => {
  const said: string[] = []
  const report = await crashRun({
    calls: 1_500,
    kills: 3,
    groupEvery: 3,
    seed: 7,
    awaitReturn: false,
    say: (line) => said.push(line),
  })
  // The laws are checked by the run itself; here that it was a run at all.
  expect(report).toMatchObject({ groupKills: 1, granted: 3_000_000_000 })
  expect(report.lost).toHaveLength(3)
  expect(report.calls).toBeGreaterThanOrEqual(1_500)
  expect(report.served).toBeGreaterThan(750)
})
