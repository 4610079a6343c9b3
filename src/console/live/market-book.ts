// The live book of one market: changes with checksums, a snapshot to begin with, and again whenever what came does not
// fit. Law: what is shown is the gateway's book, by its numbers and checksums, or is said not to be.

import { CoinBook } from '../../client/bootstrap.ts'
import { type Backoff, backoffMs } from '../../core/backoff.ts'
import type { Frame, Link, LinkRuntime } from './link.ts'
import type { Happening } from './timeline.ts'

export type BookState = 'syncing' | 'in step' | 'out of step' | 'gone' | 'refused'

export interface BookHearer {
  /** The book changed, or its state did. */
  changed(): void
  happened(kind: Happening['kind'], text: string): void
  /** The time of a block that came. */
  block(timeMs: number): void
}

const RETRY: Backoff = { firstMs: 300, capMs: 10_000, jitter: 0.5 }
/** A coin that does not exist may be listed later. */
const GONE_MS = 5_000

export class MarketBook {
  readonly book: CoinBook
  state: BookState = 'syncing'
  why = ''
  /** Of the last block that came, whether it changed this book or not. */
  height = -1
  blockMs = 0
  readonly #link: Link
  readonly #runtime: LinkRuntime
  readonly #hearer: BookHearer
  #leave: () => void
  #stop = () => {}
  #isAsked = false
  #attempt = 0
  #epoch = ''
  #isClosed = false

  constructor(link: Link, runtime: LinkRuntime, coin: string, hearer: BookHearer) {
    this.book = new CoinBook(coin)
    this.#link = link
    this.#runtime = runtime
    this.#hearer = hearer
    this.#leave = link.subscribe(
      { type: 'l2BookDiff2', coin, checksum: true },
      {
        acked: () => void this.#fetch(),
        frame: (frame) => this.#frame(frame),
        lost: () => this.#lost(),
        refused: (reason) => this.#become(/does not exist|no book/.test(reason) ? 'gone' : 'refused', reason, 'bad'),
      },
    )
  }

  close(): void {
    this.#isClosed = true
    this.#stop()
    this.#leave()
  }

  #frame({ data }: Frame): void {
    const batch = data?.Updates
    if (!batch) return
    const head = { epoch: batch.epoch, height: batch.block_height, time: batch.time }
    const diff = batch.book_diffs.find(({ coin }: { readonly coin: string }) => coin === this.book.coin)
    this.height = head.height
    this.blockMs = head.time
    this.#hearer.block(head.time)
    if (this.#epoch !== '' && head.epoch !== this.#epoch)
      this.#hearer.happened('wait', `The books began again: epoch ${String(head.epoch).slice(0, 8)}`)
    this.#epoch = head.epoch
    const change = diff && { seq: diff.seq, prevSeq: diff.prev_seq, levels: diff.levels, checksum: diff.checksum }
    const outcome = this.book.batch(head, change ?? null)
    if (outcome === 'refetch' || outcome === 'differs') {
      this.#become('out of step', this.book.why, 'bad')
      void this.#fetch(outcome === 'differs' ? backoffMs(RETRY, this.#attempt++, this.#runtime.random()) : 0)
    } else if (outcome === 'buffered' && change) void this.#fetch()
    this.#hearer.changed()
  }

  #lost(): void {
    this.#stop()
    this.#isAsked = false
    this.book.lost('the link is down')
    this.#become('out of step', 'the link is down', null)
  }

  /** One at a time. */
  async #fetch(inMs = 0): Promise<void> {
    if (this.#isAsked || this.#isClosed) return
    this.#isAsked = true
    if (inMs > 0) {
      this.#stop = this.#runtime.after(inMs, () => {
        this.#isAsked = false
        void this.#fetch()
      })
      return
    }
    if (this.state !== 'out of step') this.#become('syncing', 'the whole book is on its way', null)
    this.book.fetchBegan()
    const answer = await this.#link.ask({ type: 'l2BookDiffSnapshot', coin: this.book.coin })
    this.#isAsked = false
    if (this.#isClosed) return
    if (!answer.ok) {
      if (answer.reason === 'not connected' || this.state === 'refused') return
      if (!answer.lost) return this.#become('refused', answer.reason, 'bad')
      return void this.#fetch(backoffMs(RETRY, this.#attempt++, this.#runtime.random()))
    }
    if (answer.value === null) {
      this.#become('gone', 'the gateway has no such market', 'bad')
      return void this.#fetch(GONE_MS)
    }
    const outcome = this.book.snapshot(answer.value as Parameters<CoinBook['snapshot']>[0])
    if (outcome !== 'live') return void this.#fetch(backoffMs(RETRY, this.#attempt++, this.#runtime.random()))
    this.#attempt = 0
    this.#epoch = this.book.epoch
    this.height = Math.max(this.height, this.book.height)
    this.blockMs = Math.max(this.blockMs, this.book.time)
    this.#become('in step', '', 'good')
  }

  #become(state: BookState, why: string, told: Happening['kind'] | null): void {
    const isNew = this.state !== state
    this.state = state
    this.why = why
    if (told !== null && (isNew || told === 'bad')) {
      const where = state === 'in step' ? `: height ${this.book.height}, seq ${this.book.seq}` : `: ${why}`
      this.#hearer.happened(told, `${this.book.coin} ${state}${where}`)
    }
    this.#hearer.changed()
  }
}
