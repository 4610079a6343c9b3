// A small run of test/soak: the whole product with all kinds of clients and a fault every few seconds; then every book,
// credit and object is checked. `npm run soak` is the large run.

import { expect, it } from 'vitest'
import { scratch } from '../kit/program.ts'
import { soak } from '../soak/soak.node.ts'
import { failures } from '../soak/table.ts'

it('ends with every book equal to the exchange’s and every credit accounted for', { timeout: 900_000 }, async () => {
  const folder = scratch()
  const said: string[] = []
  try {
    const found = await soak({
      scale: 'small',
      seed: 7,
      fundingBlocks: 300,
      minutes: 0.5,
      clients: 22,
      faultEveryMs: 5_000,
      connections: 250,
      state: folder.path,
      say: (line) => said.push(line),
      signal: new AbortController().signal,
    })
    // The verdict is the run's own, less how long clients were away: other tests take the machine meanwhile.
    expect(failures({ ...found, absences: [] }), said.join('\n')).toEqual([])
    expect(found.faults).toHaveLength(6)
    expect(found.comparisons.at(-1)!.books).toBeGreaterThan(30)
    expect(found.audit!.charged).toBeGreaterThan(0)
    expect(found.churn!.subscriptions).toBe(1_000)
    // Objects at rest, such as meters, may already have been evicted.
    expect(found.heap!.objects.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['BlockLog', 'BookHub', 'Relay']),
    )
  } finally {
    folder.remove()
  }
})
