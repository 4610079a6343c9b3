// What became of orders, in the public server's shape and tagged with their users.

import { expect, test } from 'vitest'
import { EXAMPLE_ORDER } from '../node-order.ts'
import { textsOf } from '../wanted.ts'

const USER = `0x${'a1'.repeat(20)}`
const OTHER = `0x${'b2'.repeat(20)}`
const CLOID = `0x${'0d'.repeat(16)}`

const row = (status: string, order: object = {}, user = USER) => ({
  time: '2026-05-05T17:39:13.024084407',
  user,
  hash: null,
  builder: null,
  status,
  order: { ...EXAMPLE_ORDER, ...order },
})
const shown = (status: string, more: object = {}) => ({
  order: {
    coin: 'BTC',
    side: 'A',
    limitPx: '65045.0',
    sz: '0.0003',
    oid: 412036451268,
    timestamp: 1778002753024,
    origSz: '0.0003',
    ...more,
  },
  status,
  statusTimestamp: 1778002753024,
})

const frames = (body: object, orders: readonly unknown[], meta = false) =>
  textsOf({ type: 'orderUpdates', ...body }, { orders }, meta)

// WS-120
test('all that a block tells of one user is one frame: tagged, and as the public server shows it', () => {
  const orders = [row('open'), row('open', {}, OTHER), row('filled', { sz: '0.0', cloid: CLOID, reduceOnly: true })]
  const data = [shown('open'), shown('filled', { sz: '0.0', cloid: CLOID, reduceOnly: true })]
  const updates = data.map((update) => ({ user: USER, ...update }))
  const frame = { channel: 'orderUpdates', updates, data }
  expect(frames({ user: USER }, orders)).toEqual([JSON.stringify(frame)])
  expect(frames({ user: USER }, orders, true)).toEqual([JSON.stringify({ ...frame, block_height: 9, time: 90 })])
})

// WS-120
test('of several users it is one frame without the bare list, in the order of the chain; of others nothing', () => {
  const orders = [row('canceled'), row('minTradeNtlRejected', {}, OTHER), row('open', {}, `0x${'c3'.repeat(20)}`)]
  const updates = [
    { user: USER, ...shown('canceled') },
    { user: OTHER, ...shown('minTradeNtlRejected') },
  ]
  expect(frames({ users: [OTHER, USER] }, orders)).toEqual([JSON.stringify({ channel: 'orderUpdates', updates })])
  expect(frames({ addresses: [USER] }, orders.slice(1))).toEqual([])
})

test('what has no shape that could be shown is left out', () => {
  const odd = [null, 7, { ...row('open'), time: 'noon' }, row('open', { oid: 'x' }), { ...row('open'), order: null }]
  expect(frames({ user: USER }, odd)).toEqual([])
})
