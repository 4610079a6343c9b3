import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toColumns, toLines } from '../../../src/archive/files/page-columns.ts'
import { lineText } from '../../../src/archive/files/rows.ts'
import { addressOf, inventedFill } from '../../bench/invented-fills.ts'

const SLOT = String.fromCharCode(0)
const SECTION = String.fromCharCode(1)

const anyLine = fc
  .record({
    height: fc.nat(),
    time: fc.integer(),
    list: fc.array(fc.jsonValue(), { maxLength: 5 }),
  })
  .map(({ height, time, list }) => lineText({ height, time, rows: list.length }, JSON.stringify(list)))

it('returns the same lines, whatever JSON they contain', () => {
  fc.assert(
    fc.property(fc.array(anyLine, { minLength: 1, maxLength: 20 }), (lines) => {
      const text = lines.join('\n')
      expect(toLines(toColumns(text))).toBe(text)
    }),
  )
})

it('returns any text without its own control characters', () => {
  const anyText = fc.string({ unit: 'binary' }).map((text) => text.replaceAll(SLOT, '').replaceAll(SECTION, ''))
  fc.assert(
    fc.property(anyText, (text) => {
      expect(toLines(toColumns(text))).toBe(text)
    }),
  )
})

it.each([
  ['1\t2\t1\t[["0xa",{"px":"1.0","crossed":true,"twapId":null}]]'],
  ['1\t2\t2\t[["0xa",{"a:":"b:","\\"x\\":":"\\\\"}],["0xb",{"coin":"@1"}]]'],
  ['1\t2\t1\t[[9007199254740993,-0.5,1e21,0,-1]]'],
  ['1\t2\t1\t[[1,[2,[3],4],5]]\n2\t3\t1\t[[1,[2,[],4]]]'],
  ['007\t-0\t1\t[]'],
  [''],
])('returns %j', (text) => expect(toLines(toColumns(text))).toBe(text))

it('has few columns for a long list', () => {
  const text = `1\t2\t1\t${JSON.stringify([Array.from({ length: 5_000 }, (_, at) => at)])}`
  const columns = toColumns(text)
  expect(columns.split(SECTION).length).toBeLessThan(100)
  expect(toLines(columns)).toBe(text)
})

it('rejects lines that are not columns', () => {
  expect(() => toLines('1\t2\t1\t[]\n3\t4\t1\t[]')).toThrow('the text is not columns')
})

it.each([
  [['0'], 'a column is missing'],
  [['0\n0', '=1'], 'a column is too short'],
  [['1', '=1'], 'no template 1'],
])('rejects text of another kind (%j)', (sections, message) => {
  expect(() => toLines([`[${SLOT}]`, ...sections].join(SECTION))).toThrow(message)
})

it('shortens a page of fills by a quarter', () => {
  const lines = Array.from({ length: 180 }, (_, at) => {
    const time = Date.UTC(2026, 0, 1) + 480 * at
    const fill = inventedFill(addressOf(7), 7 * at, time)
    return lineText({ height: 1_000 + 7 * at, time, rows: 1 }, JSON.stringify([fill]))
  })
  const text = lines.join('\n')
  expect(gzipSync(toColumns(text)).length).toBeLessThan(0.75 * gzipSync(text).length)
})
