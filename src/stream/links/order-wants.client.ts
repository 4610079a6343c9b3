// Tells the log whose order statuses and which coins' rows the bodies of this relay want: all with each new link, then what
// changes.

import { after } from '../../core/timers.client.ts'
import { LOG_API_VERSION, type RelayWant } from '../../feed/log-api.ts'
import { type WantedNames, wantParts } from '../../feed/wanted-names.ts'
import type { Link } from './link.client.ts'

/** Changes of so long a time are told together. */
const TELL_MS = 250

export class OrderWants {
  readonly #orders: WantedNames
  readonly #l4: WantedNames
  readonly #link: Link
  #isDue = false
  /** What the log was told is not known: this relay woke, and its link with it. */
  #isWoken = true

  /** `orders` names wallets, `l4` coins. */
  constructor(orders: WantedNames, l4: WantedNames, link: Link) {
    this.#orders = orders
    this.#l4 = l4
    this.#link = link
  }

  /** All that is wanted, as a new link begins with it. */
  whole(): { readonly orders: readonly string[]; readonly l4: readonly string[] } {
    this.#orders.take()
    this.#l4.take()
    this.#isWoken = false
    return { orders: [...this.#orders.told], l4: [...this.#l4.told] }
  }

  /** What is wanted may have changed: it is told soon. */
  changed(): void {
    if (this.#isDue) return
    this.#isDue = true
    after(TELL_MS, () => {
      this.#isDue = false
      this.tell()
    })
  }

  /** Tells what is to be told. While the link is down it waits for the next one. */
  tell(): void {
    if (!this.#link.up) return
    const isWhole = this.#isWoken
    const change = isWhole ? this.#all() : { orders: this.#orders.take(), l4: this.#l4.take() }
    if (!change.orders && !change.l4) return
    for (const part of wantParts(change, isWhole))
      this.#link.say(JSON.stringify({ v: LOG_API_VERSION, t: 'want', ...part } satisfies RelayWant))
  }

  #all() {
    const { orders, l4 } = this.whole()
    return { orders: { add: orders, drop: [] }, l4: { add: l4, drop: [] } }
  }
}
