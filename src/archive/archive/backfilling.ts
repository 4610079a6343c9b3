// Blocks that were sent, into the archive, a body after the other. Laws: bodies do not meet; one that is refused has written
// nothing; one that comes again writes nothing again.

import type { BackfillAnswer } from './backfill-api.ts'
import type { BackfillSegment } from './backfill-cuts.ts'
import { backfillCuts, type Span } from './backfill-cuts.ts'
import type { BackfillBlock } from './backfill-lines.ts'

/** Removals begin at the bound: what is backfilled would be the first to go. */
const ROOM = 0.9

/** Of a body full of holes each piece is an object: so many are written in a turn, in seconds. */
const SEGMENTS_MOST = 100

export interface BackfillPorts {
  before(): Promise<{ readonly height: number } | null>
  around(first: number, last: number): Promise<Span[]>
  write(segments: readonly BackfillSegment[], around: readonly Span[]): Promise<number>
  /** Bytes of the whole archive, and the most that it keeps; null: it keeps all. */
  readonly bytes: number
  readonly mostBytes: number | null
  /** So many segments and bytes are there now beside. */
  added(segments: number, bytes: number): void
}

export class Backfilling {
  readonly #ports: BackfillPorts
  #last: Promise<unknown> = Promise.resolve()

  constructor(ports: BackfillPorts) {
    this.#ports = ports
  }

  /** The blocks are in order of height. */
  take(blocks: readonly BackfillBlock[]): Promise<BackfillAnswer> {
    const turn = this.#last.then(() => this.#take(blocks))
    this.#last = turn.catch(() => undefined)
    return turn
  }

  async #take(blocks: readonly BackfillBlock[]): Promise<BackfillAnswer> {
    const before = await this.#ports.before()
    if (before === null) return { refused: 'empty' }
    const { bytes, mostBytes } = this.#ports
    if (mostBytes !== null && bytes > mostBytes * ROOM) return { refused: 'full', bytes, mostBytes }
    const first = blocks[0]!.height
    const last = blocks.at(-1)!.height
    const around = await this.#ports.around(first, last)
    const all = backfillCuts(blocks, around, before.height)
    const segments = all.slice(0, SEGMENTS_MOST)
    const next = all[SEGMENTS_MOST]?.first ?? null
    if (segments.length === 0) return { blocks: 0, segments: 0, bytes: 0, next }
    const taken = await this.#ports.write(segments, around)
    this.#ports.added(segments.length, taken)
    const count = segments.reduce((sum, { events }) => sum + events.length, 0)
    return { blocks: count, segments: segments.length, bytes: taken, next }
  }
}
