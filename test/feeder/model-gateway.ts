// The gateway's side of the feed for tests: the log's own rules (block-log/chain.ts), a durable part, and books built
// from what came, so that a test can hold them against the node's.

import {
  type ChainState,
  conflictAtHello,
  EMPTY_CHAIN,
  type FeederState,
  gapAfterGone,
  judgeBlock,
  judgeSnapshot,
} from '../../src/block-log/chain.ts'
import { SeedIntake } from '../../src/block-log/seed-relay.ts'
import type { Block, Levels } from '../../src/protocol/feed/block.ts'
import { PartJoiner } from '../../src/protocol/feed/parts.ts'
import {
  type BlockFrame,
  FeederFrame,
  type GatewayFrame,
  type L4Book,
  type Pulse,
  type SnapshotFrame,
  type Verified,
} from '../../src/protocol/feed/protocol.ts'
import { bookDigest } from '../block-log/book-digest.ts'

type Entry =
  | { readonly kind: 'block'; readonly block: Block }
  | { readonly kind: 'seed'; readonly frame: SnapshotFrame }
  | { readonly kind: 'gap'; readonly from: number; readonly to: number }

interface State {
  readonly chain: ChainState
  readonly entries: number
}

const NOBODY: FeederState = { name: 'test', first: null, head: null, awaiting: null, conflict: null }

export class ModelGateway {
  readonly entries: Entry[] = []
  readonly pulses: Pulse[] = []
  readonly l4: L4Book[] = []
  chain: ChainState = EMPTY_CHAIN
  seeds = 0
  #durable: State = { chain: EMPTY_CHAIN, entries: 0 }
  #backups: State[] = []
  #feeder = NOBODY
  #joiner = new PartJoiner()
  verified = 0
  #seed: { readonly intake: SeedIntake; readonly books: Map<string, Levels> } | null = null
  /** `coin` → `px` → level, by side; null while the order books are unknown. */
  #books: Map<string, [Map<string, Level>, Map<string, Level>]> | null = null

  get durable(): number | null {
    return this.#durable.chain.height
  }

  connected(): void {
    this.#feeder = NOBODY
    this.#joiner = new PartJoiner()
    this.#seed = null
  }

  /** Processes a frame of the feeder and returns the gateway's reply. */
  received(text: string): GatewayFrame[] {
    const frame = FeederFrame.parse(JSON.parse(text))
    if (frame.type === 'hello') return this.#hello(frame)
    if (frame.type === 'pulse') {
      this.pulses.push(frame)
      return []
    }
    if (frame.type === 'gone') return this.#gone(frame.first)
    if (frame.type === 'snapshot') return this.#part(frame)
    if (frame.type === 'verified') return this.#compare(frame)
    if (frame.type === 'l4') {
      this.l4.push(frame)
      return []
    }
    this.#seed = null
    const joined = this.#joiner.push(frame)
    if (joined === null) return []
    if ('refused' in joined) return [{ type: 'error', field: 'part', message: joined.refused }]
    return this.#block(joined)
  }

  /** Makes received data durable, and returns the acknowledgement. */
  flush(): GatewayFrame[] {
    this.#durable = { chain: this.chain, entries: this.entries.length }
    this.#backups = [...this.#backups, this.#durable].slice(-20)
    return this.chain.height === null ? [] : [{ type: 'ack', height: this.chain.height }]
  }

  /** Returns to its state some flushes ago: acknowledged blocks are lost. */
  restore(flushes: number): void {
    this.#durable = this.#backups.at(-1 - flushes) ?? this.#durable
    this.#backups = [this.#durable]
    this.crash(true)
  }

  /** Loses what is not durable. Order books are rebuilt from the log, or become unknown. */
  crash(losesBooks: boolean): void {
    this.chain = losesBooks ? { ...this.#durable.chain, epoch: null, booksKnown: false } : this.#durable.chain
    this.entries.length = this.#durable.entries
    this.#books = null
    for (const entry of this.entries) this.#apply(entry)
    if (losesBooks) this.#books = null
    this.#durable = { chain: this.chain, entries: this.entries.length }
  }

  /** Coins and order books, null while they are unknown. */
  levels(): Map<string, Levels> | null {
    if (!this.#books) return null
    const sides = (side: Map<string, Level>, sign: number) =>
      [...side.values()].sort((a, b) => sign * (Number(a.px) - Number(b.px)))
    return new Map([...this.#books].map(([coin, [bids, asks]]) => [coin, [sides(bids, -1), sides(asks, 1)]]))
  }

  #hello(hello: Extract<FeederFrame, { type: 'hello' }>): GatewayFrame[] {
    this.#feeder = { ...NOBODY, first: hello.first, head: hello.head }
    const reason = conflictAtHello(this.chain, hello.head)
    if (reason) return [{ type: 'conflict', reason }]
    this.flush()
    const { epoch, height, booksKnown } = this.chain
    return [{ type: 'welcome', epoch: booksKnown ? epoch : null, height }]
  }

  #gone(first: number): GatewayFrame[] {
    const gap = gapAfterGone(this.chain, [], first)
    if (!gap) return []
    this.chain = { ...this.chain, height: gap.to, booksKnown: false }
    this.#enter({ kind: 'gap', ...gap })
    return []
  }

  #block({ type: _, ...block }: BlockFrame): GatewayFrame[] {
    const verdict = judgeBlock(this.chain, this.#feeder, block)
    if (verdict.do === 'ignore') return []
    if (verdict.do === 'acknowledge') return this.durable === null ? [] : [{ type: 'ack', height: this.durable }]
    if (verdict.do === 'resend') {
      this.#feeder = { ...this.#feeder, awaiting: verdict.from }
      return [{ type: 'resend', from: verdict.from }]
    }
    this.#feeder = { ...this.#feeder, awaiting: null }
    if (!this.chain.booksKnown && block.books !== null)
      throw new Error(`block ${block.height} carries changes of books that are not known here`)
    const booksKnown = this.chain.booksKnown && block.books !== null
    this.chain = { ...this.chain, height: block.height, booksKnown }
    this.#enter({ kind: 'block', block })
    return []
  }

  #compare({ height, books }: Verified): GatewayFrame[] {
    const levels = this.chain.height === height ? this.levels() : null
    for (const { coin, digest } of levels ? books : []) {
      this.verified++
      if (bookDigest(levels!.get(coin) ?? [[], []]) !== digest) throw new Error(`${coin} is not as verified`)
    }
    return []
  }

  #part(frame: SnapshotFrame): GatewayFrame[] {
    if (!frame.part) this.#seed = { intake: new SeedIntake(frame), books: new Map() }
    if (!this.#seed) throw new Error('a part came without those before it')
    const { intake, books } = this.#seed
    const wrong = intake.push(frame)
    if (wrong) throw new Error(`${wrong.field}: ${wrong.message}`)
    for (const { coin, levels } of frame.books) {
      const held = books.get(coin) ?? [[], []]
      books.set(coin, [
        [...held[0], ...levels[0]],
        [...held[1], ...levels[1]],
      ])
    }
    if (!intake.isComplete) return []
    this.#seed = null
    return this.#snapshot({ ...frame, books: [...books].map(([coin, levels]) => ({ coin, levels })) })
  }

  #snapshot(frame: SnapshotFrame): GatewayFrame[] {
    const verdict = judgeSnapshot(this.chain, this.#feeder, [], frame)
    if (verdict.do === 'ignore') return []
    if (verdict.do === 'refuse') return [{ type: 'error', field: verdict.field, message: verdict.message }]
    if (verdict.do === 'resend') return [{ type: 'resend', from: verdict.from }]
    if (verdict.do === 'seed') {
      this.seeds++
      this.chain = { epoch: `epoch-${this.seeds}`, height: frame.height, booksKnown: true }
    }
    this.#enter({ kind: 'seed', frame })
    return this.flush()
  }

  #enter(entry: Entry): void {
    this.entries.push(entry)
    this.#apply(entry)
  }

  #apply(entry: Entry): void {
    if (entry.kind === 'gap') this.#books = null
    else if (entry.kind === 'seed') this.#replace(entry.frame)
    else if (entry.block.books === null) this.#books = null
    else this.#change(entry.block.books)
  }

  #replace({ scope, books }: SnapshotFrame): void {
    if (scope === 'all') this.#books = new Map()
    for (const { coin, levels } of books)
      this.#books?.set(coin, [
        new Map(levels[0].map((level) => [level.px, level])),
        new Map(levels[1].map((level) => [level.px, level])),
      ])
  }

  #change(changes: NonNullable<Block['books']>): void {
    const books = this.#books
    if (!books) return
    for (const change of changes) {
      const isNew = !books.has(change.coin)
      if (isNew !== (change.new === true)) throw new Error(`${change.coin}: new is wrong`)
      if (isNew) books.set(change.coin, [new Map(), new Map()])
      const sides = books.get(change.coin)!
      for (const side of [0, 1] as const)
        for (const level of change.levels[side])
          if (level.n === 0) sides[side].delete(level.px)
          else sides[side].set(level.px, level)
    }
  }
}

type Level = Levels[0][number]
