// Whose order statuses relays want, as feeders are told of it. Law: feeders are asked for what some relay wants, and for
// what one wanted whose link has just ended, because it will ask for the blocks that it misses; a log that woke takes
// nothing back before the relays had time to say what they want.

import type { AttachRequest, RelayWant } from './log-api.ts'
import { WANTED_MOST, type Want } from './protocol.ts'
import { WantedNames, wantParts } from './wanted-names.ts'

/** Changes of so long a time are told together. */
const TELL_MS = 250
/** A relay is back by then, or its sockets are gone. */
const LINGER_MS = 30_000

/** What a relay wants, and since when its link has been down. */
interface Asked {
  readonly names: Set<string>
  leftMs: number | null
}

export class OrderWants {
  readonly #broadcast: (frame: Want) => void
  readonly #names = new WantedNames(WANTED_MOST)
  readonly #relays = new Map<string, Asked>()
  /** Null once relays had time to come back. */
  #wokeMs: number | null
  #isDue = false

  /** `broadcast` tells every feeder. */
  constructor(broadcast: (frame: Want) => void, nowMs: number) {
    this.#broadcast = broadcast
    this.#wokeMs = nowMs
  }

  /** A reader has a new link. Answers whose order statuses it wants, now and later. */
  attached({ name, orders: add = [] }: AttachRequest): ReadonlySet<string> {
    return this.#want(name, { whole: true, orders: { add, drop: [] } })
  }

  /** What a relay says on its link. */
  said(relay: string, text: string): void {
    const said = JSON.parse(text) as RelayWant
    if (said.t === 'want') this.#want(relay, said)
  }

  #want(reader: string, { whole, orders }: Pick<RelayWant, 'whole' | 'orders'>): ReadonlySet<string> {
    const asked = this.#relays.get(reader) ?? { names: new Set(), leftMs: null }
    this.#relays.set(reader, asked)
    asked.leftMs = null
    const gone = (whole ? [...asked.names] : orders.drop).filter((name) => asked.names.delete(name))
    const come = orders.add.filter((name) => !asked.names.has(name))
    for (const name of come) asked.names.add(name)
    this.#names.ask(come)
    this.#names.letGo(gone)
    if (come.length + gone.length > 0) this.#arm()
    return asked.names
  }

  /** The link of a reader ended. */
  left(reader: string, nowMs: number): void {
    const asked = this.#relays.get(reader)
    if (asked) asked.leftMs = nowMs
  }

  /** Forgets relays that stay away. To be called every few seconds while feeders are connected. */
  tick(nowMs: number): void {
    for (const [relay, { names, leftMs }] of this.#relays) {
      if (leftMs === null || nowMs - leftMs < LINGER_MS) continue
      this.#relays.delete(relay)
      this.#names.letGo(names)
      this.#arm()
    }
    if (this.#wokeMs === null || nowMs - this.#wokeMs < LINGER_MS) return
    this.#wokeMs = null
    for (const frame of this.frames()) this.#broadcast(frame)
  }

  /** What a feeder is to hear before its welcome. */
  *frames(): Generator<Want, void> {
    const isWhole = this.#wokeMs === null
    if (!isWhole && this.#names.told.size === 0) return
    for (const part of wantParts({ add: [...this.#names.told], drop: [] }, isWhole)) yield { type: 'want', ...part }
  }

  #arm(): void {
    if (this.#isDue) return
    this.#isDue = true
    setTimeout(() => {
      this.#isDue = false
      const change = this.#names.take()
      if (change) for (const part of wantParts(change, false)) this.#broadcast({ type: 'want', ...part })
    }, TELL_MS)
  }
}
