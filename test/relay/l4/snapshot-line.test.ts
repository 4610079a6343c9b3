import { expect, test } from 'vitest'
import { type LineGuest, SnapshotLine } from '../../../src/relay/l4/snapshot-line.ts'

/** Coins are fetched in turns of a promise each; what was fetched at once is noted. */
function lineOf(sizeOf: (coin: string) => number) {
  const fetched: string[][] = []
  let under: string[] = []
  const line = new SnapshotLine<LineGuest>({
    clock: { nowMs: 0 },
    wait: () => new Promise((resolve) => setImmediate(resolve)),
    watch: () => 0,
    unwatch: () => undefined,
    fetch: async (coin) => {
      if (under.length === 0) fetched.push(under)
      under.push(coin)
      await new Promise((resolve) => setImmediate(resolve))
      under = []
      return { place: { height: 1, time: 1, epoch: null }, text: 'x'.repeat(sizeOf(coin)) }
    },
    handOut: () => true,
  })
  const receiver = { send: () => undefined, snapshotWaitMs: () => 0 } as unknown as LineGuest['receiver']
  const enter = (coins: readonly string[]) =>
    Promise.all(coins.map((coin) => line.enter({ account: 'acme', coin, receiver })))
  return { fetched, enter }
}

test('a coin is fetched alone until it is known to be small, and sixteen of those at once', async () => {
  const coins = Array.from({ length: 40 }, (_, at) => `C${at}`)
  const { fetched, enter } = lineOf((coin) => (coin === 'C3' ? 300 * 1024 : 10))
  await enter(coins)
  expect(fetched.map(({ length }) => length)).toEqual(coins.map(() => 1))
  for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve))
  fetched.length = 0
  await enter(coins)
  expect(fetched.map(({ length }) => length).sort((a, b) => a - b)).toEqual([1, 1, 6, 16, 16])
  expect(fetched).toContainEqual(['C3'])
})
