// Stored history of a wallet, a builder or a coin as one list of blocks: the log, then the archive files. Invariants:
// each block is passed once and in order, from whichever source has it; unreadable data is skipped, and the result
// states the block from which the history is complete.

import { ArchiveDamage, type ArchiveReader } from '../../archive/archive/archive-read.ts'
import { type CandleHistory, candleHistory, needsLog } from '../../archive/candle-history.ts'
import { type CandlesRequest, EVER_MS, windowBefore, withFlatCandles } from '../../archive/candles.ts'
import type { CandleFiles, FilesReader, FilesRequest } from '../../archive/files/files-read.ts'
import { fundedCoverage, paidCoverage, type Seam, seamOf } from '../../archive/files/seam.ts'
import type { FillHistory } from '../../archive/funding-spans.ts'
import { PositionFold } from '../../archive/positions.ts'
import type { Coin } from '../../core/coin.ts'
import { type After, orFallback } from '../../core/deadline.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { EventBlock, HeightAndTime } from '../../protocol/feed/durable-api.ts'
import type {
  CoinPositions,
  EventHistory,
  EventQuery,
  EventRead,
  EventRequest,
  History,
  OnBlock,
  OpenEventHistory,
  TimeWindow,
} from '../ports.ts'
import { aboveHead } from './own-positions.ts'

export interface EventHistoryDeps {
  readonly history: Pick<History, 'stored'>
  /** Null if there is no archive. */
  readonly files: CandleFiles | null
  /** Provides block times after a gap. */
  readonly archive: Pick<ArchiveReader, 'segmentsFrom'> | null
  readonly after: After
  /** Whether periods without trades have flat candles. */
  readonly hasFlatCandles?: boolean
}

/** Time limit of each read. It leaves time for an upstream request afterwards. */
const READ_MAX_MS = 8_000
const NOT_WRITTEN: Failure = {
  kind: 'unavailable',
  what: 'The positions at this height are still being written',
  retryAfterMs: 60_000,
}
const UNAVAILABLE: Failure = {
  kind: 'unavailable',
  what: 'The history is temporarily unavailable',
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
    positions: (coin, height) => inTime(deps, readPositions(deps, coin, height)),
    async candles(request) {
      const readAll = deps.hasFlatCandles ? readWithFlatCandles : readCandles
      const read = await inTime(deps, readAll(deps, request).then(ok))
      return read.ok ? read.value && ok(read.value) : read
    },
  }
}

/** Turns archive failures into `unavailable`; other errors are bugs and propagate. */
async function inTime<T>({ after }: EventHistoryDeps, work: Promise<Result<T, Failure>>): Promise<Result<T, Failure>> {
  const refused = work.catch((error: unknown) => {
    if (error instanceof ReadFailure || error instanceof ArchiveDamage) return err(UNAVAILABLE)
    throw error
  })
  return orFallback(refused, READ_MAX_MS, err(UNAVAILABLE), after)
}

/** Parts of a consistent view of the history. */
interface OpenParts {
  readonly events: EventQuery
  readonly files: CandleFiles | null
  readonly held: FillHistory
  readonly seam: Seam
  readonly since: HeightAndTime
}

async function openHistory(deps: EventHistoryDeps, events: EventQuery): Promise<Result<OpenEventHistory, Failure>> {
  const { files } = deps
  // Blocks with fills only must not appear as an empty ledger or as zero funding.
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
  // A gap in the files may end within a segment.
  const segments = archive ? await archiveRead(archive.segmentsFrom({ height: since.above + 1 }, 2)) : []
  const segment = segments.find(({ first }) => first > since.above)
  return segment ? { height: segment.first, time: segment.firstMs } : held.since
}

async function readWindow(
  { events, files, held, seam, since }: OpenParts,
  window: TimeWindow,
  take: OnBlock,
): Promise<EventRead> {
  const emitter = new BlockEmitter(window, seam, take)
  const ended = (how: EventRead['ended'], from = since): EventRead => {
    return { head: held.head, since: from.height > since.height ? from : since, ended: how }
  }
  // Blocks below the log are not newer than its first block.
  const isBelowLog = window.order === 'newest' || (window.from ?? 0) <= seam.upTo
  const isInFiles = files !== null && seam.upTo >= 0 && isBelowLog && window.fromMs <= held.since.time
  const inFiles = async () => (isInFiles ? readFiles(files, { ...events, ...window }, seam, emitter) : 'all')
  if (window.order === 'newest') {
    if (!emitter.emit(seam.tail.toReversed())) return ended('enough')
    const how = await inFiles()
    const { last } = emitter
    const isCut = how === 'work' || how === 'damage'
    return isCut ? ended(how, last !== null && last.height <= seam.upTo ? last : held.since) : ended(how)
  }
  const how = await inFiles()
  if (how === 'enough' || how === 'work') return ended(how)
  if (how === 'damage') emitter.markHole()
  const isAll = emitter.emit(seam.tail)
  if (how === 'damage') return ended(how, held.since)
  return ended(isAll ? 'all' : 'enough')
}

/** Positions from the files, continued by the log. */
async function readPositions(
  deps: EventHistoryDeps,
  coin: Coin,
  asOf: number | undefined,
): Promise<Result<CoinPositions, Failure>> {
  const { files } = deps
  const cover = files?.positions ? await archiveRead(files.coverage('fills')) : null
  const held = await deps.history.stored({ by: 'coin', coin }, 'fills', cover?.to.height)
  if (!held.ok) return held
  const { head } = held.value
  const height = asOf ?? head.height
  if (height > head.height) return err(aboveHead(head.height))
  const seam = seamOf(held.value, cover)
  const inFiles = seam.upTo < 0 ? undefined : files?.positions?.(coin, Math.min(height, seam.upTo))
  const fold = inFiles ? await archiveRead(inFiles) : new PositionFold()
  if (fold === null) return err(NOT_WRITTEN)
  for (const block of seam.tail) if (block.height <= height) fold.addFills(block.fills, block, coin)
  const since = await sinceOf(deps, seam, held.value)
  return ok({ head, since, height, lastGap: lastGapOf(seam, height), byUser: fold.byUser })
}

/** The lowest height from which no block is missing up to `height`. */
function lastGapOf({ isHole, isKnown }: Seam, height: number): number {
  if (!isKnown(height)) return height + 1
  let low = 0
  let high = height
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (isHole(middle, height)) low = middle + 1
    else high = middle
  }
  return low
}

// Candles from the files, continued by the log. Invariant: the files are read first, because the log forgets old
// blocks.

/** Also reads the nearest candles outside the window, so that its flat candles do not depend on where it begins and ends. */
async function readWithFlatCandles(deps: CandleDeps, request: CandlesRequest): Promise<CandleHistory | null> {
  const inside = await readCandles(deps, request)
  if (inside === null) return null
  const { candles, untilMs, head } = inside
  const { fromMs, toMs, interval, limit } = request
  const isHeadLater = untilMs === null && candles.length < limit && head !== null && head.time > toMs
  const [before, after] = await Promise.all([
    candles[0]?.t === fromMs ? null : readCandles(deps, { ...request, ...windowBefore(interval, fromMs) }),
    isHeadLater ? readCandles(deps, { ...request, fromMs: toMs + 1, toMs: EVER_MS, limit: 1 }) : null,
  ])
  const nearest = [...(before?.candles.slice(-1) ?? []), ...candles, ...(after?.candles.slice(0, 1) ?? [])]
  const parts = [before, inside, after]
  const flat = withFlatCandles(nearest, request, (span) => parts.some((part) => part?.isIncomplete(span)))
  return { ...inside, candles: flat }
}

type CandleDeps = Pick<EventHistoryDeps, 'files' | 'history'>

/** Null if no candles are stored. */
async function readCandles({ files, history }: CandleDeps, request: CandlesRequest): Promise<CandleHistory | null> {
  const filed = files?.candles ? await archiveRead(files.candles(request)) : null
  if (filed === null) return null
  const { coin } = request
  const held = needsLog(filed, request) ? await history.stored({ by: 'coin', coin }, 'fills', filed.to.height) : null
  return candleHistory(filed, held?.ok ? held.value : null, request)
}

// Reads the archive files page by page. Invariant: pages are contiguous, because each continues after a whole block.

/** Rows per page. One page holds enough rows for a response of most types. */
const PAGE_ROWS = 2_048
/** Maximum rows that one call reads from the files. */
const WORK_ROWS = 20_000

/** R2 or D1 failed; a retry may succeed. */
class ReadFailure extends Error {}

/** Distinguishes damaged data from storage failures. */
async function archiveRead<T>(read: Promise<T>): Promise<T> {
  try {
    return await read
  } catch (error) {
    throw error instanceof ArchiveDamage ? error : new ReadFailure()
  }
}

/** Reads pages until the end, until `take` stops, or until the row limit. */
async function readFiles(
  files: FilesReader,
  { kind, scope, fromMs, toMs, order, from }: EventRequest,
  seam: Pick<Seam, 'from' | 'upTo'>,
  emitter: BlockEmitter,
): Promise<EventRead['ended']> {
  const range =
    order === 'newest'
      ? { from: seam.from, upTo: Math.min(seam.upTo, from ?? seam.upTo) }
      : { from: Math.max(seam.from, from ?? 0), upTo: seam.upTo }
  let page: FilesRequest = { kind, scope, fromMs, toMs, ...range, order, limit: PAGE_ROWS }
  for (let rows = 0; rows < WORK_ROWS; ) {
    const read = await archiveRead(files.rows(page)).catch((error: unknown) => {
      if (error instanceof ArchiveDamage) return null
      throw error
    })
    if (read === null) return 'damage'
    if (!emitter.emit(read.blocks)) return 'enough'
    const last = read.blocks.at(-1)
    if (read.isEnd || last === undefined) return 'all'
    rows += countOf(read.blocks)
    page = order === 'newest' ? { ...page, upTo: last.height - 1 } : { ...page, from: last.height + 1 }
  }
  return 'work'
}

const countOf = (blocks: readonly EventBlock[]) =>
  blocks.reduce((sum, { fills, ledger = [] }) => sum + fills.length + ledger.length, 0)

// Passes the blocks of a window to the caller. Invariant: each once and in order, even if pages repeat blocks.

class BlockEmitter {
  readonly #window: TimeWindow
  readonly #seam: Seam
  readonly #take: OnBlock
  #isHoleNext = false
  /** Height of the last block passed, or the height before the first one. */
  #passed: number | null
  /** The last block passed. */
  last: HeightAndTime | null = null

  constructor(window: TimeWindow, seam: Seam, take: OnBlock) {
    this.#window = window
    this.#seam = seam
    this.#take = take
    const { from, order } = window
    this.#passed = from === undefined ? null : order === 'newest' ? from + 1 : from - 1
  }

  markHole(): void {
    this.#isHoleNext = true
  }

  /** Returns false when the caller wants no more. */
  emit(blocks: readonly EventBlock[]): boolean {
    return blocks.every((block) => this.#emit(block))
  }

  #emit(block: EventBlock): boolean {
    const { fromMs, toMs, order } = this.#window
    const passed = this.#passed
    const isOnward = passed === null || (order === 'newest' ? block.height < passed : block.height > passed)
    if (!isOnward || block.time < fromMs || block.time > toMs || this.#seam.isMissing(block.height)) return true
    const isAfterHole = this.#isHoleNext || (passed !== null && this.#isHoleBefore(block.height, passed))
    this.#isHoleNext = false
    this.#passed = block.height
    this.last = { height: block.height, time: block.time }
    return this.#take(block, isAfterHole)
  }

  #isHoleBefore(height: number, passed: number): boolean {
    const { from } = this.#window
    if (height === from) return false
    // The height that was passed may be missing too by now.
    const isFirst = this.last === null && from !== undefined
    return (
      (isFirst && !this.#seam.isKnown(from)) || this.#seam.isHole(Math.min(height, passed), Math.max(height, passed))
    )
  }
}
