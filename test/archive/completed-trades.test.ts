import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { afterGap, emptyTradeState, foldTrades } from '../../src/archive/completed-trades.ts'
import type { CompletedTrade } from '../../src/archive/open-trade.ts'
import type { Fill } from '../../src/protocol/feed/block.ts'
import type { EventBlock } from '../../src/protocol/feed/durable-api.ts'
import { fillWith } from '../kit/fills.ts'
import { BUILDER, FIRST_MS, trading, USER, units } from './trading.ts'

const fold = (blocks: readonly EventBlock[]) => foldTrades(emptyTradeState(USER), blocks)
const sum = (amounts: readonly string[], decimals: number) =>
  amounts.reduce((total, amount) => total + units(amount, decimals), 0n)

const FILL = fillWith({ px: '100.0', time: FIRST_MS, hash: '0x', fee: '0.03' })
/** One block a fill, 1 s apart. */
const blocksOf = (...fills: Partial<Fill>[]): EventBlock[] =>
  fills.map((more, i) => {
    const time = FIRST_MS + i * 1000
    return { height: i, time, fills: [[USER, { ...FILL, time, ...more }]], funding: [] }
  })
const CLOSE = { side: 'A', startPosition: '1.0', px: '110.0', closedPnl: '10.0', crossed: false } as const

describe('a round trip', () => {
  it('is reported once the position is closed, with everything that belongs to it', () => {
    const blocks = blocksOf(
      { sz: '0.5', px: '100.0' },
      { sz: '1.5', px: '102.0', startPosition: '0.5' },
      { side: 'A', sz: '0.25', startPosition: '2.0', px: '110.5', closedPnl: '2.25', crossed: false },
      { side: 'A', sz: '1.75', startPosition: '1.75', px: '90.0', closedPnl: '-20.125', builder: BUILDER },
    )
    blocks[1] = { ...blocks[1]!, funding: [{ coin: 'BTC', perUnit: '0.0125' }] }
    expect(fold(blocks.slice(0, 3)).trades).toEqual([])
    expect(fold(blocks).trades).toEqual([
      {
        user: USER,
        coin: 'BTC',
        position_type: 'Long',
        gross_pnl: '-17.875',
        net_pnl: '-18.02',
        funding_pnl: '-0.025',
        entry_px: '101.5',
        exit_px: '92.5625',
        position_closed_size: '2',
        fees: '0.12',
        fills: 4,
        open_time: FIRST_MS,
        close_time: FIRST_MS + 3000,
        duration_ms: 3000,
        max_position_size: '2',
        maker_fills: 1,
        builder: BUILDER,
        tx_index: 0,
      },
    ])
  })

  it('has late funding of its own time, and none of before it was opened', () => {
    const blocks = blocksOf({ sz: '0.5' }, { sz: '0.5', startPosition: '0.5' }, CLOSE)
    const paidAt = (time: number) =>
      fold([...blocks.slice(0, 2), { ...blocks[2]!, funding: [{ coin: 'BTC', perUnit: '8', time }] }])
    expect(paidAt(FIRST_MS + 999).trades[0]?.funding_pnl).toBe('-4')
    expect(paidAt(FIRST_MS + 1500).trades[0]?.funding_pnl).toBe('-8')
    expect(paidAt(FIRST_MS - 1).trades[0]?.funding_pnl).toBe('0')
    const opening = { ...blocks[0]!, funding: [{ coin: 'BTC', perUnit: '8', time: FIRST_MS - 1 }] }
    expect(foldTrades(fold([opening]).state, blocks.slice(1)).trades[0]?.funding_pnl).toBe('0')
  })

  it('has prices with ten decimals and no trailing zeros', () => {
    const [trade] = fold(
      blocksOf(
        { sz: '1.0', px: '1.0' },
        { sz: '2.0', px: '2.0', startPosition: '1.0' },
        { ...CLOSE, sz: '3.0', startPosition: '3.0' },
      ),
    ).trades
    expect([trade!.entry_px, trade!.exit_px]).toEqual(['1.6666666667', '110'])
  })

  it('ends if the position flips, which starts another one and splits the fee by size', () => {
    const { trades } = fold(
      blocksOf(
        { sz: '1.0', fee: '0.0' },
        { side: 'A', sz: '3.0', startPosition: '1.0', px: '110.0', closedPnl: '10.0', fee: '0.1' },
        { side: 'B', sz: '2.0', startPosition: '-2.0', px: '100.0', closedPnl: '20.0', fee: '0.0' },
      ),
    )
    expect(trades).toMatchObject([
      { position_type: 'Long', fees: '0.0333333333', gross_pnl: '10', fills: 2, max_position_size: '1' },
      {
        position_type: 'Short',
        fees: '0.0666666667',
        gross_pnl: '20',
        fills: 2,
        max_position_size: '2',
        entry_px: '110',
      },
    ])
    expect(trades[1]!.open_time).toBe(trades[0]!.close_time)
  })

  it('of a short position receives the funding that longs pay', () => {
    const blocks = blocksOf({ side: 'A' }, { side: 'B', startPosition: '-1.0' })
    blocks[0] = {
      ...blocks[0]!,
      funding: [
        { coin: 'BTC', perUnit: '0.5' },
        { coin: 'ETH', perUnit: '9.0' },
      ],
    }
    expect(fold(blocks).trades).toMatchObject([{ position_type: 'Short', funding_pnl: '0.5' }])
  })
})

describe('funding', () => {
  const paid = (perUnit: string, times: number, sz: string) => {
    const blocks = blocksOf({ sz }, ...Array<object>(times).fill({ coin: '@1' }), { ...CLOSE, sz, startPosition: sz })
    const funding = [{ coin: 'BTC', perUnit }]
    return fold(blocks.map((block, at) => (at < times ? { ...block, funding } : block))).trades[0]?.funding_pnl
  }

  it('is rounded once, however many payments it includes', () => {
    expect(paid('0.000000004', 3, '1.0')).toBe('-0.00000001')
    expect(paid('-0.000000000000000001', 2, '1000000000000.0')).toBe('0.000002')
  })

  it('with an invalid amount makes the position unknown', () => {
    expect(paid('x', 1, '1.0')).toBeUndefined()
  })
})

describe('completed trades omit', () => {
  it.each([
    ['a position whose opening was not seen', blocksOf({ ...CLOSE, startPosition: '1.0' }), 1],
    ['the closing of a position after an unexplained change', blocksOf({ sz: '2.0' }, CLOSE), 1],
    [
      'spot and outcomes',
      blocksOf({ coin: '@1' }, { ...CLOSE, coin: '@1' }, { coin: '#40' }, { ...CLOSE, coin: '#40' }),
      0,
    ],
    [
      'fills of others',
      blocksOf({}, CLOSE).map((block) => ({ ...block, fills: [['0x1', block.fills[0]![1]] as never] })),
      0,
    ],
    ['a position that a fill without numbers touched', blocksOf({}, { ...CLOSE, sz: 'x' }, CLOSE), 1],
    ['a fill of no size', blocksOf({ sz: '0.0' }), 0],
  ] as const)('%s', (_, blocks, omitted) => {
    expect(fold(blocks)).toMatchObject({ trades: [], omitted: Array(omitted).fill({ coin: 'BTC', tx_index: 0 }) })
  })

  it('a position across a gap, but not one that opens after it', () => {
    const [open, close] = blocksOf({}, CLOSE)
    const before = fold([open!]).state
    expect(foldTrades(afterGap(before), [close!]).trades).toEqual([])
    expect(foldTrades(afterGap(before), blocksOf({}, CLOSE)).trades).toHaveLength(1)
  })

  it('an unseen position that flips, but not the one after it', () => {
    const { trades, omitted } = fold(
      blocksOf({ ...CLOSE, sz: '3.0', fee: '0.3' }, { side: 'B', sz: '2.0', startPosition: '-2.0', fee: '0.0' }),
    )
    expect(trades).toMatchObject([{ position_type: 'Short', fees: '0.2', gross_pnl: '0', fills: 2 }])
    expect(omitted).toHaveLength(1)
  })
})

describe('the ordinal', () => {
  it('counts all closes at one time, including those of unseen positions', () => {
    const at = (fills: Partial<Fill>[]): EventBlock => ({
      height: 1,
      time: FIRST_MS,
      fills: fills.map((more) => [USER, { ...FILL, ...more }]),
      funding: [],
    })
    const opened = fold([at([{ coin: 'BTC' }, { coin: 'xyz:GOLD' }])]).state
    const closes = at(['BTC', 'ETH', 'xyz:GOLD'].map((coin) => ({ ...CLOSE, coin })))
    expect(foldTrades(opened, [closes]).trades.map(({ coin, tx_index }) => [coin, tx_index])).toEqual([
      ['BTC', 0],
      ['xyz:GOLD', 2],
    ])
  })
})

describe('invariants', () => {
  const law = (holds: (blocks: EventBlock[], at: number) => void) =>
    fc.assert(fc.property(trading, fc.nat(60), holds), { numRuns: 300 })

  it('continuing from a state equals processing everything at once, and does not change the state', () => {
    law((blocks, at) => {
      const first = fold(blocks.slice(0, at))
      const second = foldTrades(first.state, blocks.slice(at))
      const whole = fold(blocks)
      expect([...first.trades, ...second.trades]).toEqual(whole.trades)
      expect(JSON.stringify([...second.state.open])).toBe(JSON.stringify([...whole.state.open]))
      expect(foldTrades(first.state, blocks.slice(at)).trades).toEqual(second.trades)
    })
  })

  it('nothing is lost or counted twice: fees and profits of closed and open trades equal those of the fills', () => {
    law((blocks) => {
      const { trades, state } = fold(blocks)
      const fills = blocks.flatMap((block) => block.fills.map(([, fill]) => fill))
      const open = [...state.open.values()]
      const both = (wire: keyof CompletedTrade, own: 'fees' | 'grossPnl') =>
        sum([...trades.map((trade) => String(trade[wire])), ...open.map((trade) => trade[own].toFixed())], 10)
      const of = (field: 'fee' | 'closedPnl') => fills.reduce((total, fill) => total + units(fill[field], 10), 0n)
      expect([both('fees', 'fees'), both('gross_pnl', 'grossPnl')]).toEqual([of('fee'), of('closedPnl')])
      for (const { net_pnl, gross_pnl, fees, funding_pnl } of trades)
        expect(units(net_pnl, 10)).toBe(units(gross_pnl, 10) - units(fees, 10) + units(funding_pnl, 10))
    })
  })

  it('trades equal those that a simple count of the position finds', () => {
    law((blocks) => {
      const { trades, state } = fold(blocks)
      const counted = ['BTC', 'ETH', 'xyz:GOLD'].map((coin) => plainTrips(coin, blocks))
      const seen = trades.map((one) => {
        const { coin, position_type, fills, open_time, close_time, max_position_size, maker_fills } = one
        return [coin, position_type, fills, open_time, close_time, units(max_position_size, 2), maker_fills].join()
      })
      expect([...seen].sort()).toEqual(counted.flatMap(({ closed }) => closed).sort())
      expect([...state.open].map(([coin, { size }]) => `${coin} ${units(size.toFixed(), 2)}`).sort()).toEqual(
        counted.flatMap(({ left }) => left).sort(),
      )
    })
  })

  it('close times never decrease, and ordinals at one time increase', () => {
    law((blocks) => {
      const { trades } = fold(blocks)
      for (const [i, trade] of trades.slice(1).entries()) {
        const before = trades[i]!
        expect(trade.close_time).toBeGreaterThanOrEqual(before.close_time)
        expect(trade.tx_index).toBe(trade.close_time === before.close_time ? before.tx_index + 1 : 0)
      }
    })
  })
})

/** Round trips of one coin by following the position in hundredths. */
function plainTrips(coin: string, blocks: readonly EventBlock[]): { closed: string[]; left: string[] } {
  const closed: string[] = []
  let position = 0n
  let trip = { fills: 0, makers: 0, since: 0, peak: 0n }
  for (const [, fill] of blocks.flatMap(({ fills }) => fills)) {
    if (fill.coin !== coin) continue
    const was = position
    position += units(fill.sz, 2) * (fill.side === 'B' ? 1n : -1n)
    if (was === 0n) trip = { fills: 0, makers: 0, since: fill.time, peak: 0n }
    trip.fills++
    if (!fill.crossed) trip.makers++
    const turned = was > 0n !== position > 0n
    if (was !== 0n && (position === 0n || turned)) {
      const side = was > 0n ? 'Long' : 'Short'
      closed.push([coin, side, trip.fills, trip.since, fill.time, trip.peak, trip.makers].join())
      trip = { fills: 1, makers: fill.crossed ? 0 : 1, since: fill.time, peak: 0n }
    }
    const size = position < 0n ? -position : position
    if (size > trip.peak) trip.peak = size
  }
  return { closed, left: position === 0n ? [] : [`${coin} ${position}`] }
}
