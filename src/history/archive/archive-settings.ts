// Variables of the Worker that archives: those of both Workers, and how much is kept for how long.

import * as z from 'zod'
import { Count, LiveSettings } from '../../core/variables.ts'
import type { Kept } from './retention.ts'

const MB = 1_000_000
/** A century: for longer nothing needs to be said. */
const Days = z.union([z.literal('').transform(() => null), Count(36_500)])

export const ArchiveSettings = LiveSettings.extend({
  /** Beyond so many MB the oldest goes; null: all is kept. */
  ARCHIVE_KEEP_MB: z
    .union([z.literal('').transform(() => null), Count(1_000_000_000).transform((mb) => mb * MB)])
    .describe('bytes once it is read'),
  /** What is older than so many days goes; null: it stays. */
  ARCHIVE_KEEP_EVENTS_DAYS: Days,
  ARCHIVE_KEEP_BOOKS_DAYS: Days,
  ARCHIVE_KEEP_CHECKPOINTS_DAYS: Days,
})
export type ArchiveSettings = z.infer<typeof ArchiveSettings>

export function keptOf(settings: ArchiveSettings): Kept {
  const { ARCHIVE_KEEP_EVENTS_DAYS: events, ARCHIVE_KEEP_BOOKS_DAYS: books, ARCHIVE_KEEP_MB: mostBytes } = settings
  return { days: { events, books, checkpoints: settings.ARCHIVE_KEEP_CHECKPOINTS_DAYS }, mostBytes }
}
