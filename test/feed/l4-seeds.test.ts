import { expect, test } from 'vitest'
import { L4Seeds } from '../../src/feed/l4-seeds.ts'
import type { GatewayFrame, L4Book } from '../../src/feed/protocol.ts'

const feeder = (name: string) => {
  const heard: GatewayFrame[] = []
  return { name, heard, send: (frame: GatewayFrame) => void heard.push(frame) }
}
const partOf = (coin: string, part: number, parts = 3): L4Book => ({
  ...{ type: 'l4', coin, height: 7, time: 1, bids: [], asks: [], part, parts },
})

// FEED-36
test('parts are handed on of one feeder at a time, and what has not come is asked of who comes later', () => {
  const handed: string[] = []
  const seeds = new L4Seeds((coin, text) => void handed.push(`${coin} ${text}`))
  const [a, b] = [feeder('a'), feeder('b')]
  const take = (from: typeof a, coin: string, part: number) =>
    seeds.take(from, partOf(coin, part), `${from.name}${part}`)
  take(a, 'BTC', 0)
  seeds.ask('BTC', false, a)
  seeds.ask('ETH', false, undefined)
  seeds.greeted(b)
  expect([a.heard, b.heard]).toEqual([
    [{ type: 'l4Reseed', coins: ['BTC'] }],
    [{ type: 'l4Reseed', coins: ['BTC', 'ETH'] }],
  ])
  take(b, 'BTC', 1)
  for (const part of [0, 1]) take(a, 'BTC', part)
  take(b, 'BTC', 0)
  take(a, 'BTC', 2)
  take(b, 'BTC', 0)
  expect(handed).toEqual(['BTC a0', 'BTC a1', 'BTC a2'])
  const late = feeder('late')
  seeds.greeted(late)
  expect(late.heard).toEqual([{ type: 'l4Reseed', coins: ['ETH'] }])
  // Asked anew, another feeder may answer.
  take(b, 'ETH', 0)
  seeds.ask('ETH', false, late)
  take(late, 'ETH', 0)
  take(b, 'ETH', 1)
  expect(handed.slice(3)).toEqual(['ETH b0', 'ETH late0'])
})

test('rows that do not fit count as not known, once', () => {
  const seeds = new L4Seeds(() => undefined)
  const rows = ['BTC', 'ETH'].map((coin) => ({ coin, statuses: [], diffs: [] }))
  seeds.ask('BTC', true, undefined)
  expect([seeds.trusted(rows), seeds.trusted(rows), seeds.trusted()]).toEqual([[rows[1]], rows, []])
})
