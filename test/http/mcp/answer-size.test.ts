import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fitted, withIsoTimes } from '../../../src/http/mcp/answer-size.ts'
import { CURSOR, FIRST_PAGE, type Page } from '../../../src/http/mcp/page-cursor.ts'

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
const STARTED_MS = 1_796_000_000_000

/** All pages of a list, read as a client does. */
function pagesOf(rows: readonly unknown[], maxBytes: number) {
  const pages: { rows: unknown[]; bytes: number }[] = []
  for (let page: Page | undefined = FIRST_PAGE; page !== undefined; ) {
    const { result, nextCursor } = fitted(
      { fields: { coin: 'BTC' }, list: { name: 'rows', rows } },
      maxBytes,
      page,
      STARTED_MS,
    )
    pages.push({ rows: result.rows as unknown[], bytes: bytes(result) })
    page = nextCursor === undefined ? undefined : CURSOR.parse(nextCursor)
    if (pages.length > rows.length + 1) throw new Error('the pages do not end')
  }
  return pages
}

describe('pages of a list', () => {
  it('have every row once and in order, and stay below the limit', () => {
    const row = fc.record({
      px: fc.string({ maxLength: 40 }),
      users: fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 8 }),
    })
    fc.assert(
      fc.property(fc.array(row, { maxLength: 60 }), fc.integer({ min: 1_000, max: 4_000 }), (rows, maxBytes) => {
        const pages = pagesOf(rows, maxBytes)
        expect(pages.flatMap((page) => page.rows)).toEqual(rows)
        for (const page of pages) expect(page.bytes).toBeLessThan(maxBytes)
      }),
    )
  })

  it('keep the time of the first page, and go on with the cursor of the source', () => {
    const list = { name: 'rows', rows: [1, 2], next: 'r-1-2-3' }
    const { nextCursor } = fitted({ fields: {}, list }, 8_000, FIRST_PAGE, STARTED_MS)
    expect(CURSOR.parse(nextCursor)).toEqual({ offset: 0, startedMs: STARTED_MS, source: 'r-1-2-3' })
    expect(CURSOR.safeParse('later').success).toBe(false)
  })

  it('outline what is too large, and still end', () => {
    const large = { universe: Array(500).fill('x'.repeat(20)), marginTables: [] }
    const [first, second] = pagesOf([large, { a: 1 }], 2_000)
    expect(first!.rows).toEqual([
      {
        too_large_bytes: bytes(large),
        parts: { universe: 'list of 500, 11501 bytes', marginTables: 'list of 0, 2 bytes' },
      },
      { a: 1 },
    ])
    expect(second).toBeUndefined()
  })

  it('outline the largest fields only', () => {
    const fields = {
      balance: '5',
      usage: { by_day: Array(400).fill({ credits: '1' }) },
      limits: { all: 'x'.repeat(900) },
    }
    const { result } = fitted({ fields }, 2_000, FIRST_PAGE, STARTED_MS)
    expect(result).toEqual({
      ...fields,
      usage: { too_large_bytes: bytes(fields.usage), parts: { by_day: 'list of 400, 6401 bytes' } },
    })
    const least = fitted({ fields }, 1_000, FIRST_PAGE, STARTED_MS).result
    expect(least).toMatchObject({ balance: '5', limits: { too_large_bytes: bytes(fields.limits) } })
    expect(bytes(least)).toBeLessThan(500)
  })
})

describe('times', () => {
  it('are also ISO 8601; other numbers are not', () => {
    const row = {
      time: STARTED_MS,
      t: STARTED_MS,
      close_time: STARTED_MS,
      tid: STARTED_MS,
      duration_ms: 5,
      lastTime: null,
    }
    expect(withIsoTimes([row])).toEqual([
      {
        ...row,
        time_iso: '2026-11-30T00:53:20.000Z',
        t_iso: '2026-11-30T00:53:20.000Z',
        close_time_iso: '2026-11-30T00:53:20.000Z',
      },
    ])
  })
})
