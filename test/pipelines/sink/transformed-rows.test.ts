// What transforms may say of where a row stands.

import { describe, expect, it } from 'vitest'
import { transformedRows } from '../../../src/pipelines/sink/transformed-rows.ts'
import { gapRow, keyedRows } from '../../../src/pipelines/topics/topic.ts'

const ID = 'pipe_a:5-8'
const rows = [
  gapRow(5, 6, 420, 'lost'),
  ...keyedRows({ height: 7, time: 490 }, [
    ['a', { coin: 'BTC' }],
    ['a', { coin: 'ETH' }],
  ]),
  ...keyedRows({ height: 8, time: 560 }, [['a', { coin: 'BTC' }]]),
]
const batch = { rows, texts: rows.map((row) => JSON.stringify(row)) }
const row = { _kind: 'row', _key: '7:a', _height: 7, _time: 490 }
const made = (...all: readonly object[]) =>
  transformedRows(
    batch,
    all.map((one) => JSON.stringify(one)),
    ID,
  )

describe('rows that transforms made', () => {
  // PIPE-17, PIPE-31
  it('have keys, heights and times from the batch, a key with a suffix, or a numbered key', () => {
    const good = [
      row,
      { ...row, _key: '7:a:2', _height: 8 },
      { ...row, _key: '7:a:x', _time: 560 },
      { ...row, _key: '8:a:1:2' },
      { ...row, _key: `${ID}:0` },
    ]
    const answer = made(...good)
    expect(answer).toMatchObject({ ok: true, value: { rows: [rows[0], ...good] } })
    expect(answer.ok && answer.value.texts[0]).toBe(batch.texts[0])
  })

  // PIPE-4, PIPE-31
  it.each<[string, object, RegExp]>([
    ['a gap', { _kind: 'gap' }, /^_kind is "gap"/],
    ['a reset', { _kind: 'reset' }, /^_kind is "reset"/],
    ['a kind of their own', { _kind: 1 }, /^_kind is 1/],
    ['a negative height', { _height: -1 }, /^_height is -1/],
    ['the height of a gap', { _height: 6 }, /^_height is 6/],
    ['a height as text', { _height: '7' }, /^_height is "7"/],
    ['a time', { _time: 491 }, /^_time is 491/],
    ['a key of nobody', { _key: 'mine' }, /^_key is "mine"/],
    ['the key of a gap', { _key: 'gap:5-6' }, /^_key is "gap:5-6"/],
    ['a key that only begins like one', { _key: '7:ab' }, /^_key is "7:ab"/],
    ['the key of another batch', { _key: 'pipe_a:1-4:0' }, /^_key is "pipe_a:1-4:0"/],
    ['a number for a key', { _key: 7 }, /^_key is 7/],
    ['a key that hides', { _key: '\u001b[2J' }, /^_key is "\\u001b\[2J"/],
  ])('cannot invent %s', (_, over, words) => {
    expect(made({ ...row, ...over })).toEqual({ ok: false, error: expect.stringMatching(words) })
  })

  // PIPE-4, PIPE-31
  it('cannot repeat a key', () => {
    expect(made(row, row)).toEqual({ ok: false, error: expect.stringMatching(/^_key "7:a" /) })
  })
})
