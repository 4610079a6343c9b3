import { expect, test } from 'vitest'
import { meterOf, Objects, shardOfHub } from '../../src/core/objects.client.ts'

test('never names an order-level book like another reader of the log', () => {
  const asked: string[] = []
  const namespace = { getByName: (name: string) => asked.push(name) }
  const env = { BOOK_HUB: namespace, RELAY: namespace }
  const objects = new Objects(env as never, { CHAIN: 'mainnet', FEED_REGION: null })
  objects.hub(0)
  objects.relay('weur', 0)
  objects.relay('local', 3)
  expect(asked.map(shardOfHub)[0]).toBe(0)
  const coins = asked.map((name) => name.slice('mainnet/'.length))
  expect(coins).toEqual(['0', 'weur/0', 'local/3'])
  for (const coin of [...coins, 'BTC', '@107', 'PURR/USDC', 'l4/BTC']) {
    const name = objects.orderBookName(coin)
    expect(asked).not.toContain(name)
    expect(objects.coinOfOrderBook(name)).toBe(coin)
  }
})

test('creates objects near the node, near their callers, or wherever they are first accessed', () => {
  const hints: (string | undefined)[] = []
  const namespace = { getByName: (_: string, options?: { locationHint?: string }) => hints.push(options?.locationHint) }
  const env = { BLOCK_LOG: namespace, SOURCE_BUDGET: namespace, RELAY: namespace, CREDIT_METER: namespace } as never
  const objects = new Objects(env, { CHAIN: 'mainnet', FEED_REGION: 'apac-ne' })
  objects.log()
  objects.budget('node')
  objects.relay('weur', 0)
  objects.relay('local', 0)
  meterOf(env, 'acme', 'sam')
  meterOf(env, 'acme', null)
  expect(hints).toEqual(['apac-ne', 'apac-ne', 'weur', undefined, 'sam', undefined])
})
