// Runs the market maker's rules over recorded blocks of one coin. The same blocks give the same numbers.

import { Big } from 'big.js'
import { PaperExchange, type PaperSettings, type Trade } from './paper-exchange.ts'
import { FillQuality, ProfitCurve } from './performance.ts'
import { Quoter, type QuoterSettings } from './quoter.ts'
import { ReplayBook } from './replay-book.ts'
import type { Levels } from './venue.ts'

export class Backtester {
  readonly exchange: PaperExchange
  readonly curve = new ProfitCurve()
  readonly quality = new FillQuality()
  readonly #quoter: Quoter
  readonly #book = new ReplayBook()
  #isKnown = false
  /** Mid price of the last block with both sides. */
  mid = new Big(0)
  volume = new Big(0)
  largestPosition = new Big(0)
  gaps = 0
  trades = 0

  constructor(settings: QuoterSettings, paper: PaperSettings) {
    this.exchange = new PaperExchange(
      paper,
      (fill) => {
        this.quality.add(fill)
        this.volume = this.volume.plus(new Big(fill.px).times(fill.sz))
        const size = this.exchange.position.abs()
        if (size.gt(this.largestPosition)) this.largestPosition = size
      },
      (id) => this.#quoter.gone(id),
    )
    this.#quoter = new Quoter(this.exchange, settings)
  }

  /** A trade. Trades of a block come before its book. */
  trade(trade: Trade): void {
    this.trades++
    this.exchange.trade(trade)
  }

  snapshot(levels: Levels, time: number): void {
    this.#isKnown = true
    this.#book.reset(levels)
    this.#decide(time)
  }

  change(levels: Levels, time: number): void {
    if (!this.#isKnown) return
    this.#book.change(levels)
    this.#decide(time)
  }

  /** Blocks are missing, until the next snapshot. The position stays. */
  gap(): void {
    this.gaps++
    this.#isKnown = false
    this.#quoter.lost('blocks are missing')
    this.exchange.forget()
    this.quality.forget()
  }

  #decide(time: number): void {
    const bid = this.#book.best('B')
    const ask = this.#book.best('A')
    this.exchange.book(this.#book, time)
    if (bid && ask) {
      this.mid = new Big(bid.px).plus(ask.px).div(2)
      this.curve.add(time, Number(this.exchange.pnl(this.mid)))
      this.quality.mid(time, Number(this.mid))
    }
    this.#quoter.book(this.#book, time, time, this.exchange.position)
  }
}
