// Which feeder a wrong order book is attributed to.

import { expect, it } from 'vitest'
import { WrongBooks } from '../../src/block-log/copy-comparison.ts'

it('a wrong book is blamed on the feeder whose copy was accepted, or else on the leader, if there is one', () => {
  const wrong = new WrongBooks()
  wrong.onWrongBook('BTC', null, 7, 1)
  expect([wrong.list, wrong.isDistrusted('a', 2)]).toEqual([[], false])
  wrong.onDispute('BTC', 'a', 'b', 8, 2)
  wrong.onWrongBook('BTC', null, 9, 3)
  wrong.onWrongBook('ETH', 'c', 9, 4)
  expect(wrong.list).toMatchObject([
    { feeder: 'c', coin: 'ETH', why: 'wrong_book' },
    { feeder: 'a', coin: 'BTC', why: 'wrong_book' },
    { feeder: 'b', coin: 'BTC', why: 'other_copy' },
  ])
})
