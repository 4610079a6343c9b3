// Whether books are the server's, coin by coin and all together, told where it changes.

import type { Step } from './api.ts'

/** `coin` null: of all together. `why` is empty where it is in step. */
export type StepListener = (coin: string | null, step: Step, why: string) => void

export class Steps {
  readonly #told: StepListener
  readonly #steps = new Map<string, Step>()
  #whole: Step = 'syncing'

  constructor(told: StepListener) {
    this.#told = told
  }

  get whole(): Step {
    return this.#whole
  }

  /** Undefined where no such coin is known of. */
  of(coin: string): Step | undefined {
    return this.#steps.get(coin)
  }

  /** Of this coin, or of all, nothing is known any more. */
  forget(coin?: string): void {
    if (coin === undefined) this.#steps.clear()
    else this.#steps.delete(coin)
    this.#tellWhole('')
  }

  /** The same of all coins that were named. */
  setAll(step: Step, why = ''): void {
    for (const coin of this.#steps.keys()) this.set(coin, step, why)
  }

  set(coin: string, step: Step, why = ''): void {
    const was = this.of(coin)
    this.#steps.set(coin, step)
    if ((was ?? 'syncing') !== step) this.#told(coin, step, why)
    this.#tellWhole(why)
  }

  #tellWhole(why: string): void {
    const steps = new Set(this.#steps.values())
    const whole =
      (['out of step', 'syncing'] as const).find((bad) => steps.has(bad)) ?? (steps.size > 0 ? 'in step' : 'syncing')
    if (whole === this.#whole) return
    this.#whole = whole
    this.#told(null, whole, why)
  }
}

/** Books of one subscription by coin, with whether they are the server's. */
export abstract class SteppedBooks<Book> {
  protected readonly books = new Map<string, Book>()
  protected readonly steps: Steps

  constructor(told: StepListener | undefined) {
    this.steps = new Steps((coin, step, why) => told?.(coin, step, why))
  }

  /** Of a coin, live or not; undefined before the stream brought it. */
  get(coin: string): Book | undefined {
    return this.books.get(coin)
  }

  /**
   * Whether a coin's book, or the whole, is the server's; undefined where the server has no such coin, or none came on the
   * present connection.
   */
  step(coin: string): Step | undefined
  step(coin?: null): Step
  step(coin: string | null = null): Step | undefined {
    return coin === null ? this.steps.whole : this.steps.of(coin)
  }

  coins(): IterableIterator<string> {
    return this.books.keys()
  }
}
