// Measures what a hub does with a block, without the platform: it applies changes, writes fragments, and creates one
// frame for a relay that wants every coin. The hub runs once without checksums, and once with checksums of all
// coins.

import { RelayLink } from '../../src/order-books/relay-link.ts'
import { ShardBooks } from '../../src/order-books/shard-books.ts'
import { ShardViews } from '../../src/order-books/shard-views.ts'
import { CHECKSUM, coinInterest } from '../../src/order-books/view-interests.ts'
import type { BookChange, Level } from '../../src/protocol/feed/block.ts'
import { encodeFragment } from '../../src/protocol/hub/hub-link.ts'
import { median } from '../kit/statistics.ts'
import { type Line, times, us } from './table.ts'

const COINS = Array.from({ length: 300 }, (_, at) => `C${at}`)
const CHANGED = 75
const LEVELS_A_SIDE = 1_000
const BLOCKS = 100

/** Medians of passes of a hundred blocks, the two in turn, over one shard of all coins. */
export function hubLine(quick: boolean): Line {
  const hubs = [new Hub([]), new Hub(COINS.map((coin) => coinInterest(CHECKSUM, coin)))] as const
  const passes = Array.from({ length: quick ? 7 : 41 }, () => hubs.map((hub) => hub.pass()) as [number, number])
  const [plain, checked] = [0, 1].map((at) => median(passes.map((pass) => pass[at]!))) as [number, number]
  return {
    what: `a block of ${CHANGED} changed coins in a hub of ${COINS.length}, ${2 * LEVELS_A_SIDE} levels each, to a relay`,
    bare: `${us(plain)} (without checksums)`,
    weir: `${us(checked)} (with all)`,
    ratio: times(checked / plain),
  }
}

class Hub {
  readonly #books = new ShardBooks()
  readonly #views = new ShardViews(this.#books)
  readonly #relay: RelayLink
  #height = 1
  #sent = 0

  constructor(views: readonly string[]) {
    const books = COINS.map((coin) => {
      const side = (sign: 1 | -1) => Array.from({ length: LEVELS_A_SIDE }, (_, at) => levelAt(sign * (at + 1), at))
      return { coin, levels: [side(-1), side(1)] as [Level[], Level[]] }
    })
    this.#books.seed({ scope: 'all', epoch: 'e', height: 1, time: 0, part: 0, parts: 1, books })
    this.#relay = new RelayLink('r', { coins: [], types: ['perp'], views }, null, (text) => {
      this.#sent += text.length
    })
    this.#views.retain([this.#relay.views])
  }

  /** Microseconds a block. */
  pass(): number {
    const blocks = Array.from({ length: BLOCKS }, () => changesOf(++this.#height))
    const first = this.#height - BLOCKS + 1
    const start = performance.now()
    for (const [at, books] of blocks.entries()) this.#block(first + at, books)
    const tookMs = performance.now() - start
    if (this.#sent === 0) throw new Error('nothing was sent')
    return (tookMs * 1000) / BLOCKS
  }

  #block(height: number, books: BookChange[]): void {
    const outcome = this.#books.apply({ v: 1, t: 'block', epoch: 'e', height, time: height, books, px: {} })
    if (outcome.kind !== 'applied') throw new Error(outcome.kind)
    const fragments = this.#views.withChecksums(outcome.fragments, false)
    const texts = fragments.map((fragment) => ({ ...fragment, text: encodeFragment(fragment) }))
    this.#relay.send({ v: 1, epoch: 'e', height, time: height }, texts)
  }
}

/** Four levels near the best of each coin whose turn it is. */
function changesOf(height: number): BookChange[] {
  return Array.from({ length: CHANGED }, (_, at) => {
    const levels = [1, 2].map((depth) => [levelAt(-depth, height + at), levelAt(depth + 7, height + at)] as const)
    const coin = COINS[(height * CHANGED + at) % COINS.length]!
    return { coin, levels: [levels.map(([bid]) => bid), levels.map(([, ask]) => ask)] }
  })
}

function levelAt(steps: number, mix: number): Level {
  return { px: `${81_307 + steps}.0`, sz: `${1 + (mix % 17)}.${100 + (mix % 800)}25`, n: 1 + (mix % 9) }
}
