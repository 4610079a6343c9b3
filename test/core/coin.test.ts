import { describe, expect, it } from 'vitest'
import { dexOf, marketTypeOf, shardOf } from '../../src/core/coin.ts'
import { CoinNames } from '../../src/core/coin-names.ts'
import { nearestCoin, nearestName } from '../../src/core/nearest.ts'

describe('coin names', () => {
  it('determine the market', () => {
    const types = ['BTC', 'xyz:GOLD', '@107', 'PURR/USDC', '#40', 'kPEPE'].map(marketTypeOf)
    expect(types.join(' ')).toBe('perp perp spot spot outcome perp')
  })

  it('determine the DEX', () => {
    expect(['BTC', 'xyz:GOLD', '@107', ':X'].map(dexOf)).toEqual(['', 'xyz', '', ''])
  })

  it('are spread evenly over shards and never move', () => {
    // Recorded values: another hash would make every hub reseed.
    expect(['BTC', 'ETH', 'xyz:GOLD', '@107'].map((coin) => shardOf(coin, 4))).toEqual([3, 1, 1, 0])
    const counts = [0, 0, 0, 0]
    for (let i = 0; i < 4000; i++) counts[shardOf(`coin${i}`, 4)]!++
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150)
  })
})

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

it('fetches once per ten seconds, however many callers ask and whatever the result', async () => {
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

it('works without names, and suggests nothing for an existing coin', async () => {
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

it('limits comparisons per second, however many requests arrive', async () => {
  const { state, names } = world([async () => ['BTC']])
  const named = async () => (await Promise.all(Array.from({ length: 500 }, () => names.nearest('btc')))).filter(Boolean)
  expect(await named()).toHaveLength(20)
  state.now = 500
  expect(await named()).toHaveLength(10)
})

it('lists the DEXes of all coins, or none without names', async () => {
  const { names } = world([async () => ['BTC', 'xyz:GOLD', 'xyz:TSLA', '@1']])
  expect(await names.dexes()).toEqual(['', 'xyz'])
  expect(await world([() => Promise.reject(new Error('away'))]).names.dexes()).toEqual([])
})

const FIELDS = ['type', 'coin', 'marketTypes']

describe('nearest name', () => {
  it.each([
    ['coins', FIELDS, 'coin'],
    ['Coin', FIELDS, 'coin'],
    ['symbol', FIELDS, 'coin'],
    ['market_types', FIELDS, 'marketTypes'],
    ['marketType', FIELDS, 'marketTypes'],
    ['wallet', ['type', 'addresses', 'users', 'user'], 'user'],
    ['wallets', ['type', 'addresses', 'user'], 'addresses'],
    ['wallet', ['type', 'users'], 'users'],
    ['address', ['type', 'user', 'dex'], 'user'],
    ['user', ['account', 'label'], 'account'],
    ['start_time', ['startTime', 'endTime'], 'startTime'],
    ['startTime', ['duration', 'from', 'to'], 'from'],
    ['expires_at', ['label', 'expires', 'cap'], 'expires'],
    ['lable', ['label', 'expires', 'cap'], 'label'],
    ['l2Bok', ['l2Book', 'allMids'], 'l2Book'],
    ['orderBook', ['l2Book', 'allMids'], 'l2Book'],
    ['clearinghouse', ['spotMeta', 'clearinghouseState'], 'clearinghouseState'],
    ['l2BookDifff2', ['l2BookDiff', 'l2BookDiff2'], 'l2BookDiff2'],
  ])('of %s', (sent, names, meant) => {
    expect(nearestName(sent, names)).toBe(meant)
  })

  it('is undefined if nothing is close', () => {
    for (const sent of ['', 'colour', 'x', '__proto__', 'typewriters!', `coin${'s'.repeat(64)}`]) {
      expect([sent, nearestName(sent, ['limit', 'coin'])]).toEqual([sent, undefined])
    }
    expect([nearestName('coins', []), nearestName('-', ['', 'xyz'])]).toEqual([undefined, undefined])
  })

  it('has the smallest edit distance', () => {
    expect(nearestName('userFilsByTme', ['userFillsByTim', 'userFillsByTime'])).toBe('userFillsByTime')
    expect(nearestName('stauts', ['states', 'status'])).toBe('status')
  })
})

describe('nearest coin', () => {
  const coins = ['xyz:GOLD', 'BTC', 'ETH', 'SOL', 'kPEPE', 'PURR/USDC', '@107', 'HYPE', 'PERP', 'other:HYPE']

  it.each([
    ['btc', 'BTC'],
    ['BTC-PERP', 'BTC'],
    ['ETHUSD', 'ETH'],
    ['ETH-USDT-SWAP', 'ETH'],
    ['solusdc', 'SOL'],
    ['pepe', 'kPEPE'],
    ['gold', 'xyz:GOLD'],
    ['XYZ:gold', 'xyz:GOLD'],
    ['hype', 'HYPE'],
    ['perp', 'PERP'],
    ['PURR/USD', 'PURR/USDC'],
  ])('of %s', (sent, meant) => {
    expect(nearestCoin(sent, coins)).toBe(meant)
  })

  it('is undefined if another coin could be meant', () => {
    for (const sent of ['', 'XRP', 'ETC', 'SOLVENT', 'HYPE/USDC', '@10', '@1077', 'USD', 'x'.repeat(65)]) {
      expect([sent, nearestCoin(sent, coins)]).toEqual([sent, undefined])
    }
  })
})
