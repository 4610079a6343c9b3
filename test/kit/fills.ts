// A generic fill for tests that use only some of its fields.

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

/** The fill with other fields. */
export const fillWith = (more: Partial<Fill> = {}): Fill => ({ ...PLAIN_FILL, ...more })
