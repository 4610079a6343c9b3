import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OptionalRows } from '../../src/block-log/optional-rows.ts'

type Copy = Parameters<OptionalRows['onTaken']>[0]

const copy = (height: number, parts: object): Copy =>
  ({ height, time: 70 * height, ledger: [], funding: [], ...parts }) as Copy
const PAID = { coin: 'BTC', perUnit: '0.25' }
const USER = `0x${'a'.repeat(40)}`

// FEED-41, FEED-39
describe('optional rows of several copies', () => {
  test('a row that the accepted copy lacks is sent with the next block, even if that copy has no such part', () => {
    const rows = new OptionalRows()
    expect(rows.onTaken(copy(5, { oracle: [] }), 'one')).toEqual({ ledger: [], funding: [], oracle: [] })
    rows.onCompared(copy(5, { oracle: ['a'], writer: ['w'] }), 'two')
    expect(rows.onTaken(copy(6, { oracle: ['b'] }), 'one')).toEqual({
      ledger: [],
      funding: [],
      oracle: ['a', 'b'],
      writer: ['w'],
    })
    expect(rows.onTaken(copy(7, {}), 'one')).toEqual({ ledger: [], funding: [] })
  })

  test('a row that another copy has in a later block is not sent again, but an equal row of the same feeder is', () => {
    const rows = new OptionalRows()
    expect(rows.onTaken(copy(5, { oracle: ['a', 'a'] }), 'one')).toEqual({
      ledger: [],
      funding: [],
      oracle: ['a', 'a'],
    })
    rows.onCompared(copy(5, { oracle: [] }), 'two')
    expect(rows.onTaken(copy(6, { oracle: ['a'] }), 'two')).toEqual({ ledger: [], funding: [], oracle: [] })
    expect(rows.onTaken(copy(7, { oracle: ['a'] }), 'one')).toEqual({ ledger: [], funding: [], oracle: ['a'] })
    expect(rows.onTaken(copy(40, { oracle: ['a'] }), 'one')).toEqual({ ledger: [], funding: [], oracle: ['a'] })
  })

  test('rows of blocks before the start, or of long ago, are not sent', () => {
    const rows = new OptionalRows()
    rows.onCompared(copy(4, { oracle: ['before'] }), 'two')
    rows.onTaken(copy(5, { oracle: [] }), 'one')
    rows.onCompared(copy(4, { oracle: ['before'] }), 'two')
    rows.onTaken(copy(300, { oracle: [] }), 'one')
    rows.onCompared(copy(6, { oracle: ['old'] }), 'two')
    expect(rows.onTaken(copy(301, { oracle: [] }), 'one')).toEqual({ ledger: [], funding: [], oracle: [] })
    rows.clear()
    rows.onCompared(copy(300, { oracle: ['before'] }), 'two')
    expect(rows.onTaken(copy(301, { oracle: [] }), 'one')).toEqual({ ledger: [], funding: [], oracle: [] })
  })

  test('rows beyond a megabyte do not wait for the next block', () => {
    const rows = new OptionalRows()
    rows.onTaken(copy(5, { oracle: [] }), 'one')
    const big = ['a', 'b', 'c'].map((letter) => letter.repeat(500_000))
    rows.onCompared(copy(5, { oracle: big }), 'two')
    expect(rows.onTaken(copy(6, { oracle: [] }), 'one')).toEqual({ ledger: [], funding: [], oracle: big.slice(0, 2) })
  })

  test('balance movements, TWAPs and other events that one copy lacks come with the next block', () => {
    const rows = new OptionalRows()
    rows.onTaken(copy(5, {}), 'one')
    rows.onCompared(copy(5, { ledger: ['deposit'], twaps: ['t'], events: ['e'] }), 'two')
    expect(rows.onTaken(copy(6, { ledger: ['transfer'] }), 'one')).toEqual({
      ledger: ['deposit', 'transfer'],
      funding: [],
      twaps: ['t'],
      events: ['e'],
    })
    // The other feeder read the same line late.
    rows.onCompared(copy(200, { ledger: ['deposit', 'transfer'] }), 'two')
    expect(rows.onTaken(copy(201, {}), 'one')).toEqual({ ledger: [], funding: [] })
  })

  test('the payments of an hour are sent once, with the funding of the same copy', () => {
    const payments = [`${USER} 3600000 BTC 1.0 2.0 0.1`, `${USER} 3600000 ETH 1.0 2.0 0.1`]
    const rows = new OptionalRows()
    expect(rows.onTaken(copy(5, { payments: null }), 'one')).toEqual({ ledger: [], funding: [], payments: null })
    rows.onCompared(copy(5, { funding: [PAID], payments }), 'two')
    expect(rows.onTaken(copy(6, {}), 'one')).toEqual({ ledger: [], funding: [{ ...PAID, time: 350 }], payments })
    // The first feeder read them late.
    expect(rows.onTaken(copy(7, { funding: [{ ...PAID, time: 350 }], payments }), 'one')).toEqual({
      ledger: [],
      funding: [],
    })
    const next = [`${USER} 7200000 BTC 1.0 2.0 0.1`]
    expect(rows.onTaken(copy(90, { funding: [PAID], payments: next }), 'one')).toEqual({
      ledger: [],
      funding: [PAID],
      payments: next,
    })
    expect(rows.onTaken(copy(91, { payments: [] }), 'one').payments).toEqual([])
  })

  test.each(['ledger', 'oracle'] as const)(
    'invariant: two feeders that each read lines of %s late lose and repeat none',
    (part) => {
      const block = fc.record({
        late: fc.tuple(fc.boolean(), fc.boolean()),
        leader: fc.constantFrom(0, 1),
        has: fc.boolean(),
      })
      fc.assert(
        fc.property(fc.array(block, { minLength: 1, maxLength: 40 }), (blocks) => {
          const rows = new OptionalRows()
          const pending: string[][] = [[], []]
          const sent: unknown[] = []
          const lines = [
            ...blocks,
            { late: [false, false], leader: 0, has: false },
            { late: [], leader: 0, has: false },
          ]
          for (const [height, { late, leader, has }] of lines.entries()) {
            const copies = [0, 1].map((feeder) => {
              const own = pending[feeder]!.splice(0)
              if (has) (late[feeder] ? pending[feeder]! : own).push(`row ${height}`)
              return copy(height, { [part]: own })
            })
            sent.push(...(rows.onTaken(copies[leader]!, `${leader}`)[part] as unknown[]))
            rows.onCompared(copies[1 - leader]!, `${1 - leader}`)
          }
          expect([...sent].sort()).toEqual(blocks.flatMap(({ has }, height) => (has ? [`row ${height}`] : [])).sort())
        }),
      )
    },
  )
})
