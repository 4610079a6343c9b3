// Variables of the Worker that archives: those of both Workers, and how much is kept.

import * as z from 'zod'
import { Count, LiveSettings } from '../../core/variables.ts'

const MB = 1_000_000

export const ArchiveSettings = LiveSettings.extend({
  /** Beyond so many MB the oldest goes; null: all is kept. */
  ARCHIVE_KEEP_MB: z
    .union([z.literal('').transform(() => null), Count(1_000_000_000).transform((mb) => mb * MB)])
    .describe('bytes once it is read'),
})
export type ArchiveSettings = z.infer<typeof ArchiveSettings>
