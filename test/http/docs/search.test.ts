// What the search of the documentation finds.

import { expect, it } from 'vitest'
import { type IndexedPage, searchPages } from '../../../src/console/docs/search.ts'

const page = (title: string, more: Partial<IndexedPage> = {}): IndexedPage => {
  return { address: `/docs/${title}`, title, summary: '', words: '', ...more }
}
const found = (pages: readonly IndexedPage[], typed: string) => searchPages(pages, typed).map(({ title }) => title)

it('finds the page of a name first, then names that begin so, have it, fields, summaries', () => {
  const pages = [
    page('status', { summary: 'of the coin' }),
    page('l2Book', { words: 'coin nsigfigs' }),
    page('bitcoin'),
    page('coins'),
    page('coin'),
    page('other'),
  ]
  expect(found(pages, ' COIN ')).toEqual(['coin', 'coins', 'bitcoin', 'l2Book', 'status'])
})

it('wants every word, and nothing typed finds nothing', () => {
  const pages = [page('l2Book', { words: 'coin' }), page('meta', { words: 'dex' })]
  expect(found(pages, 'book coin')).toEqual(['l2Book'])
  expect([found(pages, 'book dex'), found(pages, '  ')]).toEqual([[], []])
})

it('shows why something is so behind what it is, and twelve pages at most', () => {
  const why = page('Books', { address: '/docs/internals/decisions/02-books' })
  expect(found([why, page('l2Book')], 'book')).toEqual(['l2Book', 'Books'])
  expect(found(Array(30).fill(page('book')), 'book')).toHaveLength(12)
})
