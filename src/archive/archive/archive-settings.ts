// Variables of the Worker that archives: those of both Workers, and how much is kept for how long.

import * as z from 'zod'
import { Count, countMessage, LiveSettings } from '../../core/variables.ts'
import type { RetentionLimits } from './retention.ts'

const MB = 1_000_000

/** A whole number from 1 to `most` of a unit; null where nothing is said, for all. */
function Bound(most: number, unit: string) {
  const more = ` (${unit}), or empty to keep all`
  const nothing = z.literal('').transform(() => null)
  return z.union([nothing, Count(most, more)], countMessage(most, more))
}

/** A century: for longer nothing needs to be said. */
const Days = Bound(36_500, 'days')

export const ArchiveSettings = LiveSettings.extend({
  /** Beyond so many MB the oldest goes; null: all is kept. */
  ARCHIVE_KEEP_MB: Bound(1_000_000_000, 'MB')
    .transform((mb) => mb && mb * MB)
    .describe('bytes once it is read'),
  /** What is older than so many days goes; null: it stays. */
  ARCHIVE_KEEP_EVENTS_DAYS: Days,
  ARCHIVE_KEEP_BOOKS_DAYS: Days,
  ARCHIVE_KEEP_CHECKPOINTS_DAYS: Days,
})
export type ArchiveSettings = z.infer<typeof ArchiveSettings>

export function retentionOf(settings: ArchiveSettings): RetentionLimits {
  const { ARCHIVE_KEEP_EVENTS_DAYS: events, ARCHIVE_KEEP_BOOKS_DAYS: books, ARCHIVE_KEEP_MB: mostBytes } = settings
  return { days: { events, books, checkpoints: settings.ARCHIVE_KEEP_CHECKPOINTS_DAYS }, mostBytes }
}
