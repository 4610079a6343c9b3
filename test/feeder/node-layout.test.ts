import { expect, it } from 'vitest'
import { type FolderListing, layoutTrouble } from '../../src/feeder/node-files.node.ts'
import type { StreamName } from '../../src/feeder/streams.ts'

const FILLS = 'node_fills_by_block'
const DIFFS = 'node_raw_book_diffs_by_block'
const holds = (...entries: string[]): FolderListing => ({ entries })
const BOTH: readonly StreamName[] = ['diffs', 'fills']

it.each<[FolderListing, readonly StreamName[], string]>([
  [{ failed: 'ENOENT' }, BOTH, 'the data folder /d does not exist: --data'],
  [{ failed: 'ENOTDIR' }, BOTH, '/d is a file'],
  [{ failed: 'EACCES' }, BOTH, 'cannot be read (EACCES)'],
  [holds(), BOTH, '/d is empty: --data must name'],
  [holds('lost+found'), BOTH, 'must run with --write-raw-book-diffs --write-fills --batch-by-block'],
  [holds('data', 'bin'), BOTH, 'It holds a folder data'],
  [holds('node_fills', 'node_raw_book_diffs'), BOTH, 'holds node_raw_book_diffs, node_fills, not by block'],
  [holds('node_fills', DIFFS), ['fills'], 'run the node with --batch-by-block'],
  [holds(FILLS), ['diffs'], `has no ${DIFFS}: run the node with --write-raw-book-diffs`],
  [holds(DIFFS), ['fills'], `has no ${FILLS}: run the node with --write-fills`],
  [holds(FILLS, DIFFS), ['fills'], `no block stands in ${FILLS} of /d yet`],
  [holds(FILLS, DIFFS), BOTH, `no block stands in ${DIFFS}, ${FILLS}`],
])('a folder %j with %j missing is told as what to do', (listing, empty, words) => {
  expect(layoutTrouble('/d', listing, empty)).toContain(words)
})
