// Sends whole order-level books that the gateway asks for, out of a snapshot of the node: one snapshot for all that are
// asked for by then, a part at a time, as the socket takes them.

import { type NodeSnapshots, type SnapshotExchange, waitForHeight } from './node-snapshots.node.ts'
import type { FeedSession } from './session.ts'
import type { L4Selection } from './snapshot-thread.node.ts'
import { nodeTimeMs } from './streams.ts'

/** Twice what lies between any two, so that books that need repair get their turn. */
const GAP_MS = 2_000

interface L4SenderHost {
  readonly snapshots: NodeSnapshots
  readonly session: FeedSession
  readonly signal: AbortSignal
  /** Block time that the node's files tell of a height, null where they do not hold it. */
  timeOf(height: number): Promise<string | null>
  /** A part waits for the socket. */
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
    let wanted: L4Selection | null = null
    for await (const said of messages) {
      if (said.kind === 'height') {
        wanted = await this.#selectionFor(said.height)
        if (wanted.coins.size === 0) return
        reply(wanted)
      }
      if (said.kind !== 'l4' || !wanted) continue
      const { coin, isFirst, frame } = said
      const { height } = wanted
      const offer = l4.offer({ coin, isFirst, text: frame, height })
      this.#host.onOffered()
      const isTaken = await offer
      if (!isTaken && l4.coinsFor(height).length === 0) return
      reply(isTaken)
    }
  }

  /** What is wanted of a snapshot of this height, once its block was handed in. */
  async #selectionFor(height: number): Promise<L4Selection> {
    const { session, signal, timeOf } = this.#host
    await waitForHeight(height, signal, () => (session.next ?? 0) > height)
    const time = await timeOf(height)
    if (time === null) throw new Error(`the node's files do not hold its height ${height}`)
    const coins = new Set(session.l4.coinsFor(height))
    if (coins.size === 0 && session.l4.isDue) throw new Error(`its height ${height} is too old to be sent`)
    return { coins, height, time: nodeTimeMs(time) }
  }
}
