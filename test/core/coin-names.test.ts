import { expect, it } from 'vitest'
import { CoinNames } from '../../src/core/coin-names.ts'

function world(answers: (() => Promise<readonly string[]>)[]) {
  const state = { now: 0, reads: 0, timers: [] as (() => void)[] }
  const names = new CoinNames({
    read: () => answers[Math.min(state.reads++, answers.length - 1)]!(),
    nowMs: () => state.now,
    after: (_, run) => {
      state.timers.push(run)
      return () => undefined
    },
  })
  return { state, names }
}

it('asks once in ten seconds, however many ask and whatever comes of it', async () => {
  const { state, names } = world([async () => ['BTC'], () => Promise.reject(new Error('away')), async () => ['ETH']])
  expect(await Promise.all([names.nearest('btc'), names.nearest('Btc'), names.nearest('eth')])).toEqual([
    'BTC',
    'BTC',
    undefined,
  ])
  state.now = 9_999
  expect([await names.nearest('btc'), state.reads]).toEqual(['BTC', 1])
  state.now = 10_000
  expect([await names.nearest('btc'), await names.nearest('btc'), state.reads]).toEqual(['BTC', 'BTC', 2])
  state.now = 20_000
  expect([await names.nearest('btc'), await names.nearest('eth'), state.reads]).toEqual([undefined, 'ETH', 3])
})

it('does without names that do not come, and says nothing of a coin that exists', async () => {
  const { state, names } = world([() => new Promise(() => {}), async () => ['BTC', 'btc2']])
  const asked = names.nearest('btc')
  for (const run of state.timers) run()
  expect(await asked).toBeUndefined()
  state.now = 5_000
  expect([await names.nearest('btc'), state.reads]).toEqual([undefined, 1])
  state.now = 10_000
  expect([await names.nearest('btc'), await names.nearest('BTC')]).toEqual(['BTC', undefined])
  expect([await names.has('BTC'), await names.has('btc'), state.reads]).toEqual([true, false, 2])
})

it('compares for few refusals a second, however many come', async () => {
  const { state, names } = world([async () => ['BTC']])
  const named = async () => (await Promise.all(Array.from({ length: 500 }, () => names.nearest('btc')))).filter(Boolean)
  expect(await named()).toHaveLength(20)
  state.now = 500
  expect(await named()).toHaveLength(10)
})

it('names the DEXes of all coins, and none where nobody can say', async () => {
  const { names } = world([async () => ['BTC', 'xyz:GOLD', 'xyz:TSLA', '@1']])
  expect(await names.dexes()).toEqual(['', 'xyz'])
  expect(await world([() => Promise.reject(new Error('away'))]).names.dexes()).toEqual([])
})
