// One subscriber of a channel with Snapshots between its subscription and the shared frames: it is served alone.
// Law: a coin's Snapshot of height s comes before its updates, and these are exactly the ones above s, in order.
//
// While Snapshots are still being fetched, blocks are held back; open() lets them go. From then on blocks pass
// through, filtered, until every coin's Snapshot lies behind what has gone out and the shared frame is the same.

import type { BookSnapshot } from '../../book/hub-api.ts'
import type { BlockTexts, BookChannel } from '../channel.ts'
import type { Emission } from './block-join.ts'

/** Blocks held back while Snapshots are fetched: about half a minute of the exchange. */
const MAX_HELD_BLOCKS = 512

const NOTHING: BlockTexts = { texts: [], broken: false }

export class Joiner {
  readonly #encode: BookChannel<unknown>['encode']
  /** Height of each coin's Snapshot. */
  readonly #from: Map<string, number>
  /** Per hub the highest Snapshot: below it the shared frame could repeat what the Snapshot has. */
  readonly #floor: Map<number, number>
  #held: Emission[] | null = []

  /** `before`: the joiner of a wildcard that this one takes over from, whose coins need no new Snapshot. */
  constructor({ encode }: Pick<BookChannel<unknown>, 'encode'>, before?: Joiner) {
    this.#encode = encode
    this.#from = new Map(before ? before.#from : [])
    this.#floor = new Map(before ? before.#floor : [])
  }

  /** A Snapshot goes out: the coin of `hub` is served from above its height. */
  joined({ coin, height }: Pick<BookSnapshot, 'coin' | 'height'>, hub: number): void {
    this.#from.set(coin, height)
    this.#floor.set(hub, Math.max(height, this.#floor.get(hub) ?? -1))
  }

  /** Drops what is held of coins that pass `had`: another subscription of the same socket has delivered it. */
  forget(had: (coin: string) => boolean): void {
    this.#held = (this.#held ?? []).map((block) => ({
      ...block,
      entries: block.entries.filter(({ coin }) => !had(coin)),
    }))
  }

  /** What this subscriber gets of a block; `overflow` where too many are held back. */
  push(block: Emission): BlockTexts | 'overflow' {
    if (!this.#held) return this.#filtered(block)
    if (this.#held.length >= MAX_HELD_BLOCKS) return 'overflow'
    this.#held.push(block)
    return NOTHING
  }

  /** All Snapshots have gone out: answers what was held back. */
  open(): BlockTexts {
    const held = (this.#held ?? []).map((block) => this.#filtered(block))
    this.#held = null
    return { texts: held.flatMap(({ texts }) => texts), broken: held.some(({ broken }) => broken) }
  }

  /** True where nothing at or below a Snapshot can come any more. `clearedOf`: see BlockJoin. */
  settled(clearedOf: (hub: number) => number): boolean {
    if (this.#held) return false
    for (const [hub, height] of this.#floor) if (clearedOf(hub) < height) return false
    return true
  }

  #filtered(block: Emission): BlockTexts {
    const entries = block.entries.filter(({ coin }) => block.height > (this.#from.get(coin) ?? -1))
    return entries.length > 0 ? this.#encode({ ...block, entries }) : NOTHING
  }
}
