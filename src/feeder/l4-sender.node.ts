// Sends the order-level books that the gateway requests, part by part, as fast as the socket accepts them. One snapshot
// from the node serves all requests.

import { type NodeSnapshots, type SnapshotExchange, waitForHeight } from './node-snapshots.node.ts'
import type { FeedSession } from './session.ts'
import type { L4Selection } from './snapshot-thread.node.ts'
import { nodeTimeMs } from './streams.ts'

/** Pause after a snapshot: twice the minimum gap between snapshots, so that a repair can get one in between. */
const GAP_MS = 2_000

interface L4SenderHost {
  readonly snapshots: NodeSnapshots
  readonly session: FeedSession
  readonly signal: AbortSignal
  /** Block time of a height in the node's files; null if they do not contain it. */
  timeOf(height: number): Promise<string | null>
  /** Called when a part waits for the socket. */
  onOffered(): void
}

export class L4Sender {
  readonly #host: L4SenderHost
  #isBusy = false
  #nextAt = 0

  constructor(host: L4SenderHost) {
    this.#host = host
  }

  /** Asks the node for a snapshot if one is due. */
  tick(nowMs: number): void {
    const { session, snapshots } = this.#host
    if (!session.l4.isDue || this.#isBusy || nowMs < this.#nextAt || !snapshots.isReady(nowMs)) return
    this.#isBusy = true
    void snapshots
      .read('l4', (talk) => this.#serve(talk))
      .finally(() => {
        this.#isBusy = false
        this.#nextAt = performance.now() + GAP_MS
      })
  }

  async #serve({ messages, reply }: SnapshotExchange): Promise<void> {
    const { l4 } = this.#host.session
    let selection: L4Selection | null = null
    for await (const message of messages) {
      if (message.kind === 'height') {
        selection = await this.#selectionFor(message.height)
        if (selection.coins.size === 0) return
        reply(selection)
      }
      if (message.kind !== 'l4' || !selection) continue
      const { coin, isFirst, frame } = message
      const { height } = selection
      const offer = l4.offer({ coin, isFirst, text: frame, height })
      this.#host.onOffered()
      const isTaken = await offer
      if (!isTaken && l4.coinsFor(height).length === 0) return
      reply(isTaken)
    }
  }

  /** Waits until the block of the snapshot's height has been sent. Returns the coins to read from the snapshot. */
  async #selectionFor(height: number): Promise<L4Selection> {
    const { session, signal, timeOf } = this.#host
    await waitForHeight(height, signal, () => (session.next ?? 0) > height)
    const time = await timeOf(height)
    if (time === null) throw new Error(`the node's files do not contain its height ${height}`)
    const coins = new Set(session.l4.coinsFor(height))
    if (coins.size === 0 && session.l4.isDue) throw new Error(`its height ${height} is too old`)
    return { coins, height, time: nodeTimeMs(time) }
  }
}
