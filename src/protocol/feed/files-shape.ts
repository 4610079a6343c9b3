// Archive file fields of `GET /status`; part of status-shape.ts.

import * as z from 'zod'
import { describeField } from '../../core/field-description.ts'
import { Height, Millis } from './block.ts'

const Count = z.int().min(0)

export const FilesShape = z.object({
  from: z
    .object({
      height: describeField(Height, 'first height covered by files'),
      timeMs: describeField(Millis, 'time of that block, Unix ms'),
    })
    .nullable()
    .describe('First block covered by files; null: none yet.'),
  height: describeField(Height.nullable(), 'last height covered by files; null: none yet', 'near `archive.height`'),
  lagMs: describeField(Count.nullable(), 'time between the last block of the log and of the files, ms', 'under 90 s'),
  gaps: describeField(Count, 'ranges of heights that no file contains', 'as many as the feed has'),
  failure: z
    .object({
      atMs: describeField(Millis, 'time of the failure, Unix ms', 'long ago'),
      words: describeField(z.string(), 'error message; see "The archive falls behind"'),
    })
    .nullable()
    .describe('last failure; null: none since the Compactor started. Failed work is retried until it succeeds.'),
})
