import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { renderScreen, type ScreenState, spreadOf, WatchBoard } from '../../src/cli/watch-screen.ts'
import { CoinBook } from '../../src/client/bootstrap.ts'
import type { Levels } from '../../src/protocol/feed/block.ts'

const side = (from: number, by: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ px: `${from + by * i}.5`, sz: '1.25', n: i + 1 }))
const levels: Levels = [side(100, -1, 12), side(102, 1, 12)]

function liveBook(): CoinBook {
  const book = new CoinBook('BTC')
  book.fetchStarted()
  book.snapshot({ coin: 'BTC', epoch: 'A', height: 9, time: 1_000, seq: 8, levels })
  return book
}

const PLAIN = { columns: 100, rows: 40, isColored: false }

describe('screen', () => {
  const book = { height: 9, seq: 8, timeMs: 1_000, levels }
  const watched = (count: number): ScreenState => ({
    status: 'connected',
    coins: Array.from({ length: count }, (_, i) => {
      return { coin: `C${i}`, book, note: '', step: 'in step', verdict: 'in step C0 height=8' }
    }),
    fills: Array.from({ length: 30 }, (_, i) => `fill ${i}`),
  })

  test('shows ten levels per side, spread, height and age, and the newest fill first', () => {
    const lines = renderScreen(watched(1), { ...PLAIN, columns: 70 }, 1_035)
    expect(lines[1]).toBe('C0  in step  spread 2.0  height 9  age 35 ms')
    expect(lines[4]!.split(/\s+/).filter(Boolean)).toEqual(['1', '1.25', '100.5', '102.5', '1.25', '1'])
    expect(lines.filter((line) => line.includes('1.25'))).toHaveLength(10)
    expect(lines[lines.indexOf('fills') + 1]).toBe('fill 29')
  })

  test.each([
    [1, 40, 10],
    [1, 100, 24],
    [3, 130, 30],
    [20, 80, 24],
    [2, 156, 30],
  ])('%i coins fit %i columns and %i rows', (coins, columns, rows) => {
    const lines = renderScreen(watched(coins), { columns, rows, isColored: false }, 0)
    expect(lines.length).toBeLessThanOrEqual(rows)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns)
  })

  test('text from a gateway never moves the cursor', () => {
    const lines = renderScreen({ ...watched(1), status: '\u001b[2J', fills: ['\u009b2J'] }, PLAIN, 0)
    expect([lines[0], lines.at(-1)]).toEqual(['\\u001b[2J', '\\u009b2J'])
  })

  test('shows cumulative depth as bars if there is room for all panels', () => {
    const levelLines = (columns: number, coins = 1) =>
      renderScreen(watched(coins), { ...PLAIN, columns }, 0).filter((line) => line.includes('1.25'))
    const barred = levelLines(78)
    expect(barred[0]!.match(/█+/g)).toEqual(['█', '█'])
    expect(barred[4]!.match(/█+/g)).toEqual(['████', '████'])
    expect(barred[9]!.match(/█+/g)).toEqual(['████████', '████████'])
    for (const lines of [levelLines(77), levelLines(155, 2)]) expect(lines.join()).not.toContain('█')
    expect(levelLines(156, 2)[9]!.match(/█+/g)).toHaveLength(4)
  })

  test('an empty side has no bar', () => {
    const empty = { ...watched(1).coins[0]!, book: { ...book, levels: [[], []] as Levels } }
    expect(renderScreen({ ...watched(1), coins: [empty] }, PLAIN, 0).join()).not.toMatch(/█|NaN/)
  })

  test('colors show the sync state and do not count toward the width', () => {
    const colored = { ...PLAIN, isColored: true }
    const off = { ...watched(1).coins[0]!, step: 'out of step', verdict: 'out of step C0' }
    const lines = renderScreen({ ...watched(1), coins: [off] }, colored, 1_035)
    expect(lines[1]).toContain('\u001b[1mC0\u001b[0m\u001b[31m  out of step\u001b[0m')
    const bare = lines.map(stripVTControlCharacters)
    expect(bare).toEqual(renderScreen({ ...watched(1), coins: [off] }, PLAIN, 1_035))
    const narrow = renderScreen(watched(1), { ...colored, columns: 30 }, 0)
    for (const line of narrow) expect(stripVTControlCharacters(line).length).toBeLessThanOrEqual(30)
  })

  test('the spread is exact, and empty unless both sides have levels', () => {
    expect(spreadOf([side(1, 1, 1), [{ px: '1.500000000000000001', sz: '1', n: 1 }]])).toBe('0.000000000000000001')
    expect(spreadOf([[], side(1, 1, 1)])).toBe(null)
  })
})

describe('board', () => {
  test('prints one JSON line per coin, with the book or the reason why there is none', () => {
    const board = new WatchBoard(['BTC', 'ETH'])
    board.status = 'connected'
    board.updateBook(liveBook())
    board.updateStep('BTC', 'in step', '')
    board.updateStep('ETH', 'out of step', 'epoch changed')
    board.updateStep(null, 'out of step', 'epoch changed')
    expect(board.screen().status).toBe('connected, out of step')
    expect(board.lines(1_100).map((line) => JSON.parse(line))).toEqual([
      {
        coin: 'BTC',
        live: true,
        step: 'in step',
        height: 9,
        seq: 8,
        bid: '100.5',
        ask: '102.5',
        spread: '2.0',
        ageMs: 100,
        depth: [10, 10],
        fills: 0,
      },
      {
        coin: 'ETH',
        live: false,
        step: 'out of step',
        note: 'out of step: epoch changed',
        status: 'connected',
        fills: 0,
      },
    ])
    expect([board.hasBook('BTC'), board.hasBook('ETH')]).toEqual([true, false])
  })

  test('a comparison is in step, or names the first difference', () => {
    const board = new WatchBoard(['BTC'])
    expect(board.recordVerdict('BTC', { kind: 'in_step', seq: 8, height: 9 })).toBe('in step BTC height=9 seq=8')
    const gone: Levels = [[], [{ px: '2.0', sz: '0', n: 0 }]]
    expect(board.recordVerdict('BTC', { kind: 'differs', seq: 8, height: 9, changes: gone })).toBe(
      'out of step BTC height=9 seq=8: 1 levels differ; first ask 2.0, the server has none',
    )
    expect(board.screen().coins[0]!.verdict).toContain('out of step')
  })
})
