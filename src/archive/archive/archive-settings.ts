// Environment variables of the archiving Worker: the shared ones and the retention limits.

import * as z from 'zod'
import { Count, countMessage, LiveSettings } from '../../core/variables.ts'
import type { RetentionLimits } from './retention.ts'

const MB = 1_000_000

/** A whole number from 1 to `max`, or empty (null) for no limit. */
function Bound(max: number, unit: string) {
  const more = ` (${unit}), or empty to keep all`
  const nothing = z.literal('').transform(() => null)
  return z.union([nothing, Count(max, more)], countMessage(max, more))
}

/** 100 years, which is practically unlimited. */
const Days = Bound(36_500, 'days')

export const ArchiveSettings = LiveSettings.extend({
  /** Size limit in MB. Above it, the oldest data is removed; null if there is no limit. */
  ARCHIVE_KEEP_MB: Bound(1_000_000_000, 'MB')
    .transform((mb) => mb && mb * MB)
    .describe('Parsed to bytes'),
  /** Age limits in days; null if there is no limit. */
  ARCHIVE_KEEP_EVENTS_DAYS: Days,
  ARCHIVE_KEEP_BOOKS_DAYS: Days,
  ARCHIVE_KEEP_CHECKPOINTS_DAYS: Days,
  /** The same rows are in pages and in the archived events. */
  ARCHIVE_KEEP_FILL_TABLES_DAYS: Days,
})
export type ArchiveSettings = z.infer<typeof ArchiveSettings>

export function retentionOf(settings: ArchiveSettings): RetentionLimits {
  const { ARCHIVE_KEEP_EVENTS_DAYS: events, ARCHIVE_KEEP_BOOKS_DAYS: books, ARCHIVE_KEEP_MB: maxBytes } = settings
  return { days: { events, books, checkpoints: settings.ARCHIVE_KEEP_CHECKPOINTS_DAYS }, maxBytes }
}
