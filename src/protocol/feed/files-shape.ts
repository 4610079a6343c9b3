// What `GET /status` tells of the files of the archive: a part of status-shape.ts.

import * as z from 'zod'
import { describeField } from '../../core/field-description.ts'
import { Height, Millis } from './block.ts'

const Count = z.int().min(0)

export const FilesShape = z.object({
  from: z
    .object({
      height: describeField(Height, 'the first height that files have'),
      timeMs: describeField(Millis, 'the time of that block, Unix ms'),
    })
    .nullable()
    .describe('where the files begin; null: there are none yet.'),
  height: describeField(Height.nullable(), 'the last height that they have; null: none yet', 'near `archive.height`'),
  lagMs: describeField(
    Count.nullable(),
    'what the log has and they have not, as time between blocks, ms',
    'under 90 s',
  ),
  gaps: describeField(Count, 'stretches of heights between them that no file has', 'as many as the feed had'),
  failure: z
    .object({
      atMs: describeField(Millis, 'when, Unix ms', 'long ago'),
      words: describeField(z.string(), 'what went wrong: see "The archive falls behind"'),
    })
    .nullable()
    .describe('what went wrong last; null: nothing since the Compactor woke. It is tried again until it is done.'),
})
