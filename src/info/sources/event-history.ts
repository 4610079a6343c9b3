// All that Weir has kept of a wallet, a builder or a coin, as one list of blocks: the log's, and behind them those of the
// files. Laws: each block is told once and in order, whichever of the two holds it; of what cannot be read nothing is told,
// and the reading says since when nothing is missing.

import { ArchiveDamage, type ArchiveReader } from '../../archive/archive/archive-read.ts'
import { type CandleHistory, candleHistory, needsLog } from '../../archive/candle-history.ts'
import type { CandlesRequest } from '../../archive/candles.ts'
import type { CandleFiles, FilesReader, FilesRequest } from '../../archive/files/files-read.ts'
import { fundedCoverage, paidCoverage, type Seam, seamOf } from '../../archive/files/seam.ts'
import type { FillHistory } from '../../archive/funding-spans.ts'
import { type After, orFallback } from '../../core/deadline.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { EventBlock, HeightAndTime } from '../../protocol/feed/durable-api.ts'
import type {
  EventHistory,
  EventQuery,
  EventRead,
  EventRequest,
  History,
  OnBlock,
  OpenEventHistory,
  TimeWindow,
} from '../ports.ts'

export interface EventHistoryDeps {
  readonly history: Pick<History, 'stored'>
  /** Null where nothing is archived. */
  readonly files: CandleFiles | null
  /** Knows when the blocks behind a gap came. */
  readonly archive: Pick<ArchiveReader, 'segmentsFrom'> | null
  readonly after: After
}

/** Of the log, and of each reading of the files: a source may have to be asked afterwards. */
const READ_MAX_MS = 8_000
const UNAVAILABLE: Failure = {
  kind: 'unavailable',
  what: 'The history cannot be read at the moment',
  retryAfterMs: 1_000,
}

export function eventHistoryOf(deps: EventHistoryDeps): EventHistory {
  const open = (events: EventQuery) => inTime(deps, openHistory(deps, events))
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
async function inTime<T>({ after }: EventHistoryDeps, work: Promise<Result<T, Failure>>): Promise<Result<T, Failure>> {
  const refused = work.catch((error: unknown) => {
    if (error instanceof ReadFailure || error instanceof ArchiveDamage) return err(UNAVAILABLE)
    throw error
  })
  return orFallback(refused, READ_MAX_MS, err(UNAVAILABLE), after)
}

/** What a past is made of, as of one moment. */
interface OpenParts {
  readonly events: EventQuery
  readonly files: CandleFiles | null
  readonly held: FillHistory
  readonly seam: Seam
  readonly since: HeightAndTime
}

async function openHistory(deps: EventHistoryDeps, events: EventQuery): Promise<Result<OpenEventHistory, Failure>> {
  const { files } = deps
  // Of blocks of which the fills alone are known a ledger without events would be a lie, and so would be no funding.
  const isPaid = events.kind === 'funding'
  const need = isPaid ? 'payments' : events.kind !== 'fills' || events.isFunded ? 'events' : 'fills'
  const whole = files && (await archiveRead(files.coverage(need)))
  const cover = whole && (isPaid ? paidCoverage(whole) : events.isFunded ? fundedCoverage(whole) : whole)
  const held = await deps.history.stored(events.scope, events.kind, cover?.to.height)
  if (!held.ok) return held
  const seam = seamOf(held.value, cover)
  const parts = { events, files, held: held.value, seam, since: await sinceOf(deps, seam, held.value) }
  const past: OpenEventHistory = {
    head: parts.held.head,
    since: parts.since,
    async read(window, take) {
      let isLate = false
      const whileAwaited: OnBlock = (block, isAfterHole) => !isLate && take(block, isAfterHole)
      const read = await inTime(deps, readWindow(parts, window, whileAwaited).then(ok))
      isLate = true
      return read
    },
    funding(spans) {
      const inFiles = spans.filter(({ from }) => from <= seam.upTo)
      const clipped = inFiles.map((span) => ({ ...span, to: Math.min(span.to, seam.upTo) }))
      const paid = clipped.length > 0 ? files?.funding(clipped) : undefined
      return inTime(deps, archiveRead(paid ?? Promise.resolve([])).then(ok))
    },
  }
  return ok(past)
}

async function sinceOf({ archive }: EventHistoryDeps, { since }: Seam, held: FillHistory): Promise<HeightAndTime> {
  if (!('above' in since)) return since
  // A gap of files may end amid a segment.
  const segments = archive ? await archiveRead(archive.segmentsFrom({ height: since.above + 1 }, 2)) : []
  const segment = segments.find(({ first }) => first > since.above)
  return segment ? { height: segment.first, time: segment.firstMs } : held.since
}

async function readWindow(
  { events, files, held, seam, since }: OpenParts,
  window: TimeWindow,
  take: OnBlock,
): Promise<EventRead> {
  const tell = new BlockEmitter(window, seam, take)
  const ended = (how: EventRead['ended'], from = since): EventRead => {
    return { head: held.head, since: from.height > since.height ? from : since, ended: how }
  }
  // What is below the log is not younger than its first block.
  const isInFiles = files !== null && seam.upTo >= 0 && window.fromMs <= held.since.time
  const inFiles = async () => (isInFiles ? readFiles(files, { ...events, ...window }, seam, tell) : 'all')
  if (window.order === 'newest') {
    if (!tell.emit(seam.tail.toReversed())) return ended('enough')
    const how = await inFiles()
    const { last } = tell
    const isCut = how === 'work' || how === 'damage'
    return isCut ? ended(how, last !== null && last.height <= seam.upTo ? last : held.since) : ended(how)
  }
  const how = await inFiles()
  if (how === 'enough' || how === 'work') return ended(how)
  if (how === 'damage') tell.markHole()
  const isAll = tell.emit(seam.tail)
  if (how === 'damage') return ended(how, held.since)
  return ended(isAll ? 'all' : 'enough')
}

// Candles of the files, and of what the log has behind them. Invariant: the files are read first, so that the log, which forgets, is
// asked for what is behind them.

/** Null where none are kept. */
async function readCandles(
  { files, history }: { readonly files: CandleFiles | null; readonly history: Pick<History, 'stored'> },
  request: CandlesRequest,
): Promise<CandleHistory | null> {
  const filed = files?.candles ? await archiveRead(files.candles(request)) : null
  if (filed === null) return null
  const { coin } = request
  const held = needsLog(filed, request) ? await history.stored({ by: 'coin', coin }, 'fills', filed.to.height) : null
  return candleHistory(filed, held?.ok ? held.value : null, request)
}

// The files of the archive, read page by page. Invariant: pages join, also where one time goes on beyond a page.

/** Rows of one reading of the files: a page of most types, and what shows that its last time has ended. */
const PAGE_ROWS = 2_048
/** Rows that one call goes through in the files. */
const WORK_ROWS = 20_000

/** What R2 or D1 failed at: it may be right the next time. */
class ReadFailure extends Error {}

/** Tells damage and failures of the archive apart from each other. */
async function archiveRead<T>(read: Promise<T>): Promise<T> {
  try {
    return await read
  } catch (error) {
    throw error instanceof ArchiveDamage ? error : new ReadFailure()
  }
}

/** Page by page, until there is no more, or it is enough, or too much. */
async function readFiles(
  files: FilesReader,
  { kind, scope, fromMs, toMs, order }: EventRequest,
  { from, upTo }: Pick<Seam, 'from' | 'upTo'>,
  tell: BlockEmitter,
): Promise<EventRead['ended']> {
  let page: FilesRequest = { kind, scope, fromMs, toMs, from, upTo, order, limit: PAGE_ROWS }
  for (let rows = 0; rows < WORK_ROWS; ) {
    const read = await archiveRead(files.rows(page)).catch((error: unknown) => {
      if (error instanceof ArchiveDamage) return null
      throw error
    })
    if (read === null) return 'damage'
    if (!tell.emit(read.blocks)) return 'enough'
    const last = read.blocks.at(-1)
    if (read.isEnd || last === undefined) return 'all'
    rows += countOf(read.blocks)
    page = order === 'newest' ? { ...page, upTo: last.height - 1 } : fromLast(page, read.blocks, last.time)
  }
  return 'work'
}

/** From the last time on, which may go on: what was told of it comes once more. */
function fromLast(page: FilesRequest, blocks: readonly EventBlock[], lastMs: number): FilesRequest {
  const again = countOf(blocks.filter(({ time }) => time === lastMs))
  return { ...page, fromMs: lastMs, limit: PAGE_ROWS + again }
}

const countOf = (blocks: readonly EventBlock[]) =>
  blocks.reduce((sum, { fills, ledger = [] }) => sum + fills.length + ledger.length, 0)

// Tells the blocks of a window to whoever asked for them. Invariant: each once and in order, however often a page repeats it.

class BlockEmitter {
  readonly #window: TimeWindow
  readonly #seam: Seam
  readonly #take: OnBlock
  #isHoleNext = false
  /** The block that was told last. */
  last: HeightAndTime | null = null

  constructor(window: TimeWindow, seam: Seam, take: OnBlock) {
    this.#window = window
    this.#seam = seam
    this.#take = take
  }

  markHole(): void {
    this.#isHoleNext = true
  }

  /** False where somebody has enough. */
  emit(blocks: readonly EventBlock[]): boolean {
    return blocks.every((block) => this.#emit(block))
  }

  #emit(block: EventBlock): boolean {
    const { fromMs, toMs, order } = this.#window
    const { last } = this
    const isOnward = last === null || (order === 'newest' ? block.height < last.height : block.height > last.height)
    if (!isOnward || block.time < fromMs || block.time > toMs || this.#seam.isMissing(block.height)) return true
    const isAfterHole = this.#isHoleNext || (last !== null && this.#isBetween(block.height, last.height))
    this.#isHoleNext = false
    this.last = { height: block.height, time: block.time }
    return this.#take(block, isAfterHole)
  }

  #isBetween(one: number, other: number): boolean {
    return this.#seam.isHole(Math.min(one, other), Math.max(one, other))
  }
}
