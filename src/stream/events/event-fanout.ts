// Who gets what of the events of a block: an engine that asks each channel what it shows and how bodies are found.
// Laws: work per block grows with the bodies that match, never with the sockets or bodies that do not; a text is built
// once per distinct body (of a channel that frames per name, once per name); a block's frames reach a socket view by
// view and channel by channel in the order of the catalogue, whoever subscribed to what before; who is first to be told
// what was before misses nothing that comes meanwhile, and is told nothing twice.

import type { AnyChannel, AnyEventChannel, EventView, ShownEvents, WantedEvents } from '../channel.ts'

/** What the fan-out needs of a socket. */
export interface Receiver {
  send(text: string): void
}

/** One distinct body and the sockets that subscribed to it. */
interface Topic<R> {
  readonly wanted: WantedEvents
  readonly meta: boolean
  readonly receivers: Set<R>
}

/** Blocks that are remembered for those who are first to be told what was before: 17 seconds of the real exchange. */
export const REMEMBERED = 256

/** A body whose receivers wait to be told what was before: up to `since` at least, blocks bring the rest. */
interface Held<R> {
  readonly topic: Topic<R>
  readonly since: number
}

/** Topics by name. */
type Index<R> = Map<string, Set<Topic<R>>>

/** What becomes a frame: pieces of a block, and whom it goes to. */
interface Parcel<R> {
  readonly channel: AnyEventChannel
  readonly name: string
  readonly topics: Iterable<Topic<R>>
  readonly pieces: string[]
}

export class EventFanout<R extends Receiver> {
  readonly #topics = new Map<string, Topic<R>>()
  #names = 0
  /** The index of every channel that shows a view. */
  readonly #views = new Map<EventView<unknown>, Map<AnyEventChannel, Index<R>>>()
  readonly #held = new Map<string, Held<R>>()
  /** The last blocks, without a hole between them. */
  readonly #recent: ShownEvents[] = []
  /** What was learned later of blocks. */
  readonly #late: ShownEvents[] = []

  constructor(channels: readonly AnyChannel[]) {
    for (const channel of channels.filter(({ source }) => source === 'events') as AnyEventChannel[])
      for (const view of channel.views) entryOf(this.#views, view, () => new Map()).set(channel, new Map())
  }

  /** Distinct bodies at present. */
  get size(): number {
    return this.#topics.size + this.#held.size
  }

  /** That these bodies are found by. */
  get names(): number {
    return this.#names + this.#held.size
  }

  /** `key` names the distinct body; a receiver stands under one key at most once. */
  add(key: string, wanted: WantedEvents, meta: boolean, receiver: R): void {
    const known = this.#topics.get(key)
    if (known) {
      known.receivers.add(receiver)
      return
    }
    const topic: Topic<R> = { wanted, meta, receivers: new Set([receiver]) }
    this.#topics.set(key, topic)
    this.#names += wanted.channel.names(wanted.body).length
    putInto(this.#indexOf(wanted), topic)
  }

  /**
   * Takes a receiver that is first to be told what was before: blocks wait for it until `begin`. True for the first of a
   * body, which has to see to that. `height`: of the last block that came.
   */
  hold(key: string, wanted: WantedEvents, meta: boolean, receiver: R, height: number): boolean {
    const known = this.#held.get(key)
    known?.topic.receivers.add(receiver)
    // A link that was let go of, or blocks that never came: what is remembered does not lead to the next block.
    if (this.#recent.at(-1)?.height !== height) this.#recent.length = 0
    if (!known) this.#held.set(key, { topic: { wanted, meta, receivers: new Set([receiver]) }, since: height })
    return !known
  }

  /** What is told to those who wait must reach up to this height; null where nobody waits. */
  heldSince(key: string): number | null {
    const held = this.#held.get(key)
    if (!held) return null
    const [oldest] = this.#recent
    return oldest ? oldest.height - 1 : held.since
  }

  /** Whether one of the items that are remembered is such a one. */
  remembers(key: string, isOne: (item: unknown) => boolean): boolean {
    const wanted = this.#held.get(key)?.topic.wanted
    const view = wanted?.channel.view(wanted.body)
    return [...this.#recent, ...this.#late].some((block) => view?.items(block).some(isOne))
  }

  /** Tells those who wait what was before, and after it what came meanwhile but what `isTold` says to be in it. */
  begin(key: string, first: string, isTold: (block: ShownEvents, item: unknown) => boolean): void {
    const topic = this.#held.get(key)?.topic
    if (!topic) return
    for (const receiver of topic.receivers) receiver.send(first)
    const { channel, body } = topic.wanted
    const view = channel.view(body)
    const index = putInto(new Map(), topic)
    for (const block of [...this.#recent, ...this.#late]) {
      const rest = { ...view, items: () => view.items(block).filter((item) => !isTold(block, item)) }
      for (const parcel of parcelsOf(block, rest, [[channel, index]])) send(parcel, block)
    }
    this.#held.delete(key)
    for (const receiver of topic.receivers) this.add(key, topic.wanted, topic.meta, receiver)
  }

  remove(key: string, receiver: R): void {
    const held = this.#held.get(key)?.topic.receivers
    if (held?.delete(receiver) && held.size === 0) this.#held.delete(key)
    const topic = this.#topics.get(key)
    topic?.receivers.delete(receiver)
    if (!topic || topic.receivers.size > 0) return
    this.#topics.delete(key)
    const { channel, body } = topic.wanted
    const index = this.#indexOf(topic.wanted)
    const names = channel.names(body)
    this.#names -= names.length
    for (const name of names) {
      const topics = index.get(name)
      topics?.delete(topic)
      if (topics?.size === 0) index.delete(name)
    }
  }

  /** Every socket with an event subscription, once. */
  receivers(): Set<R> {
    return new Set(this.#all().flatMap(({ receivers }) => [...receivers]))
  }

  /** Names under which somebody wants what no block holds. */
  lateNames(kind: AnyEventChannel['late']): Set<string> {
    const ofKind = this.#all().filter(({ wanted }) => wanted.channel.late === kind)
    return new Set(ofKind.flatMap(({ wanted: { channel, body } }) => channel.names(body)))
  }

  #all(): readonly Topic<R>[] {
    return [...this.#topics.values(), ...[...this.#held.values()].map(({ topic }) => topic)]
  }

  /** Sends one block to whom it concerns. */
  deliver(block: ShownEvents): void {
    this.#remember(block)
    for (const [view, indexes] of this.#views) {
      const wanted = [...indexes].filter(([, index]) => index.size > 0)
      if (wanted.length === 0) continue
      for (const parcel of parcelsOf(block, view, wanted)) send(parcel, block)
    }
  }

  #remember(block: ShownEvents): void {
    const last = this.#recent.at(-1)
    if (!block.late && last && block.height !== last.height + 1) this.#recent.length = 0
    const remembered = block.late ? this.#late : this.#recent
    remembered.push(block)
    if (remembered.length > REMEMBERED) remembered.shift()
  }

  #indexOf({ channel, body }: WantedEvents): Index<R> {
    return this.#views.get(channel.view(body))!.get(channel)!
  }
}

function parcelsOf<R>(
  block: ShownEvents,
  view: EventView<unknown>,
  indexes: readonly (readonly [AnyEventChannel, Index<R>])[],
): Iterable<Parcel<R>> {
  const parcels = new Map<unknown, Parcel<R>>()
  for (const item of view.items(block)) {
    let text: string | undefined
    for (const [channel, index] of indexes) {
      for (const name of channel.namesOf(item)) {
        const topics = index.get(name)
        if (!topics) continue
        text ??= view.text(item)
        if (channel.framed === 'per item') parcels.set(Symbol(), { channel, name, topics, pieces: [text] })
        else if (channel.framed === 'per name') {
          entryOf(parcels, topics, () => ({ channel, name, topics, pieces: [] })).pieces.push(text)
        } else {
          for (const topic of topics)
            entryOf(parcels, topic, () => ({ channel, name, topics: [topic], pieces: [] })).pieces.push(text)
        }
      }
    }
  }
  return parcels.values()
}

function send<R extends Receiver>({ channel, name, topics, pieces }: Parcel<R>, block: ShownEvents): void {
  let plain: string | undefined
  let withMeta: string | undefined
  // A socket may end while it is sent to, and take its topic out of the index.
  for (const topic of topics) {
    if (topic.meta) withMeta ??= channel.encode(pieces, block, name, topic.wanted.body)
    else plain ??= channel.encode(pieces, null, name, topic.wanted.body)
    const text = topic.meta ? withMeta! : plain!
    for (const receiver of topic.receivers) receiver.send(text)
  }
}

function putInto<R>(index: Index<R>, topic: Topic<R>): Index<R> {
  const { channel, body } = topic.wanted
  for (const name of channel.names(body)) entryOf(index, name, () => new Set()).add(topic)
  return index
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}
