// Order books rebuilt only from raw book diffs, as any reader of the node's files does it.

import { createHash } from 'node:crypto'
import { compareDecimals, fromScaled, toScaled } from '../../src/core/decimal.ts'
import type { NodeBookDiff } from '../../src/devnet/exchange/node-block.ts'
import { canonicalBook } from '../../src/order-books/canonical.ts'
import type { Level, Levels } from '../../src/protocol/feed/block.ts'

interface Resting {
  readonly coin: string
  readonly side: 'B' | 'A'
  readonly px: string
  sz: string
}

export class RebuiltBooks {
  readonly #orders = new Map<number, Resting>()

  /** Throws on a diff that contradicts the earlier ones. */
  apply(diffs: readonly NodeBookDiff[]): void {
    for (const { oid, coin, side, px, raw_book_diff: diff } of diffs) {
      const known = this.#orders.get(oid)
      if (diff === 'remove') {
        if (!this.#orders.delete(oid)) throw new Error(`remove of unknown order ${oid}`)
      } else if ('new' in diff) {
        if (known !== undefined) throw new Error(`order ${oid} is new twice`)
        this.#orders.set(oid, { coin, side, px, sz: diff.new.sz })
      } else {
        if (known?.sz !== diff.update.origSz || known.px !== px) throw new Error(`update of order ${oid} does not fit`)
        known.sz = diff.update.newSz
      }
    }
  }

  levels(coin: string): Levels {
    const side = (wanted: 'B' | 'A'): Level[] => {
      const byPx = new Map<string, { sz: bigint; n: number }>()
      for (const order of this.#orders.values()) {
        if (order.coin !== coin || order.side !== wanted) continue
        const { sz, n } = byPx.get(order.px) ?? { sz: 0n, n: 0 }
        byPx.set(order.px, { sz: sz + toScaled(order.sz), n: n + 1 })
      }
      const sign = wanted === 'B' ? -1 : 1
      return [...byPx]
        .sort(([a], [b]) => sign * compareDecimals(a, b))
        .map(([px, { sz, n }]) => ({ px, sz: fromScaled(sz), n }))
    }
    return [side('B'), side('A')]
  }

  hash(coin: string): string {
    return createHash('sha256')
      .update(canonicalBook(this.levels(coin)))
      .digest('hex')
  }
}
