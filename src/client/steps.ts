// Whether books are the server's, coin by coin and all together, told where it changes.

/**
 * `in step`: nothing speaks against it; `out of step`: there is no book to be trusted; `syncing`: it is being fetched.
 * Of all together the worst of them, where nothing is yet `syncing`.
 */
export type Step = 'in step' | 'syncing' | 'out of step'

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
