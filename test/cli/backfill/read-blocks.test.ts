// Files of a source as lines, and lines as blocks; what is wrong with them is named with the fix.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fillsLine } from '../../../src/archive/archive/backfill-lines.ts'
import { readBlocks } from '../../../src/cli/backfill/read-blocks.ts'
import { blockFiles, type FileForm, formOf } from '../../../src/cli/backfill/source-files.ts'
import { textLines } from '../../../src/cli/backfill/text-lines.ts'
import { fillWith } from '../../kit/fills.ts'

const SEGMENT = '2026-11-01/000000000005-000000000009.events.gz'

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size)
}

describe('lines', () => {
  const lines = (bytes: Uint8Array, size: number) => Array.fromAsync(textLines(pieces(bytes, size), 100))

  it('are the same for any split of their bytes', async () => {
    const text = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '✓', '\n') }))
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 5 }), async (parts, size) => {
        const whole = parts.join('').slice(0, 100)
        const read = await lines(new TextEncoder().encode(whole), size)
        const wanted = whole.split('\n').map((one, at) => ({ text: one, number: at + 1 }))
        expect(read.map(({ text, number }) => ({ text, number }))).toEqual(wanted.filter(({ text }) => text !== ''))
        expect(read.every(({ number, isEnded }) => isEnded === number < wanted.length)).toBe(true)
      }),
    )
  })

  it('that are not UTF-8 or too long are an error', async () => {
    await expect(lines(Uint8Array.of(97, 10, 0xff, 10), 9)).rejects.toThrow(/UTF-8/)
    await expect(lines(Uint8Array.of(97, 10, 0xc3), 9)).rejects.toThrow('after line 1')
    await expect(lines(new Uint8Array(200).fill(97), 50)).rejects.toThrow('more than 100 characters')
  })
})

const fill = fillWith({
  px: '81308.0',
  sz: '0.00033',
  time: 5,
  startPosition: '0',
  hash: `0x${'0'.repeat(64)}`,
  tid: 2,
})
const nodeLine = (height: number, events: unknown[] = [[`0x${'1'.repeat(40)}`, fill]]) =>
  JSON.stringify({
    local_time: '2026-11-01T00:00:00.100000001',
    block_time: `2026-11-01T00:00:00.0${height}2`,
    block_number: height,
    events,
  })

describe('blocks', () => {
  const read = async (text: string, path = 'node_fills_by_block/20261101/0', wants = (_: number) => true) => {
    const open = async function* () {
      yield new TextEncoder().encode(text)
    }
    const planned = { path, bytes: 1, form: formOf(path) as FileForm, open }
    const reads = await Array.fromAsync(readBlocks(planned, ({ height }) => wants(height)))
    return reads.map((one) => {
      if (one.kind === 'fault') return one.sentence.slice(path.length + 1)
      return one.kind === 'block' ? one.block.line : one.position.height
    })
  }

  it('of a node contain only fills, and only requested heights', async () => {
    const lines = await read([11, 12, 13].map((height) => `${nodeLine(height)}\n`).join(''), undefined, (h) => h !== 12)
    const time = Date.UTC(2026, 10, 1)
    const line = (height: number, ms: number) =>
      fillsLine({ height, time: time + ms, fills: [[`0x${'1'.repeat(40)}`, fill as never]] })
    expect(lines).toEqual([line(11, 11), 12, line(13, 13)])
  })

  const line = (height: number, events: unknown[]) => `${nodeLine(height, events)}\n`
  const misc = {
    time: '2026-11-01T00:00:00.01',
    hash: '0x1',
    inner: { LedgerUpdate: { users: [`0x${'1'.repeat(40)}`], delta: { type: 'send', amount: '1' } } },
  }
  /** Known events and ledger rows of each block. */
  const known = async (files: Readonly<Record<string, string>>) => {
    const sources = Object.entries(files).map(([path, body]) => ({
      path,
      bytes: 1,
      open: async function* () {
        yield new TextEncoder().encode(body)
      },
    }))
    const planned = blockFiles('S', sources, 'chain')
    if (!planned.ok) throw new Error(planned.error)
    const reads = await Promise.all(planned.value.map((file) => Array.fromAsync(readBlocks(file, () => true))))
    const blocks = reads.flat().map((one) => JSON.parse((one as { block: { line: string } }).block.line))
    return blocks.map(({ height, only, ledger, twaps }) => [height, only ?? 'events', ledger.length, twaps])
  }

  it('of a node have all events from the first to the last line of its misc events', async () => {
    const found = await known({
      'node_fills_by_block/hourly/20261101/0': [10, 11, 12, 13, 14].map((height) => nodeLine(height)).join('\n'),
      'misc_events_by_block/hourly/20261101/0': line(11, [misc]) + line(13, []),
      'node_twap_statuses_by_block/hourly/20261101/0': line(13, [{ status: 'running' }]),
    })
    expect(found).toEqual([
      [10, 'fills', 0, undefined],
      [11, 'events', 1, undefined],
      // The node writes no line for a block without misc events.
      [12, 'events', 0, undefined],
      [13, 'events', 0, [{ status: 'running' }]],
      [14, 'fills', 0, undefined],
    ])
  })

  it.each([
    ['a file of the next hour', { 'misc_events_by_block/hourly/20261101/1': line(13, []) }, 'events'],
    ['a file after a missing hour', { 'misc_events_by_block/hourly/20261101/2': line(13, []) }, 'fills'],
    ['an unreadable line', { 'misc_events_by_block/hourly/20261101/1': `x\n${line(13, [])}` }, 'fills'],
  ])('of a node between two lines of misc events, the second after %s', async (_, files, expected) => {
    const found = await known({
      'node_fills_by_block/hourly/20261101/0': nodeLine(12),
      'misc_events_by_block/hourly/20261101/0': line(11, [misc]),
      ...files,
    })
    expect(found).toEqual([[12, expected, 0, undefined]])
  })

  it('of an archive are passed on unchanged', async () => {
    const text = [fillsLine({ height: 5, time: 5, fills: [] }), fillsLine({ height: 6, time: 6, fills: [] })].join('\n')
    expect(await read(text, SEGMENT, (height) => height > 5)).toEqual([5, text.split('\n')[1]])
  })

  it('after a partial line of a killed node are read', async () => {
    const text = `${nodeLine(11).slice(0, 150)}${nodeLine(12)}\n${nodeLine(13)}\n`
    expect(await read(text, undefined, () => false)).toEqual([12, 13])
    expect((await read(text)).map((line) => JSON.parse(String(line)).height)).toEqual([12, 13])
  })

  it.each([
    ['half a line at its end', `${nodeLine(11)}\n${nodeLine(12).slice(0, 200)}`, /line 2\b/],
    ['a line that is damaged', `${nodeLine(11)}\n${nodeLine(12).slice(0, 200)}\n`, /^line 2 is not JSON/],
    ['no line of a node', `${nodeLine(11)}\nhello\n`, /^line 2 has no block_number and block_time/],
    [
      'a fill that is none',
      `${nodeLine(11)}\n${nodeLine(12, [['0x', {}]])}\n`,
      /^line 2 has a fill: 0 must be 0x and 40/,
    ],
    [
      'no time',
      `${nodeLine(11)}\n${nodeLine(12).replace('2026-11-01T00:00:00.0122', '2026-99-01T00:00:00')}\n`,
      /^line 2 .*block_time/,
    ],
  ])('%s is named with a fix', async (_, text, message) => {
    const [first, fault, ...more] = await read(text)
    expect([JSON.parse(String(first)).height, fault, more]).toEqual([11, expect.stringMatching(message), []])
  })

  it.each([
    ['events without blocks', JSON.stringify([`0x${'1'.repeat(40)}`, fill]), /node_fills_by_block/],
    ['trades without blocks', JSON.stringify({ coin: 'BTC', side: 'A' }), /node_fills_by_block/],
    ['a line an event', `${nodeLine(11)}\n${nodeLine(11, [])}\n`, /height 11, .*--stream-with-block-info/],
  ])('%s are rejected with a fix', async (_, text, message) => {
    await expect(read(text, '20261101/0')).rejects.toThrow(message)
  })

  it('that a restarted node wrote again are the same', async () => {
    expect(await read(`${nodeLine(11)}\n${nodeLine(11)}\n${nodeLine(12)}\n`, undefined, () => false)).toEqual([11, 12])
  })

  it('of a truncated file are read up to the end of its complete part', async () => {
    const planned = {
      path: '20261101/0',
      bytes: 1,
      form: formOf('20261101/0') as FileForm,
      open: async function* () {
        yield new TextEncoder().encode(`${nodeLine(11)}\n`)
        throw Object.assign(new Error('read'), { code: 'EIO' })
      },
    }
    const reads = await Array.fromAsync(readBlocks(planned, () => false))
    expect(reads).toEqual([
      expect.objectContaining({ kind: 'skipped' }),
      { kind: 'fault', sentence: expect.stringMatching(/^20261101\/0 .*\(EIO\)/) },
    ])
  })
})
