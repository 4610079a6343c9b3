// All that Weir has kept of a wallet, a builder or a coin, as one list of blocks: the log's, and behind them those of the
// files. Laws: each block is told once and in order, whichever of the two holds it; of what cannot be read nothing is told,
// and the reading says since when nothing is missing.

import { ArchiveDamage } from '../../archive/archive/archive-damage.ts'
import type { ArchiveReader } from '../../archive/archive/archive-read.ts'
import type { CandleFiles } from '../../archive/files/files-read.ts'
import { fundedCover, paidCover, type Seam, seamOf } from '../../archive/files/seam.ts'
import type { HeldFills } from '../../archive/held-runs.ts'
import { type After, orLate } from '../../core/deadline.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import type { History, OpenPast, Past, PastEvents, PastRead, PastWindow, TakeBlock } from '../ports.ts'
import { archived, tellFiles, Unreadable } from './file-pages.ts'
import { readCandles } from './past-candles.ts'
import { Telling } from './telling.ts'

export interface PastDeps {
  readonly history: Pick<History, 'held'>
  /** Null where nothing is archived. */
  readonly files: CandleFiles | null
  /** Knows when the blocks behind a gap came. */
  readonly archive: Pick<ArchiveReader, 'segmentsFrom'> | null
  readonly after: After
}

/** Of the log, and of each reading of the files: a source may have to be asked afterwards. */
const READ_MAX_MS = 8_000
const AWAY: Failure = {
  kind: 'unavailable',
  what: 'The history cannot be read at the moment',
  retryAfterMs: 1_000,
}

export function pastOf(deps: PastDeps): Past {
  const open = (events: PastEvents) => inTime(deps, opened(deps, events))
  return {
    isDeep: deps.files !== null,
    open,
    async read(request, take) {
      const past = await open(request)
      return past.ok ? past.value.read(request, take) : past
    },
    async candles(request) {
      const read = await inTime(deps, readCandles(deps, request).then(ok))
      return read.ok ? read.value && ok(read.value) : read
    },
  }
}

/** What the archive fails at is a refusal; of bugs nothing is made. */
async function inTime<T>({ after }: PastDeps, work: Promise<Result<T, Failure>>): Promise<Result<T, Failure>> {
  const refused = work.catch((error: unknown) => {
    if (error instanceof Unreadable || error instanceof ArchiveDamage) return err(AWAY)
    throw error
  })
  return orLate(refused, READ_MAX_MS, err(AWAY), after)
}

/** What a past is made of, as of one moment. */
interface Parts {
  readonly events: PastEvents
  readonly files: CandleFiles | null
  readonly held: HeldFills
  readonly seam: Seam
  readonly since: HeightAndTime
}

async function opened(deps: PastDeps, events: PastEvents): Promise<Result<OpenPast, Failure>> {
  const { files } = deps
  // Of blocks of which the fills alone are known a ledger without events would be a lie, and so would be no funding.
  const isPaid = events.kind === 'funding'
  const need = isPaid ? 'payments' : events.kind !== 'fills' || events.isFunded ? 'events' : 'fills'
  const whole = files && (await archived(files.cover(need)))
  const cover = whole && (isPaid ? paidCover(whole) : events.isFunded ? fundedCover(whole) : whole)
  const held = await deps.history.held(events.scope, events.kind, cover?.to.height)
  if (!held.ok) return held
  const seam = seamOf(held.value, cover)
  const parts = { events, files, held: held.value, seam, since: await sinceOf(deps, seam, held.value) }
  const past: OpenPast = {
    head: parts.held.head,
    since: parts.since,
    async read(window, take) {
      let isLate = false
      const whileAwaited: TakeBlock = (block, isAfterHole) => !isLate && take(block, isAfterHole)
      const read = await inTime(deps, told(parts, window, whileAwaited).then(ok))
      isLate = true
      return read
    },
    funding(spans) {
      const inFiles = spans.filter(({ from }) => from <= seam.upTo)
      const clipped = inFiles.map((span) => ({ ...span, to: Math.min(span.to, seam.upTo) }))
      const paid = clipped.length > 0 ? files?.funding(clipped) : undefined
      return inTime(deps, archived(paid ?? Promise.resolve([])).then(ok))
    },
  }
  return ok(past)
}

async function sinceOf({ archive }: PastDeps, { since }: Seam, held: HeldFills): Promise<HeightAndTime> {
  if (!('above' in since)) return since
  // A gap of files may end amid a segment.
  const segments = archive ? await archived(archive.segmentsFrom({ height: since.above + 1 }, 2)) : []
  const segment = segments.find(({ first }) => first > since.above)
  return segment ? { height: segment.first, time: segment.firstMs } : held.since
}

async function told(
  { events, files, held, seam, since }: Parts,
  window: PastWindow,
  take: TakeBlock,
): Promise<PastRead> {
  const tell = new Telling(window, seam, take)
  const ended = (how: PastRead['ended'], from = since): PastRead => {
    return { head: held.head, since: from.height > since.height ? from : since, ended: how }
  }
  // What is below the log is not younger than its first block.
  const isInFiles = files !== null && seam.upTo >= 0 && window.fromMs <= held.since.time
  const inFiles = async () => (isInFiles ? tellFiles(files, { ...events, ...window }, seam, tell) : 'all')
  if (window.order === 'newest') {
    if (!tell.all(seam.tail.toReversed())) return ended('enough')
    const how = await inFiles()
    const { last } = tell
    const isCut = how === 'work' || how === 'damage'
    return isCut ? ended(how, last !== null && last.height <= seam.upTo ? last : held.since) : ended(how)
  }
  const how = await inFiles()
  if (how === 'enough' || how === 'work') return ended(how)
  if (how === 'damage') tell.hole()
  const isAll = tell.all(seam.tail)
  if (how === 'damage') return ended(how, held.since)
  return ended(isAll ? 'all' : 'enough')
}
