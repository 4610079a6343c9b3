// The feeder's pure parts combined as in feeder.node.ts, with a node in memory and without waiting.

import {
  CheckpointPass,
  CheckpointReader,
  decodeCheckpointEnd,
  decodeCheckpointHead,
} from '../../src/feeder/checkpoint.ts'
import { type BlockPosition, OrderBookProjector } from '../../src/feeder/order-book-projector.ts'
import { Pairing } from '../../src/feeder/pairing.ts'
import { Producer } from '../../src/feeder/producer.ts'
import { resumePoint } from '../../src/feeder/resume-point.ts'
import { type Command, FeedSession, type Reposition } from '../../src/feeder/session.ts'
import { coinNameOf, l4Frames, SnapshotScanner } from '../../src/feeder/snapshot-file.ts'
import { nodeTimeMs } from '../../src/feeder/streams.ts'
import type { GatewayFrame } from '../../src/protocol/feed/protocol.ts'
import { drained } from './drained.ts'
import type { ModelNode } from './model-node.ts'

export class ModelFeeder {
  readonly session = new FeedSession()
  readonly keeper = new OrderBookProjector()
  readonly said: string[] = []
  readonly #node: ModelNode
  readonly #producer: Producer
  readonly #checkpoints: readonly string[][]
  readonly #name: string
  #pairing: Pairing | null = null
  #read = 0
  #reposition: Reposition | null = null
  #pass: CheckpointPass | null = null
  #lines: string[] = []
  #whole: { readonly texts: string[]; readonly height: number } | null = null

  /** `first`: lowest height that the node still has. */
  constructor(node: ModelNode, checkpoints: readonly string[][], first: () => number, name = 'f') {
    this.#name = name
    this.#node = node
    this.#checkpoints = checkpoints
    this.#first = first
    this.#producer = new Producer(this.keeper, this.session, { take: () => null }, (sentence) =>
      this.said.push(sentence),
    )
  }
  readonly #first: () => number

  connect(nowMs: number): string {
    return this.session.onOpen({ chain: 'c', feeder: this.#name, first: this.#first(), head: this.#node.head }, nowMs)
  }

  received(frame: GatewayFrame, nowMs: number): Command[] {
    const orders = this.session.onFrame(frame, nowMs)
    for (const order of orders) if (order.do === 'reposition') this.#reposition = order.to
    return orders
  }

  /** Reads up to `blocks` heights. */
  work(blocks: number): void {
    if (this.#reposition) this.#move(this.#reposition)
    this.#handOver()
    void this.#offerL4()
    for (let i = 0; i < blocks && this.#pairing; i++) {
      const block = this.#node.block(this.#read)
      if (block) {
        for (const [stream, text] of [['statuses', block.statuses] as const, ...block.lines])
          this.#pairing.push(stream, { height: block.height, time: block.time, text }, 0)
        // Every existing line was pushed.
        this.#pairing.onEnd('misc', Number.POSITIVE_INFINITY)
        this.#read++
      }
      const paired = this.#pairing.take()
      if (paired === 'started_over') throw new Error('the model contradicts itself')
      if (paired) drained(this.#producer.accept(paired))
      this.#handOver()
    }
  }

  #handOver(): void {
    while (this.#producer.handOverBooks());
  }

  /** The node answers a fileSnapshot. Of known order books only those of suspect coins are replaced. */
  snapshot(): void {
    if (!this.#pairing || !this.keeper.needsSnapshot) return
    const coins = this.keeper.books ? new Set(this.keeper.books.suspects) : 'all'
    this.keeper.offerSnapshot({ height: this.#node.head, books: this.#node.books(), coins })
  }

  /** The node answers a fileSnapshot requested for order-level books. */
  l4(): void {
    if (!this.session.l4.isDue) return
    const scanner = new SnapshotScanner()
    const texts = scanner.push(this.#node.snapshotText())
    this.#whole = { texts, height: scanner.height! }
  }

  /** Offers its parts, as the sender does. */
  async #offerL4(): Promise<void> {
    const whole = this.#whole
    if (!whole || (this.session.next ?? 0) <= whole.height) return
    this.#whole = null
    const { l4 } = this.session
    const { height, texts } = whole
    const time = nodeTimeMs(this.#node.block(height)!.time)
    const of = new Map(texts.map((text) => [coinNameOf(text), text]))
    for (const coin of l4.coinsFor(height)) {
      const frames = l4Frames(of.get(coin) ?? JSON.stringify([coin, [[], []]]), { height, time }, 2_000)
      for (const [part, text] of frames.entries())
        if (!(await l4.offer({ coin, height, isFirst: part === 0, text }))) break
    }
  }

  /** The node answers a fileSnapshot requested to compare the order books, which match it. */
  verify(): void {
    if (this.#pairing && this.keeper.books) this.keeper.confirm(new Set())
  }

  /** Continues a checkpoint, a few orders at a time. Returns it once it is complete. */
  checkpoint(): { height: number; lines: string[] } | null {
    const { books, position } = this.keeper
    if (!books || !position?.time || !this.keeper.isAligned) return null
    if (!this.#pass?.isOf(books)) {
      this.#pass = new CheckpointPass('c', position, books, 4)
      this.#lines = [this.#pass.head]
    }
    const { height, end } = this.#pass
    const lines = this.#pass.step(position)
    this.#lines.push(...(lines ?? [end]))
    if (lines) return null
    this.#pass = null
    return { height, lines: this.#lines }
  }

  #move(target: Reposition): void {
    this.#reposition = null
    const files = { first: this.#first(), head: this.#node.head, headTime: this.#node.block(this.#node.head)!.time }
    const memory =
      this.keeper.books && this.keeper.isAligned && this.keeper.position?.time ? this.keeper.position : null
    const heads = this.#checkpoints.map((lines) => ({
      ...decodeCheckpointEnd(lines.at(-1)!),
      from: decodeCheckpointHead(lines[0]!),
    }))
    const point = resumePoint(target, files, memory, heads)
    if (point.books === 'checkpoint') {
      const at = heads.findIndex(({ height }) => height === point.checkpoint)
      const reader = new CheckpointReader()
      for (const line of this.#checkpoints[at]!.slice(1)) reader.push(line)
      this.keeper.startAt(heads[at]!.from, reader.books, reader.heights)
    }
    let { readFrom, sendFrom } = point
    if (point.books === 'snapshot') this.keeper.startAt(readFrom === null ? null : this.#place(readFrom - 1), null)
    if (readFrom === null) {
      this.keeper.offerSnapshot({ height: this.#node.head, books: this.#node.books(), coins: 'all' })
      readFrom = this.#node.head
      sendFrom = readFrom + 1
    }
    this.#pairing = new Pairing(readFrom, null, ['diffs', 'fills', 'misc', 'statuses'])
    this.#read = readFrom
    this.session.startFrom(sendFrom!, point.needsSeed, point.gone)
  }

  #place(height: number): BlockPosition {
    return { height, time: this.#node.block(height)?.time ?? '' }
  }
}
