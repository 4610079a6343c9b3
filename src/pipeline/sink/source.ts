// Where a pipeline's blocks come from: the archive, then what of the log is durable. Laws: each height once and in order, as a
// line or within a gap; where the archive ends the log goes on, and what the log has let go meanwhile the archive has.

import { fromChunks } from '../../core/chunks.ts'
import { visible } from '../../core/visible.ts'
import type { DurableLines, DurablePage } from '../../feed/durable-api.ts'
import { withoutPayments } from '../../feed/payments.ts'
import { ArchiveDamage } from '../../history/archive/archive-damage.ts'
import type { ArchivedSegment, ArchiveReader } from '../../history/archive/archive-read.ts'
import { CannotRun } from '../cannot-run.ts'
import type { LineKind } from '../topics/topic.ts'

/** Where to begin: at a height, with the first block of a time or later, or with the first that there is. */
export type Place = { readonly height: number } | { readonly timeMs: number } | { readonly first: true }

export type Piece =
  | { readonly height: number; readonly line: string; readonly orders?: string; readonly isArchived?: true }
  | { readonly from: number; readonly to: number; readonly why: string }

/** From which height on order statuses were known as the blocks up to another one were read first. */
export interface Known {
  readonly to: number
  readonly ordersFrom: number
}

export interface SourcePorts {
  /** Null: there is none, or it has nothing of the topic. */
  readonly archive: Pick<ArchiveReader, 'segmentsFrom' | 'lines' | 'last'> | null
  /** What of the log follows a height and is durable. */
  durable(from: number): Promise<DurablePage>
}

const WORDS_MOST = 100
const MISSING = 'nobody has these blocks'
export const DAMAGED = 'of these blocks the archive is damaged'

/** What is stored of a block does not change: to read it again may help once the reader is another one. */
export function unreadable(height: number, error: unknown): CannotRun {
  const words = visible(error instanceof Error ? error.message : String(error)).slice(0, WORDS_MOST)
  return new CannotRun(
    `block ${height} cannot be read, which the operator has to look at: ${words}. Set to run, it is tried again; ` +
      `"execution_start_from" "${height + 1}" goes on behind it`,
  )
}

export class Source {
  readonly #ports: SourcePorts
  readonly #kind: LineKind
  readonly #known: Known
  /** The height that comes next, null while it is not known. */
  #next: number | null = null
  #isOfLog = false
  /** The log asks to come again after this time. */
  retryMs = 0
  /** Of what was read since the last call: from here on order statuses are known; null: they are not asked for. */
  ordersFrom: number | null = null

  constructor(ports: SourcePorts, kind: LineKind, known: Known | null = null) {
    this.#ports = ports
    this.#kind = kind
    this.#known = known ?? { to: -1, ordersFrom: 0 }
  }

  /** Pieces from a place on, until nothing more is durable. Once it has ended, another call goes on behind the last piece. */
  async *pieces(place: Place): AsyncGenerator<Piece> {
    if ('height' in place) this.#next ??= place.height
    this.retryMs = 0
    this.ordersFrom = null
    for (;;) {
      if (!this.#isOfLog) yield* this.#archived(place)
      this.#isOfLog = true
      for await (const piece of this.#logged()) yield piece
      if (this.#isOfLog) return
    }
  }

  async *#archived(place: Place): AsyncGenerator<Piece> {
    const { archive } = this.#ports
    if (!archive) return
    for (;;) {
      const at = this.#next === null ? ('timeMs' in place ? place : { height: 0 }) : { height: this.#next }
      const [segment] = await archive.segmentsFrom(at, 1)
      if (!segment) break
      if (this.#next !== null && segment.first > this.#next) yield this.#gap(segment.first - 1, MISSING)
      yield* this.#lines(segment)
    }
    const last = this.#next === null ? await archive.last() : null
    if (last !== null) this.#next = last + 1
  }

  async *#lines(segment: ArchivedSegment): AsyncGenerator<Piece> {
    let height = segment.first
    this.#next ??= height
    try {
      for await (const line of this.#ports.archive!.lines(segment, this.#kind === 'books' ? 'books' : 'events')) {
        if (height >= this.#next) {
          this.#next = height + 1
          yield { height, line: withoutPayments(line), isArchived: true }
        }
        height++
      }
    } catch (error) {
      if (!(error instanceof ArchiveDamage)) throw error
    }
    if (this.#next <= segment.last) yield this.#gap(segment.last, DAMAGED)
  }

  async *#logged(): AsyncGenerator<Piece> {
    for (;;) {
      const { parts, retryMs = 0, ordersFrom } = await this.#ports.durable(this.#next ?? 0)
      this.retryMs = retryMs
      if (parts.length === 0) return
      if (this.#kind === 'orders') {
        const from = ordersFrom ?? Number.POSITIVE_INFINITY
        // So that all of a batch is read with one.
        if (from !== (this.ordersFrom ?? from)) return
        this.ordersFrom = from
      }
      for (const part of parts) {
        if (!('gap' in part)) {
          yield* this.#stored(part)
          continue
        }
        const { to } = part.gap
        if (await this.#hasArchived(to)) {
          this.#isOfLog = false
          return
        }
        this.#next ??= 0
        if (to >= this.#next) yield this.#gap(to, MISSING)
      }
    }
  }

  *#stored({ first, last, lines, orders = [] }: DurableLines): Generator<Piece> {
    this.#next ??= first
    const [texts, statuses] = [fromChunks(lines).split('\n'), fromChunks(orders).split('\n')]
    if (texts.length !== last - first + 1)
      throw unreadable(first, `the log has ${texts.length} lines of ${first} to ${last}`)
    for (const [at, line] of texts.entries()) {
      const height = first + at
      if (height < this.#next) continue
      let to = height
      while (to <= last && !this.#isKnown(to)) to++
      if (to > height) {
        yield this.#gap(to - 1, 'order statuses were not asked for yet')
        continue
      }
      this.#next = height + 1
      const own = statuses[at]
      yield { height, line, ...(own && { orders: own }) }
    }
  }

  /** Of a block that is not, order statuses may be missing. */
  #isKnown(height: number): boolean {
    const { to, ordersFrom } = this.#known
    return height >= (height <= to ? ordersFrom : (this.ordersFrom ?? 0))
  }

  /** What the log lacks may have come into the archive since that was asked. */
  async #hasArchived(to: number): Promise<boolean> {
    const segments = await this.#ports.archive?.segmentsFrom({ height: this.#next ?? 0 }, 1)
    return segments?.[0] !== undefined && segments[0].first <= to
  }

  #gap(to: number, why: string): Piece {
    const from = this.#next!
    this.#next = to + 1
    return { from, to, why }
  }
}
