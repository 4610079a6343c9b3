import { expect, it } from 'vitest'
import { RelayLink } from '../../src/order-books/relay-link.ts'
import { BBO } from '../../src/order-books/view.ts'
import { coinWant } from '../../src/order-books/view-wants.ts'

const CURSOR = { epoch: 'e', height: 10 }

// WS-130
it.each([
  ['of a height that it has, and drops', CURSOR, 'e', 10, true],
  ['above where it stands', CURSOR, 'e', 11, false],
  ['of another chain of books', CURSOR, 'f', 3, false],
  ['and begins with it', null, 'e', 10, false],
])(
  'a relay with wants that is sent a block %s is still to be shown all of them: %#',
  (_, cursor, epoch, height, isFresh) => {
    const interest = { coins: [], types: [], views: [coinWant(BBO, 'BTC')] }
    const relay = new RelayLink('relay', interest, cursor, () => undefined)
    const tick = { v: 1, epoch, height, time: 1 }
    relay.send(tick, [])
    expect(relay.isFresh).toBe(true)
    relay.send(tick, [], [])
    expect(relay.isFresh).toBe(isFresh)
    relay.send({ ...tick, height: 11 }, [], [])
    expect(relay.isFresh).toBe(false)
  },
)
