import { expect, test } from 'vitest'
import type { OrderBookApi, WholeOrders as Whole } from '../../../src/order-books/l4/order-book-api.ts'
import { WholeOrders } from '../../../src/relay/l4/whole-orders.client.ts'

/** What is asked of an object that holds these pieces; one of a version before sends none with `whole`. */
async function fetched(pieces: readonly string[], isOld = false): Promise<[text: string | undefined, asked: string[]]> {
  const asked: string[] = []
  const place = { height: 7, time: 1, epoch: null }
  const whole: Whole = { v: 1, ...place, pieces: pieces.length, chars: 1, ...(!isOld && { first: pieces[0]! }) }
  const api: OrderBookApi = {
    ready: async () => ({ v: 1, ready: true }),
    whole: async () => whole,
    piece: async (_, index) => {
      asked.push(`piece ${index}`)
      return pieces[index] ?? null
    },
  }
  const found = await new WholeOrders(() => api).fetch('BTC', 7, (_, __, texts) => [...texts].join(''))
  return [found?.text, asked]
}

test('a book of one piece comes with one call, and a larger one without its first piece again', async () => {
  expect(await fetched(['a'])).toEqual(['a', []])
  expect(await fetched(['a', 'b', 'c'])).toEqual(['abc', ['piece 1', 'piece 2']])
  expect(await fetched(['a', 'b'], true)).toEqual(['ab', ['piece 0', 'piece 1']])
})
