// The log's side of the archive.

import { expect, it } from 'vitest'
import { ArchiveService } from '../../src/block-log/archive-service.do.ts'
import type { RetainedBlocks } from '../../src/block-log/retained-blocks.do.ts'
import { UnarchivedSegments } from '../../src/block-log/unarchived-segments.ts'

it('retains nothing for an Archiver that still runs after the archive was turned off', () => {
  const unarchived = new UnarchivedSegments(500, [])
  const blocks = {
    chain: { epoch: 'e', booksKnown: true, height: 1_000 },
    setArchived: (height: number | null) => void unarchived.release(height),
    archivePage: () => ({ head: null, parts: [] }),
    newestGaps: [],
  } as unknown as RetainedBlocks
  const objects = {
    hasJobs: false,
    archiver: () => {
      throw new Error('ARCHIVER is not bound')
    },
  }
  const service = new ArchiveService({ env: {}, objects, blocks, waitUntil: () => undefined })
  const report = { last: null, segments: 0, checkpoint: null, failure: null }
  service.page({ v: 1, archived: 1_000, from: 1_001, report }, { repairedAt: null }, 0)
  expect(unarchived.archivedTo).toBeNull()
})

it('knows nothing of repairs until the Archiver reports them', () => {
  const blocks = {
    chain: { epoch: 'e', booksKnown: true, height: 1_000 },
    setArchived: () => undefined,
    archivePage: () => ({ head: null, parts: [] }),
    newestGaps: [{ from: 5, to: 9 }],
  } as unknown as RetainedBlocks
  const objects = { hasJobs: true, archiver: () => ({}) as never }
  const env = { ARCHIVE: {} as R2Bucket, HISTORY: {} as D1Database }
  const service = new ArchiveService({ env, objects, blocks, waitUntil: () => undefined })
  expect(service.outcomes).toBeNull()
  const report = { last: { height: 900, time: 1 }, segments: 1, checkpoint: null, failure: null }
  const page = (more: object) =>
    service.page({ v: 1, archived: 900, from: null, report: { ...report, ...more } }, { repairedAt: null }, 0)
  expect(page({})).toMatchObject({ gaps: [{ from: 5, to: 9 }] })
  expect(service.outcomes).toBeNull()
  const gaps = [{ from: 5, to: 9, repaired: 5, missing: 0, beyond: 0, sources: ['a'] }]
  page({ gaps })
  expect(service.outcomes).toEqual({ last: 900, gaps })
})
