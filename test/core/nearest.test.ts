import { describe, expect, it } from 'vitest'
import { nearestCoin, nearestName } from '../../src/core/nearest.ts'

const FIELDS = ['type', 'coin', 'marketTypes']

describe('the nearest name', () => {
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

  it('is none where nothing is near', () => {
    for (const sent of ['', 'colour', 'x', '__proto__', 'typewriters!', `coin${'s'.repeat(64)}`]) {
      expect([sent, nearestName(sent, ['limit', 'coin'])]).toEqual([sent, undefined])
    }
    expect([nearestName('coins', []), nearestName('-', ['', 'xyz'])]).toEqual([undefined, undefined])
  })

  it('is the least misspelt of several', () => {
    expect(nearestName('userFilsByTme', ['userFillsByTim', 'userFillsByTime'])).toBe('userFillsByTime')
    expect(nearestName('stauts', ['states', 'status'])).toBe('status')
  })
})

describe('the nearest coin', () => {
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

  it('is none where another coin might be meant', () => {
    for (const sent of ['', 'XRP', 'ETC', 'SOLVENT', 'HYPE/USDC', '@10', '@1077', 'USD', 'x'.repeat(65)]) {
      expect([sent, nearestCoin(sent, coins)]).toEqual([sent, undefined])
    }
  })
})
