// A book of what came of a coin on `l2BookDiff`, for whichever body of the connection. Law: where a Snapshot came and every
// change above it, in whatever order and beside whatever others, each level is as the last of them left it.

import { trimDecimal } from '../core/decimal.ts'
import { LevelBook } from '../order-books/level-book.ts'
import type { Level, Levels } from '../protocol/feed/block.ts'
import type { ChannelTypes } from './wire.ts'

/** A whole book of the stream. */
export type BookSnapshotData = Extract<ChannelTypes['l2BookDiff']['frame']['data'], { Snapshot: unknown }>['Snapshot']

export interface SeededBook {
  readonly coin: string
  /** Height of the Snapshot or of the last change. */
  readonly height: number
  /** Time of the block at `height`, ms. */
  readonly time: number
  /** Best first, `depth` levels a side. */
  levels(depth?: number): Levels
}

/** Bodies of one connection are told of a block within seconds of each other. */
const APART_BLOCKS = 256

interface Change {
  readonly height: number
  readonly level: Level
}

export class MergedBook implements SeededBook {
  readonly coin: string
  height = -1
  time = 0
  #book = new LevelBook()
  /** Height of the newest Snapshot. */
  #base = -1
  /** By price, the last changes above it. */
  #sides: readonly [Map<string, Change>, Map<string, Change>] = [new Map(), new Map()]
  #sweptAt = 0

  constructor(coin: string) {
    this.coin = coin
  }

  seed({ block_height: height, time, levels }: BookSnapshotData): void {
    if (height < this.#base) return
    this.#base = height
    this.#sweep(height)
    this.#book = LevelBook.of(levels)
    this.#book.apply(this.#sides.map((side) => [...side.values()].map(({ level }) => level)) as Levels)
    this.#moved(height, time)
  }

  /** False where it brought nothing that was not known. */
  apply(levels: Levels, height: number, time: number): boolean {
    if (height <= this.#base) return false
    const news: Levels = [take(this.#sides[0], levels[0], height), take(this.#sides[1], levels[1], height)]
    this.#book.apply(news)
    if (height - this.#sweptAt > APART_BLOCKS) this.#sweep(height - APART_BLOCKS)
    return this.#moved(height, time) || news.some((side) => side.length > 0)
  }

  levels(depth?: number): Levels {
    return this.#book.levels(depth)
  }

  #sweep(upTo: number): void {
    this.#sweptAt = this.height
    for (const side of this.#sides) for (const [px, { height }] of side) if (height <= upTo) side.delete(px)
  }

  #moved(height: number, time: number): boolean {
    if (height <= this.height) return false
    this.height = height
    this.time = time
    return true
  }
}

/** Those that are news to a side. Of one block a price may come twice: another spelling first removes the one before. */
function take(side: Map<string, Change>, levels: readonly Level[], height: number): Level[] {
  const news = levels.filter(({ px }) => (side.get(trimDecimal(px))?.height ?? -1) < height)
  for (const level of news) side.set(trimDecimal(level.px), { height, level })
  return news
}
