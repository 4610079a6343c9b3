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

  of(coin: string): Step {
    return this.#steps.get(coin) ?? 'syncing'
  }

  /** The same of all coins that were named. */
  setAll(step: Step, why = ''): void {
    for (const coin of this.#steps.keys()) this.set(coin, step, why)
  }

  set(coin: string, step: Step, why = ''): void {
    const was = this.of(coin)
    this.#steps.set(coin, step)
    if (was !== step) this.#told(coin, step, why)
    const steps = new Set(this.#steps.values())
    const whole = (['out of step', 'syncing'] as const).find((bad) => steps.has(bad)) ?? 'in step'
    if (whole === this.#whole) return
    this.#whole = whole
    this.#told(null, whole, why)
  }
}
