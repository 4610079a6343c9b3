// Timeouts that adapt to a slow gateway. When a thousand clients reconnect at once, it serves abandoned attempts before
// new ones, so clients that always gave up after the same time would never be served.

const MAX_FACTOR = 8

export class Patience {
  #factor = 1

  /** The timeout to use now. */
  ms(firstMs: number): number {
    return firstMs * this.#factor
  }

  /** A timeout expired: the next one is twice as long, up to eight times. */
  onTimeout(): void {
    this.#factor = Math.min(MAX_FACTOR, 2 * this.#factor)
  }

  /** The gateway served this client. */
  onServed(): void {
    this.#factor = 1
  }
}
