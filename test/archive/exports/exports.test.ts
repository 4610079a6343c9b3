// The small rules of what is taken away: pages of files, their price, parts of a file, links.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { byteRange, contentRange } from '../../../src/archive/exports/byte-range.ts'
import { linkPath, readLink, signedText } from '../../../src/archive/exports/file-links.ts'
import {
  checksumsText,
  type FilePosition,
  type FileSource,
  filePage,
  filesPrice,
  type ListedFile,
  readCursor,
  type StoredFile,
  totalsOf,
} from '../../../src/archive/exports/file-list.ts'

const RANGE = { fromMs: 0, toMs: 20 }

/** A list of files as D1 would answer of it. */
function sourceOf(product: string, files: readonly FilePosition[]): FileSource {
  const order = (a: FilePosition, b: FilePosition) => a.timeMs - b.timeMs || a.height - b.height || a.part - b.part
  const stored = [...files].sort(order).map((place): StoredFile => {
    const { timeMs, height, part } = place
    const span = { first: height, last: height, firstMs: timeMs, lastMs: timeMs }
    return { position: place, key: `${product}/${timeMs}/${height}/${part}`, bytes: 10 + height, sha256: 'ab', ...span }
  })
  const within = ({ fromMs, toMs }: typeof RANGE) =>
    stored.filter(({ firstMs }) => firstMs >= fromMs && firstMs <= toMs)
  return {
    product,
    files: async (range, after, limit) =>
      within(range)
        .filter(({ position }) => !after || order(position, after) > 0)
        .slice(0, limit),
    totals: async (range) => totalsOf(within(range).map(({ bytes }) => ({ objects: 1, bytes }))),
  }
}

describe('pages of files', () => {
  const places = fc.uniqueArray(fc.record({ timeMs: fc.nat(25), height: fc.nat(50), part: fc.nat(2) }), {
    selector: ({ timeMs, height, part }) => `${timeMs}.${height}.${part}`,
  })

  it('together are the list, with each file once, and cost as much as the range', async () => {
    const lists = fc.tuple(places, places, places)
    await fc.assert(
      fc.asyncProperty(lists, fc.integer({ min: 1, max: 9 }), async (found, limit) => {
        const sources = ['events', 'books', 'more'].map((product, at) => sourceOf(product, found[at]!))
        const whole = await filePage(sources, RANGE, null, 1_000)
        expect(whole.next).toBeNull()
        const joined: ListedFile[] = []
        let cost = 0
        for (let next: string | null = null; ; ) {
          const after = next === null ? null : readCursor(next, sources, RANGE)
          const page = await filePage(sources, RANGE, after, limit)
          expect(page.files.length).toBeLessThanOrEqual(limit)
          joined.push(...page.files)
          cost += filesPrice(totalsOf(page.files.map(({ bytes }) => ({ objects: 1, bytes }))))
          next = page.next
          if (next === null) break
          expect(page.files).toHaveLength(limit)
        }
        expect(joined).toEqual(whole.files)
        expect(cost).toBe(filesPrice(totalsOf(await Promise.all(sources.map((source) => source.totals(RANGE))))))
      }),
      { numRuns: 200 },
    )
  })

  const sources = [sourceOf('events', []), sourceOf('books', [])]
  it.each([
    ['events.5.7.0', true],
    ['books.20.0.20001', true],
    ['events.21.7.0', false],
    ['trades.5.7.0', false],
    ['constructor.5.7.0', false],
    ['events.05.7.0', false],
    ['events.5', false],
    ['events.5.7', false],
    ['events.5.7.0.', false],
    ['events.-5.7.0', false],
    ['events.5.1e3.0', false],
    [`events.5.${'9'.repeat(16)}.0`, false],
    ['events.5.7.-1', false],
    ['', false],
  ])('the cursor %j belongs to the list: %s', (text, isOne) => {
    expect(readCursor(text, sources, RANGE) !== null).toBe(isOne)
  })

  it('are charged per byte and per object', () => {
    expect(filesPrice({ objects: 2, bytes: 1_000_000 })).toBe(1_002_000)
  })

  it('are checksums in the format of sha256sum', () => {
    const file = { key: 'archive/c/x.gz', sha256: 'ab'.repeat(32) } as StoredFile
    expect(checksumsText([file, file])).toBe(`${'ab'.repeat(32)}  archive/c/x.gz\n`.repeat(2))
  })
})

describe('a range of a file of ten bytes', () => {
  it.each([
    [null, null],
    ['bytes=0-9', '0-9'],
    ['bytes=3-', '3-9'],
    ['bytes=-4', '6-9'],
    ['bytes=-40', '0-9'],
    ['bytes=9-99999', '9-9'],
    [' bytes=0-0 ', '0-0'],
    ['bytes=10-', 'refused'],
    ['bytes=10-12', 'refused'],
    ['bytes=5-4', 'refused'],
    ['bytes=-0', 'refused'],
    ['bytes=-', 'refused'],
    ['bytes=0-1,4-5', 'refused'],
    ['bytes=a-b', 'refused'],
    ['items=0-1', 'refused'],
    [`bytes=0-${'9'.repeat(20)}`, 'refused'],
    ['', 'refused'],
  ])('%j is %s', (header, part) => {
    const range = byteRange(header, 10)
    const told = typeof range === 'object' && range ? contentRange(range, 10).replace(/^bytes (.*)\/10$/, '$1') : range
    expect(told).toBe(part)
  })

  it('does not exist in an empty file', () => {
    expect([byteRange('bytes=0-', 0), byteRange('bytes=-1', 0), byteRange(null, 0)]).toEqual([
      'refused',
      'refused',
      null,
    ])
  })
})

describe('a link', () => {
  const file = { chain: 'a/b', key: 'archive/a b/2026-11-21/1-2.gz', expires: 1_790_000_000_000 }
  const signature = 'x'.repeat(43)
  const read = (query: string) => readLink((name) => new URLSearchParams(query).getAll(name))

  it('contains its file, its expiry and its signature, whatever the name of the chain', () => {
    const { pathname, searchParams } = new URL(linkPath(file, signature), 'http://weir')
    expect(pathname).toBe('/v1/a%2Fb/history/files/archive/a%20b/2026-11-21/1-2.gz')
    expect(readLink((name) => searchParams.getAll(name))).toEqual({ expires: file.expires, signature })
    expect(signedText(file).split('\n').slice(1)).toEqual([file.chain, file.key, String(file.expires)])
  })

  it.each([
    ['', 'expires'],
    [`sig=${signature}`, 'expires'],
    [`expires=1&expires=2&sig=${signature}`, 'expires'],
    [`expires=1e9&sig=${signature}`, 'expires'],
    [`expires=-1&sig=${signature}`, 'expires'],
    ['expires=1', 'sig'],
    ['expires=1&sig=', 'sig'],
    [`expires=1&sig=${signature}&sig=${signature}`, 'sig'],
    [`expires=1&sig=${signature}=`, 'sig'],
    [`expires=1&sig=${'é'.repeat(43)}`, 'sig'],
  ])('with %j is rejected because of %s', (query, name) => {
    expect(read(query)).toBe(name)
  })
})
