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
