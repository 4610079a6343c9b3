import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ExtraRows } from '../../src/block-log/extra-rows.ts'

// FEED-39
describe('oracle updates and writer actions of several copies', () => {
  test('a row that the accepted copy lacks is sent with the next block, even if that copy has no such part', () => {
    const rows = new ExtraRows()
    expect(rows.onTaken({ height: 5, oracle: [] })).toEqual({ oracle: [] })
    rows.onCompared({ height: 5, oracle: ['a'], writer: ['w'] })
    expect(rows.onTaken({ height: 6, oracle: ['b'] })).toEqual({ oracle: ['a', 'b'], writer: ['w'] })
    expect(rows.onTaken({ height: 7 })).toEqual({})
  })

  test('a row that another copy has in a later block is not sent again, but a new equal row is', () => {
    const rows = new ExtraRows()
    expect(rows.onTaken({ height: 5, oracle: ['a', 'a'] })).toEqual({ oracle: ['a', 'a'] })
    rows.onCompared({ height: 5, oracle: [] })
    expect(rows.onTaken({ height: 6, oracle: ['a'] })).toEqual({ oracle: [] })
    expect(rows.onTaken({ height: 40, oracle: ['a'] })).toEqual({ oracle: ['a'] })
  })

  test('rows of blocks before the start, or of long ago, are not sent', () => {
    const rows = new ExtraRows()
    rows.onCompared({ height: 4, oracle: ['before'] })
    rows.onTaken({ height: 5, oracle: [] })
    rows.onCompared({ height: 4, oracle: ['before'] })
    rows.onTaken({ height: 300, oracle: [] })
    rows.onCompared({ height: 6, oracle: ['old'] })
    expect(rows.onTaken({ height: 301, oracle: [] })).toEqual({ oracle: [] })
    rows.clear()
    rows.onCompared({ height: 300, oracle: ['before'] })
    expect(rows.onTaken({ height: 301, oracle: [] })).toEqual({ oracle: [] })
  })

  test('rows beyond a megabyte do not wait for the next block', () => {
    const rows = new ExtraRows()
    rows.onTaken({ height: 5, oracle: [] })
    const big = ['a', 'b', 'c'].map((letter) => letter.repeat(500_000))
    rows.onCompared({ height: 5, oracle: big })
    expect(rows.onTaken({ height: 6, oracle: [] })).toEqual({ oracle: big.slice(0, 2) })
  })

  test('invariant: two feeders that each read some lines late lose and repeat none', () => {
    const block = fc.record({
      late: fc.tuple(fc.boolean(), fc.boolean()),
      leader: fc.constantFrom(0, 1),
      has: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 40 }), (blocks) => {
        const rows = new ExtraRows()
        const pending: string[][] = [[], []]
        const sent: unknown[] = []
        const lines = [...blocks, { late: [false, false], leader: 0, has: false }, { late: [], leader: 0, has: false }]
        for (const [height, { late, leader, has }] of lines.entries()) {
          const copies = [0, 1].map((feeder) => {
            const own = pending[feeder]!.splice(0)
            if (has) (late[feeder] ? pending[feeder]! : own).push(`row ${height}`)
            return { height, oracle: own }
          })
          sent.push(...rows.onTaken(copies[leader]!).oracle!)
          rows.onCompared(copies[1 - leader]!)
        }
        expect([...sent].sort()).toEqual(blocks.flatMap(({ has }, height) => (has ? [`row ${height}`] : [])).sort())
      }),
    )
  })
})
