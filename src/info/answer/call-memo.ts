// Remembers what bodies were read as: clients send the same few texts again and again, and reading one costs more
// than answering it from the cache. Two generations bound it: when the young one is full the old one is forgotten, and
// what was asked for again stays, though finding it writes nothing (core/bounded-map.ts would forget it with its age).

import type { InfoCall } from './call.ts'

/** Longer texts are rare and cost more memory than time. */
const TEXT_MAX_LENGTH = 2_048
const YOUNG_MAX_LENGTH = 512 * 1024
/** What an entry costs beside its text. */
const ENTRY_LENGTH = 512

export class CallMemo {
  #young = new Map<string, InfoCall>()
  #old = new Map<string, InfoCall>()
  #length = 0

  get(text: string): InfoCall | undefined {
    const young = this.#young.get(text)
    if (young) return young
    const old = this.#old.get(text)
    if (old) this.set(text, old)
    return old
  }

  set(text: string, call: InfoCall): void {
    if (text.length > TEXT_MAX_LENGTH) return
    if (this.#length > YOUNG_MAX_LENGTH) {
      this.#old = this.#young
      this.#young = new Map()
      this.#length = 0
    }
    this.#young.set(text, call)
    this.#length += text.length + ENTRY_LENGTH
  }
}
