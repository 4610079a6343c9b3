// The book of client-python/weir.py compared with ours: equal levels after each change, and none after a lost,
// repeated, foreign or false change. And what its streams do when they read late.

import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { CoinBook } from '../../src/client/bootstrap.ts'
import { bookChecksum } from '../../src/order-books/checksum.ts'
import { LevelBook } from '../../src/order-books/level-book.ts'
import type { Level, Levels } from '../../src/protocol/feed/block.ts'
import { PYTHON, runPython } from '../conformance/package/python.ts'

const level = fc
  .record({ px: fc.integer({ min: 1, max: 30 }), n: fc.nat({ max: 3 }) })
  .map(({ px, n }): Level => ({ px: `${px}.5`, sz: n === 0 ? '0' : `${n}.0`, n }))
const unique = fc.uniqueArray(level, { maxLength: 6, selector: ({ px }) => px })
const harm = fc.constantFrom(null, null, null, null, 'lost', 'repeated', 'epoch', 'lie')
const story = fc.array(fc.record({ levels: fc.tuple(unique, unique), harm }), { minLength: 1, maxLength: 12 })

interface Batch {
  readonly epoch: string
  readonly block_height: number
  readonly time: number
  readonly book_diffs: readonly [
    {
      readonly coin: string
      readonly seq: number
      readonly prev_seq: number
      readonly levels: Levels
      readonly checksum: number
    },
  ]
}

function batchesOf(changes: readonly { levels: readonly [Level[], Level[]]; harm: string | null }[]) {
  const book = LevelBook.of([[], []])
  const batches: Batch[] = []
  let seq = 10
  for (const { levels, harm } of changes) {
    book.apply([...levels] as Levels)
    const prev = seq++
    if (harm === 'lost') continue
    const checksum = (bookChecksum(book) + (harm === 'lie' ? 1 : 0)) >>> 0
    const batch: Batch = {
      time: seq,
      block_height: seq,
      epoch: harm === 'epoch' ? 'f' : 'e',
      book_diffs: [{ coin: 'BTC', seq, prev_seq: prev, levels: [...levels] as Levels, checksum }],
    }
    batches.push(batch)
    if (harm === 'repeated') batches.push(batch)
  }
  return batches
}

/** Our levels. */
function booksOf(snapshot: Parameters<CoinBook['snapshot']>[0], batches: readonly Batch[]): (Levels | null)[] {
  const book = new CoinBook('BTC')
  book.fetchStarted()
  book.snapshot(snapshot)
  return batches.map(({ epoch, block_height: height, time, book_diffs }) => {
    const [{ seq, prev_seq: prevSeq, levels, checksum }] = book_diffs
    if (book.live) book.batch({ epoch, height, time }, { seq, prevSeq, levels, checksum })
    return book.live ? book.levels() : null
  })
}

it.skipIf(PYTHON === undefined)('is as strict as ours', async () => {
  const snapshot = { coin: 'BTC', epoch: 'e', height: 10, time: 1, seq: 10, levels: [[], []] as Levels }
  const stories = fc.sample(story, { numRuns: 500, seed: 7 }).map((changes) => [snapshot, batchesOf(changes)] as const)
  const found = JSON.parse(await runPython(join(import.meta.dirname, 'python-book.py'), [], JSON.stringify(stories)))
  const expected = stories.map(([, batches]) => booksOf(snapshot, batches))
  expect(found).toEqual(expected)
  expect(expected.flat().filter((levels) => levels === null).length).toBeGreaterThan(100)
  expect(expected.flat().filter((levels) => levels !== null).length).toBeGreaterThan(100)
})

// WS-65
it.skipIf(PYTHON === undefined)('reports that it reads late, and resumes after its last height', async () => {
  const found = JSON.parse(await runPython(join(import.meta.dirname, 'python-late.py'), []))
  expect(found).toEqual({
    notices: [
      ['reads late', 'late'],
      ['too late', 'too_late'],
    ],
    first: { channel: 'trades', data: [] },
    from: [null, 71],
  })
})
