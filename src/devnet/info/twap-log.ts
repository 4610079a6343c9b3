// What became of every wallet's TWAP orders, since this program began.

import type { DevnetBlock, NodeTwapStatus } from '../exchange/node-block.ts'
import { Tail } from '../exchange/tail.ts'

/** Events kept per wallet. */
const KEPT = 500

interface TwapEvent {
  /** Seconds. */
  readonly time: number
  readonly state: NodeTwapStatus['state']
  readonly status: { readonly status: NodeTwapStatus['status'] }
  readonly twapId: number
}

export class TwapLog {
  readonly #events = new Map<string, Tail<TwapEvent>>()

  note({ twapStatuses, timeMs }: Pick<DevnetBlock, 'twapStatuses' | 'timeMs'>): void {
    for (const { twap_id: twapId, state, status } of twapStatuses) {
      const tail = this.#events.get(state.user) ?? new Tail<TwapEvent>(KEPT)
      this.#events.set(state.user, tail)
      tail.push({ time: Math.floor(timeMs / 1_000), state, status: { status }, twapId })
    }
  }

  /** Newest first. */
  of(user: string): readonly TwapEvent[] {
    return this.#events.get(user)?.toArray().reverse() ?? []
  }
}
