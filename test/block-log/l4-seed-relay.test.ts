import { expect, test } from 'vitest'
import { L4SeedRelay } from '../../src/block-log/l4-seed-relay.ts'
import type { GatewayFrame, L4Book } from '../../src/protocol/feed/protocol.ts'

const feeder = (name: string) => {
  const heard: GatewayFrame[] = []
  return { name, heard, send: (frame: GatewayFrame) => void heard.push(frame) }
}
const partOf = (coin: string, part: number, parts = 3): L4Book => ({
  type: 'l4',
  coin,
  height: 7,
  time: 1,
  bids: [],
  asks: [],
  part,
  parts,
})

const rowsOf = (...coins: string[]) => coins.map((coin) => ({ coin, statuses: [], diffs: [] }))

// FEED-36
test('parts are forwarded from one feeder at a time, and open requests go to later feeders', () => {
  const handed: string[] = []
  const a = feeder('a')
  const b = feeder('b')
  let able = [a]
  const seeds = new L4SeedRelay(
    (coin, text) => void handed.push(`${coin} ${text}`),
    () => able,
  )
  const take = (from: typeof a, coin: string, part: number) =>
    seeds.onPart(from, partOf(coin, part), `${from.name}${part}`)
  seeds.acceptRows(rowsOf('BTC', 'ETH'))
  take(a, 'BTC', 0)
  seeds.request('BTC', false)
  able = []
  seeds.request('ETH', false)
  seeds.onFeederJoined(b)
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
  seeds.onFeederJoined(late)
  expect(late.heard).toEqual([{ type: 'l4Reseed', coins: ['ETH'] }])
  // When it is requested again, another feeder may answer.
  take(b, 'ETH', 0)
  able = [late]
  seeds.request('ETH', false)
  take(late, 'ETH', 0)
  take(b, 'ETH', 1)
  expect(handed.slice(3)).toEqual(['ETH b0', 'ETH late0'])
})

test('rows that do not match count as unknown, once', () => {
  const seeds = new L4SeedRelay(
    () => undefined,
    () => [],
  )
  const rows = rowsOf('BTC', 'ETH')
  seeds.request('BTC', true)
  expect([seeds.acceptRows(rows), seeds.acceptRows(rows), seeds.acceptRows()]).toEqual([[rows[1]], rows, []])
})

// FEED-36
test('an unfinished snapshot of a departed feeder is requested from another, starting with the first part', () => {
  const handed: string[] = []
  const a = feeder('a')
  const b = feeder('b')
  let able = [a]
  const seeds = new L4SeedRelay(
    (coin, text) => void handed.push(`${coin} ${text}`),
    () => able,
  )
  seeds.acceptRows(rowsOf('BTC', 'ETH', 'SOL'))
  for (const coin of ['BTC', 'ETH', 'SOL']) seeds.request(coin, false)
  for (const part of [0, 1, 2]) seeds.onPart(a, partOf('SOL', part), 'a')
  seeds.onPart(a, partOf('BTC', 0), 'a')
  able = [b]
  seeds.onFeederLeft(a)
  expect(b.heard).toEqual(['BTC', 'ETH'].map((coin) => ({ type: 'l4Reseed', coins: [coin] })))
  handed.length = 0
  for (const part of [0, 1, 2]) seeds.onPart(b, partOf('BTC', part), 'b')
  seeds.onFeederLeft(a)
  expect(handed).toEqual(['BTC b', 'BTC b', 'BTC b'])
  expect(b.heard.slice(2)).toEqual([{ type: 'l4Reseed', coins: ['ETH'] }])
})

// FEED-36
test('a snapshot is requested once a block has the rows of its coin', () => {
  const a = feeder('a')
  const seeds = new L4SeedRelay(
    () => undefined,
    () => [a],
  )
  const asked = () => a.heard.splice(0)
  seeds.request('BTC', false)
  seeds.acceptRows(rowsOf('ETH'))
  expect(asked()).toEqual([])
  seeds.acceptRows(rowsOf('BTC'))
  seeds.acceptRows(rowsOf('BTC'))
  expect(asked()).toEqual([{ type: 'l4Reseed', coins: ['BTC'] }])
  seeds.acceptRows()
  seeds.request('BTC', false)
  expect(asked()).toEqual([])
})
