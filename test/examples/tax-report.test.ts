// What examples/tax-report.ts computes from rows. The program is run by test/conformance/examples.test.ts.

import { Big } from 'big.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csvLine } from '../../examples/tax/csv.ts'
import { Lots, METHODS } from '../../examples/tax/lots.ts'
import { mergeByTime } from '../../examples/tax/merge.ts'
import { type LedgerRow, movementOf } from '../../examples/tax/movements.ts'
import { PerpPosition } from '../../examples/tax/perp-position.ts'
import { type Row, TaxBook, type TaxFill } from '../../examples/tax/tax-book.ts'

const WALLET = `0x${'a'.repeat(40)}`
const OTHER = `0x${'b'.repeat(40)}`
const sz = fc.integer({ min: 1, max: 1_000_000 }).map((units) => new Big(units).div(1_000))
const px = fc.integer({ min: 1, max: 9_999_999 }).map((units) => new Big(units).div(100))

describe('Lots', () => {
  const lotsOf = (method: (typeof METHODS)[number]) => {
    const lots = new Lots(method)
    lots.add(new Big(1), new Big(10))
    lots.add(new Big(2), new Big(40))
    return lots
  }

  it.each([
    ['fifo', '20', '30'],
    ['lifo', '30', '20'],
    ['average', '25', '25'],
  ] as const)('%s sells in its order', (method, cost, left) => {
    const lots = lotsOf(method)
    expect(String(lots.take(new Big('1.5')).cost)).toBe(cost)
    expect([lots.sz, lots.cost].map(String)).toEqual(['1.5', left])
  })

  it('counts units that are missing or of unknown cost', () => {
    for (const method of METHODS) {
      const lots = new Lots(method)
      lots.add(new Big(1), null)
      lots.add(new Big(1), new Big(7))
      const { cost, unknownSz } = lots.take(new Big(3))
      expect([method, String(cost), String(unknownSz)]).toEqual([method, '7', '2'])
    }
  })

  it('neither creates nor loses cost: gains are the cash flow plus the cost of what is left, for any sequence', () => {
    const step = fc.record({ isBuy: fc.boolean(), sz, px })
    fc.assert(
      fc.property(fc.constantFrom(...METHODS), fc.array(step, { maxLength: 40 }), (method, steps) => {
        const lots = new Lots(method)
        let gains = new Big(0)
        let cash = new Big(0)
        for (const each of steps) {
          if (each.isBuy) {
            lots.add(each.sz, each.sz.times(each.px))
            cash = cash.minus(each.sz.times(each.px))
            continue
          }
          const held = lots.sz
          const sold = each.sz.lt(held) ? each.sz : held
          const { cost, unknownSz } = lots.take(sold)
          expect(String(unknownSz)).toBe('0')
          gains = gains.plus(sold.times(each.px)).minus(cost)
          cash = cash.plus(sold.times(each.px))
        }
        expect(String(gains)).toBe(String(cash.plus(lots.cost)))
      }),
    )
  })
})

describe('PerpPosition', () => {
  it('has an average price, and splits a flip', () => {
    const position = new PerpPosition()
    position.fill(new Big(1), new Big(100))
    position.fill(new Big(1), new Big(110))
    const { closed, pnl } = position.fill(new Big(-3), new Big(120))
    expect([closed, pnl, position.szi, position.cost].map(String)).toEqual(['2', '30', '-1', '-120'])
    expect(String(position.fill(new Big(1), new Big(90)).pnl)).toBe('30')
  })

  it('neither creates nor loses money, for any sequence of longs, shorts and flips', () => {
    const step = fc.record({ sign: fc.constantFrom(1, -1), sz, px })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const position = new PerpPosition()
        let gains = new Big(0)
        let cash = new Big(0)
        for (const each of steps) {
          const change = each.sz.times(each.sign)
          gains = gains.plus(position.fill(change, each.px).pnl!)
          cash = cash.minus(change.times(each.px))
        }
        expect(String(gains)).toBe(String(cash.plus(position.cost)))
      }),
    )
  })

  it('has an unknown profit until a position of unknown price is closed', () => {
    const position = new PerpPosition()
    position.assume(new Big(2))
    expect(position.fill(new Big(1), new Big(5)).pnl?.toFixed()).toBe('0')
    expect(position.fill(new Big(-1), new Big(5)).pnl).toBeNull()
    const flip = position.fill(new Big(-3), new Big(5))
    expect([String(flip.closed), flip.pnl]).toEqual(['2', null])
    expect(String(position.fill(new Big(1), new Big(4)).pnl)).toBe('1')
  })
})

describe('movementOf', () => {
  const of = (delta: object) => movementOf({ time: 1, hash: '0x', delta } as LedgerRow, WALLET)

  it('knows the direction of transfers', () => {
    const send = {
      token: 'HYPE',
      amount: '3',
      usdcValue: '60',
      fee: '0.1',
      nativeTokenFee: '0',
      feeToken: 'HYPE',
      nonce: 1,
    }
    const rows = [
      { type: 'deposit', usdc: '5' },
      { type: 'withdraw', usdc: '5', nonce: 1, fee: '1' },
      { type: 'spotTransfer', ...send, user: OTHER, destination: WALLET.toUpperCase().replace('X', 'x') },
      { type: 'send', ...send, user: WALLET, destination: OTHER, sourceDex: 'spot', destinationDex: 'spot' },
      { type: 'send', ...send, user: WALLET, destination: WALLET, sourceDex: 'spot', destinationDex: '' },
      { type: 'spotGenesis', token: 'PURR', amount: '9' },
      { type: 'cStakingTransfer', token: 'HYPE', amount: '2', isDeposit: true },
      { type: 'vaultWithdraw', vault: OTHER, user: WALLET, requestedUsd: '9', netWithdrawnUsd: '8' },
      { type: 'accountActivationGas', amount: '1', token: 'USDC' },
      { type: 'accountClassTransfer', usdc: '5', toPerp: true },
      { type: 'newKind', token: 'X' },
    ]
    expect(rows.map((row) => of(row)).map((row) => row && [row.kind, row.asset, row.amount, row.fee])).toEqual([
      ['transfer', 'USDC', '5', '0'],
      ['transfer', 'USDC', '-5', '1'],
      ['transfer', 'HYPE', '3', '0'],
      ['transfer', 'HYPE', '-3', '0.1'],
      null,
      ['income', 'PURR', '9', '0'],
      ['moved', 'HYPE', '-2', '0'],
      ['transfer', 'USDC', '8', '0'],
      ['cost', 'USDC', '-1', '0'],
      null,
      ['unknown', 'X', null, '0'],
    ])
  })
})

describe('TaxBook', () => {
  const PAIRS = new Map([['@1', { base: 'HYPE', quote: 'USDC' }]])
  const YEAR = { from: Date.UTC(2026), to: Date.UTC(2027) - 1 }
  const IN_2025 = Date.UTC(2025, 5)
  const IN_2026 = Date.UTC(2026, 5)

  function bookOf() {
    const rows: Row[] = []
    return { rows, book: new TaxBook('fifo', PAIRS, YEAR, (row) => rows.push(row)) }
  }
  const fillOf = (more: Partial<TaxFill>): TaxFill => ({
    coin: '@1',
    px: '10',
    sz: '1',
    side: 'B',
    time: IN_2026,
    startPosition: '0',
    dir: 'Buy',
    closedPnl: '0',
    fee: '0',
    feeToken: 'USDC',
    tid: 1,
    hash: '0x',
    ...more,
  })

  it('uses purchases of earlier years, and reports only the year', () => {
    const { rows, book } = bookOf()
    book.fill(fillOf({ time: IN_2025, sz: '2', fee: '0.5', feeToken: 'HYPE' }))
    book.fill(fillOf({ side: 'A', px: '30', startPosition: '1.5', fee: '0.3', closedPnl: '20' }))
    expect(rows).toEqual([
      {
        time: '2026-06-01T00:00:00.000Z',
        account: 'spot',
        asset: 'HYPE',
        event: 'Buy',
        size: '-1',
        price: '30',
        proceeds: '29.7',
        cost: '13.33333333333333333333',
        gain: '16.36666666666666666667',
        fee: '0.3',
        fee_token: 'USDC',
        exchange_pnl: '20',
        unknown_size: '',
        note: '',
        id: '1',
      },
    ])
    expect(book.holdings()).toMatchObject([{ asset: 'HYPE', size: '0.5', cost: '6.66666666666666666667' }])
    expect([...book.totals.fees]).toEqual([['USDC', new Big('0.3')]])
    expect(book.gaps).toEqual([])
  })

  it('marks tokens and positions that were there before the first row', () => {
    const { rows, book } = bookOf()
    book.fill(fillOf({ side: 'A', px: '30', sz: '2', startPosition: '5' }))
    book.fill(fillOf({ coin: 'BTC', side: 'A', px: '100', startPosition: '1', dir: 'Close Long', closedPnl: '7' }))
    expect(rows).toMatchObject([
      { asset: 'HYPE', gain: '', unknown_size: '2' },
      { asset: 'BTC', gain: '', unknown_size: '1', exchange_pnl: '7' },
    ])
    expect(book.gaps).toEqual([
      expect.stringMatching(/^HYPE: 5 were already held at 2026-06-01T00:00:00.000Z/),
      expect.stringMatching(/^BTC: 1 was already open at/),
    ])
    expect(book.summary().at(-1)).toMatchObject({ exchange_pnl: '7', note: expect.stringMatching(/^2 fills/) })
  })

  it('marks a gap between fills, and splits a sale of known and unknown units', () => {
    const { rows, book } = bookOf()
    book.fill(fillOf({}))
    book.fill(fillOf({ startPosition: '2' }))
    book.fill(fillOf({ side: 'A', px: '20', sz: '2', startPosition: '3' }))
    expect(rows.at(-1)).toMatchObject({ proceeds: '40', cost: '10', gain: '10', unknown_size: '1' })
    expect(book.gaps).toEqual([expect.stringMatching(/^HYPE: 1 came or went without a row/)])
    book.fill(fillOf({ coin: 'BTC', startPosition: '0' }))
    book.fill(fillOf({ coin: 'BTC', startPosition: '-4' }))
    expect(book.gaps[1]).toMatch(/^BTC: 1 became -4/)
  })

  it('follows transfers, staking and fees in other tokens, so that they are no gaps', () => {
    const { rows, book } = bookOf()
    const move = (delta: object) =>
      book.movement(IN_2026, '0xh', movementOf({ time: IN_2026, hash: '0xh', delta } as LedgerRow, WALLET)!)
    book.fill(fillOf({ sz: '10' }))
    move({ type: 'cStakingTransfer', token: 'HYPE', amount: '4', isDeposit: true })
    book.fill(fillOf({ startPosition: '6' }))
    move({ type: 'send', token: 'HYPE', amount: '2', fee: '0.5', feeToken: 'HYPE', user: WALLET, destination: OTHER })
    book.fill(fillOf({ startPosition: '4.5', coin: '@1' }))
    book.fill(fillOf({ coin: 'BTC', fee: '0.1', feeToken: 'HYPE' }))
    book.fill(fillOf({ startPosition: '5.4' }))
    move({ type: 'cStakingTransfer', token: 'HYPE', amount: '4', isDeposit: false })
    book.fill(fillOf({ startPosition: '10.4', side: 'A', sz: '10.4' }))
    expect(book.gaps).toEqual([])
    expect(rows.filter(({ event }) => event === 'transfer')).toMatchObject([{ size: '-2', cost: '20' }])
    expect(rows.filter(({ event }) => event === 'fee paid in token').map(({ cost }) => cost)).toEqual(['5', '1'])
    expect(book.holdings().filter(({ account }) => account === 'spot')).toEqual([])
  })

  it('compares its profits of perps with those of the exchange', () => {
    const { book } = bookOf()
    book.fill(fillOf({ coin: 'BTC', px: '100', sz: '3', dir: 'Open Long' }))
    book.fill(fillOf({ coin: 'BTC', px: '110', sz: '4', side: 'A', startPosition: '3', closedPnl: '29.9' }))
    book.funding(IN_2026, 'BTC', '-0.25')
    book.funding(IN_2025, 'BTC', '-9')
    expect(book.summary()).toMatchObject([
      { event: 'perp gain', gain: '30' },
      { event: 'spot gain', gain: '0' },
      { event: 'funding', gain: '-0.25' },
      { event: 'reconciliation', gain: '30', exchange_pnl: '29.9', note: expect.stringContaining('is 0.1') },
      { event: 'not computed', exchange_pnl: '0' },
    ])
    expect(book.holdings()).toMatchObject([{ asset: 'BTC', size: '-1', cost: '-110' }])
  })
})

it('merges lists by time, and reads no further than it must', async () => {
  let reads = 0
  async function* list(...times: number[]) {
    for (const time of times) {
      reads++
      yield { time, list: times.length }
    }
  }
  const merged = mergeByTime([list(1, 5), list(1, 2, 9), list()])
  const order: number[][] = []
  for await (const { time, list } of merged) {
    order.push([time, list])
    if (time === 2) break
  }
  expect(order).toEqual([
    [1, 2],
    [1, 3],
    [2, 3],
  ])
  expect(reads).toBe(4)
})

it('writes CSV that no spreadsheet runs', () => {
  expect(csvLine(['-1.5', '=1+1', '@1', 'a,"b"'])).toBe(`-1.5,'=1+1,'@1,"a,""b"""\r\n`)
})
