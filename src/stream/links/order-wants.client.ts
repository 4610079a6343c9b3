// Tells the log whose order statuses the bodies of this relay want: all with each new link, then what changes.

import { after } from '../../core/timers.client.ts'
import { LOG_API_VERSION, type RelayWant } from '../../feed/log-api.ts'
import { type WantedNames, wantParts } from '../../feed/wanted-names.ts'
import type { Link } from './link.client.ts'

/** Changes of so long a time are told together. */
const TELL_MS = 250

export class OrderWants {
  readonly #names: WantedNames
  readonly #link: Link
  #isDue = false
  /** What the log was told is not known: this relay woke, and its link with it. */
  #isWoken = true

  constructor(names: WantedNames, link: Link) {
    this.#names = names
    this.#link = link
  }

  /** All that is wanted, as a new link begins with it. */
  whole(): readonly string[] {
    this.#names.take()
    this.#isWoken = false
    return [...this.#names.told]
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
    const change = isWhole ? { add: this.whole(), drop: [] } : this.#names.take()
    for (const part of change ? wantParts(change, isWhole) : [])
      this.#link.say(JSON.stringify({ v: LOG_API_VERSION, t: 'want', ...part } satisfies RelayWant))
  }
}
