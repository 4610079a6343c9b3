// All that Weir has kept of a wallet, a builder or a coin, as one list of blocks: the log's, and behind them those of the
// files. Laws: each block is told once and in order, whichever of the two holds it; of what cannot be read nothing is told,
// and the reading says since when nothing is missing.

import { type After, orLate } from '../../core/deadline.ts'
import { err, ok } from '../../core/result.ts'
import type { EventBlock, HeightAndTime } from '../../feed/held-fills.ts'
import { ArchiveDamage } from '../../history/archive/archive-damage.ts'
import type { ArchiveReader } from '../../history/archive/archive-read.ts'
import type { FilesReader, FilesRequest } from '../../history/files/files-read.ts'
import { type Seam, seamOf } from '../../history/files/seam.ts'
import type { HeldFills } from '../../history/held-runs.ts'
import type { History, Past, PastRead, PastRequest } from '../ports.ts'

export interface PastDeps {
  readonly history: Pick<History, 'held'>
  /** Null where nothing is archived. */
  readonly files: FilesReader | null
  /** Knows when the blocks behind a gap came. */
  readonly archive: Pick<ArchiveReader, 'segmentsFrom'> | null
  readonly after: After
}

/** Rows of one reading of the files; a page of most types is as long. */
const PAGE_ROWS = 2_000
/** Rows that one call goes through in the files. */
const WORK_ROWS = 40_000
/** Of one call with all its readings: a source may have to be asked afterwards. */
const READ_MAX_MS = 8_000
const AWAY = {
  kind: 'unavailable',
  what: 'The history cannot be read at the moment',
  retryAfterMs: 1_000,
} as const

type Take = Parameters<Past['read']>[1]
type Ended = PastRead['ended']

export function pastOf(deps: PastDeps): Past {
  return {
    isDeep: deps.files !== null,
    async read(request, take) {
      let isLate = false
      const reading = readPast(deps, request, (block, isAfterHole) => !isLate && take(block, isAfterHole))
      const read = await orLate(reading.catch(unreadable), READ_MAX_MS, err(AWAY), deps.after)
      isLate = true
      return read
    },
  }
}

/** What R2 or D1 failed at. */
class Unreadable extends Error {}

/** Of bugs nothing is made. */
function unreadable(error: unknown) {
  if (error instanceof Unreadable || error instanceof ArchiveDamage) return err(AWAY)
  throw error
}

/** Damage is told apart from what may be right the next time. */
async function archived<T>(read: Promise<T> | undefined): Promise<T | null> {
  try {
    return (await read) ?? null
  } catch (error) {
    throw error instanceof ArchiveDamage ? error : new Unreadable()
  }
}

async function readPast(deps: PastDeps, request: PastRequest, take: Take) {
  const cover = await archived(deps.files?.cover())
  const held = await deps.history.held(request.scope, request.kind, cover?.to.height)
  if (!held.ok) return held
  const { head } = held.value
  const seam = seamOf(held.value, cover)
  const since = await sinceOf(deps, seam, held.value)
  const tell = new Telling(request, seam, take)
  const told = (ended: Ended, from: HeightAndTime = since) =>
    ok({ head, since: from.height > since.height ? from : since, ended })
  // What is below the log is older than its first block.
  const reader = request.fromMs > held.value.since.time || seam.upTo < 0 ? null : deps.files
  const files = async () => (reader === null ? 'all' : await tellFiles(reader, request, seam.upTo, tell))
  if (request.order === 'newest') {
    if (!tell.all(seam.tail.toReversed())) return told('enough')
    const ended = await files()
    const isCut = ended === 'work' || ended === 'damage'
    return isCut ? told(ended, tell.last && tell.last.height <= seam.upTo ? tell.last : held.value.since) : told(ended)
  }
  const ended = await files()
  if (ended === 'enough' || ended === 'work') return told(ended)
  if (ended === 'damage') tell.hole()
  const isAll = tell.all(seam.tail)
  if (ended === 'damage') return told(ended, held.value.since)
  return told(isAll ? 'all' : 'enough')
}

async function sinceOf({ archive }: PastDeps, { since }: Seam, held: HeldFills): Promise<HeightAndTime> {
  if (!('above' in since)) return since
  const [segment] = (await archived(archive?.segmentsFrom({ height: since.above + 1 }, 1))) ?? []
  return segment && segment.first > since.above ? { height: segment.first, time: segment.firstMs } : held.since
}

/** Page by page, until there is no more, or it is enough, or too much. */
async function tellFiles(files: FilesReader, request: PastRequest, upTo: number, tell: Telling): Promise<Ended> {
  let page: FilesRequest = { ...request, upTo, limit: PAGE_ROWS }
  for (let rows = 0; rows < WORK_ROWS; ) {
    const read = await archived(files.rows(page)).catch((error: unknown) => {
      if (error instanceof ArchiveDamage) return 'damage' as const
      throw error
    })
    if (read === 'damage' || read === null) return 'damage'
    const { blocks, isEnd } = read
    if (!tell.all(blocks)) return 'enough'
    const last = blocks.at(-1)
    if (isEnd || last === undefined) return 'all'
    rows += countOf(blocks)
    if (request.order === 'newest') page = { ...page, upTo: last.height - 1, toMs: Math.min(page.toMs, last.time) }
    // From the last time on, which may go on: what of it was told comes once more.
    else
      page = { ...page, fromMs: last.time, limit: PAGE_ROWS + countOf(blocks.filter(({ time }) => time === last.time)) }
  }
  return 'work'
}

const countOf = (blocks: readonly EventBlock[]) =>
  blocks.reduce((sum, { fills, ledger = [] }) => sum + fills.length + ledger.length, 0)

/** Tells blocks, each once. */
class Telling {
  readonly #request: PastRequest
  readonly #isHole: Seam['isHole']
  readonly #take: Take
  #isHoleNext = false
  /** The block that was come to last. */
  last: HeightAndTime | null = null

  constructor(request: PastRequest, { isHole }: Seam, take: Take) {
    this.#request = request
    this.#isHole = isHole
    this.#take = take
  }

  /** Whatever is told next comes after a hole. */
  hole(): void {
    this.#isHoleNext = true
  }

  /** False where somebody has enough. */
  all(blocks: readonly EventBlock[]): boolean {
    return blocks.every((block) => this.#tell(block))
  }

  #tell(block: EventBlock): boolean {
    const { fromMs, toMs, order } = this.#request
    const last = this.last
    const isOnward = last === null || (order === 'newest' ? block.height < last.height : block.height > last.height)
    if (!isOnward || block.time < fromMs || block.time > toMs) return true
    const [lower, upper] = order === 'newest' ? [block, last] : [last, block]
    const isAfterHole =
      this.#isHoleNext || (lower !== null && upper !== null && this.#isHole(lower.height, upper.height))
    this.#isHoleNext = false
    this.last = { height: block.height, time: block.time }
    return this.#take(block, isAfterHole)
  }
}
