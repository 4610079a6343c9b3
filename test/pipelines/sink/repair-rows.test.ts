import { expect, it } from 'vitest'
import { afterFinding, afterRepair } from '../../../src/pipelines/sink/repair-rows.ts'

// PIPE-33
it('returns to the state before a repair that ends just before the cursor, unless its fold is one of rereading', () => {
  const at = { place: { height: 24 }, epoch: 'a', timeMs: 9, fold: '[1]' }
  const found = { id: 3, from: 20, to: 23 }
  const afterReading = (fold: string) => ({ ...at, fold })
  const plain = afterFinding({ at, repairedTo: 2, first: 10 }, found)
  expect(afterRepair({ repair: plain.repair ?? null }, afterReading('[2]'))).toEqual({
    at,
    repair: null,
    repairedTo: 3,
  })
  const reread = afterFinding({ at, repairedTo: 2, first: 10 }, { ...found, readFrom: 19 })
  const fold = JSON.stringify({ repaired: '[3]', before: '[1]', repairedMs: 9 })
  expect(afterRepair({ repair: reread.repair ?? null }, afterReading(fold))).toMatchObject({ at: { fold: '[3]' } })
})
