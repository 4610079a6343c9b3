// Oracle updates of a node as rows.

import { expect, it } from 'vitest'
import { oracleRows } from '../../../src/protocol/feed/oracle-updates.ts'

it('an update with as many prices of one market as fit in a frame is read in linear time', () => {
  const prices = Array.from({ length: 80_000 }, (_, at) => String(at))
  const [row] = oracleRows([{ update_class: 'Deployer', mark_px_inputs: prices.map((price) => ['xyz:GOLD', price]) }])
  expect(row).toEqual({ coin: 'xyz:GOLD', update_class: 'Deployer', mark_px_inputs: prices })
})
