// A fill of no particular order, for tests that care for a few of its fields.

import type { Fill } from '../../src/protocol/feed/block.ts'

const PLAIN_FILL: Fill = {
  coin: 'BTC',
  px: '1.0',
  sz: '1.0',
  side: 'B',
  time: 1,
  startPosition: '0.0',
  dir: 'Open Long',
  closedPnl: '0.0',
  hash: '0x0',
  oid: 1,
  crossed: true,
  fee: '0.1',
  tid: 1,
  feeToken: 'USDC',
}

/** The same with other fields. */
export const fillWith = (more: Partial<Fill> = {}): Fill => ({ ...PLAIN_FILL, ...more })
