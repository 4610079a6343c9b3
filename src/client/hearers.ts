// Which subscriptions of a connection a frame speaks of. Law: who wants many coins or wallets, one by one, pays for each
// frame what one of them costs.

import { factsOf, typeOfFrames } from './channels.ts'
import type { Entry } from './entries.ts'
import { mayBeOf, namesOfFrame } from './frame-bodies.ts'
import type { DataFrame } from './server-frame.ts'

/** Those of one type. */
interface Kind {
  readonly all: Set<Entry>
  readonly byName: Map<string, Set<Entry>>
  /** Those that frames of any name may be of. */
  readonly nameless: Set<Entry>
}

export class Hearers {
  readonly #kinds = new Map<string, Kind>()

  /** True where a body of this type is among them. */
  has(type: string): boolean {
    return this.#kinds.has(type)
  }

  add(entry: Entry): void {
    const { type } = entry.body
    const kind = this.#kinds.get(type) ?? { all: new Set(), byName: new Map(), nameless: new Set() }
    this.#kinds.set(type, kind)
    kind.all.add(entry)
    const names = namesOf(entry)
    if (names === null) kind.nameless.add(entry)
    for (const name of names ?? []) {
      const named = kind.byName.get(name)
      if (named) named.add(entry)
      else kind.byName.set(name, new Set([entry]))
    }
  }

  remove(entry: Entry): void {
    const { type } = entry.body
    const kind = this.#kinds.get(type)
    if (!kind?.all.delete(entry)) return
    if (kind.all.size === 0) this.#kinds.delete(type)
    kind.nameless.delete(entry)
    for (const name of namesOf(entry) ?? []) {
      const named = kind.byName.get(name)
      named?.delete(entry)
      if (named?.size === 0) kind.byName.delete(name)
    }
  }

  /** Who is to hear a frame. */
  of(frame: DataFrame): Entry[] {
    const type = typeOfFrames(frame.channel)!
    const kind = this.#kinds.get(type)
    const near = kind ? nearOf(kind, namesOfFrame(frame, factsOf(type)!)) : []
    return [...near].filter(({ acked, want }) => acked && (want === null || mayBeOf(frame, want)))
  }
}

function namesOf({ want }: Entry): readonly string[] | null {
  return want === null ? null : want.names
}

function nearOf({ all, byName, nameless }: Kind, names: readonly string[] | null): Set<Entry> {
  if (names === null) return all
  return new Set([...names.flatMap((name) => [...(byName.get(name) ?? [])]), ...nameless])
}
