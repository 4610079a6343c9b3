// Who gets what of the events of a block: an engine that asks each channel what it shows and how bodies are found.
// Laws: work per block grows with the bodies that match, never with the sockets or bodies that do not; a text is built
// once per distinct body (of a channel that frames per name, once per name); a block's frames reach a socket view by
// view and channel by channel in the order of the catalogue, whoever subscribed to what before.

import type { RelayEvents } from '../../feed/log-api.ts'
import type { AnyChannel, AnyEventChannel, EventView, WantedEvents } from '../channel.ts'

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

  constructor(channels: readonly AnyChannel[]) {
    for (const channel of channels.filter(({ source }) => source === 'events') as AnyEventChannel[])
      for (const view of channel.views) entryOf(this.#views, view, () => new Map()).set(channel, new Map())
  }

  /** Distinct bodies at present. */
  get size(): number {
    return this.#topics.size
  }

  /** That these bodies are found by. */
  get names(): number {
    return this.#names
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
    const index = this.#indexOf(wanted)
    const names = wanted.channel.names(wanted.body)
    this.#names += names.length
    for (const name of names) entryOf(index, name, () => new Set()).add(topic)
  }

  remove(key: string, receiver: R): void {
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
    return new Set([...this.#topics.values()].flatMap((topic) => [...topic.receivers]))
  }

  /** Sends one block to whom it concerns. */
  deliver(block: RelayEvents): void {
    for (const [view, indexes] of this.#views) {
      const wanted = [...indexes].filter(([, index]) => index.size > 0)
      if (wanted.length === 0) continue
      for (const parcel of parcelsOf(block, view, wanted)) send(parcel, block)
    }
  }

  #indexOf({ channel, body }: WantedEvents): Index<R> {
    return this.#views.get(channel.view(body))!.get(channel)!
  }
}

function parcelsOf<R>(
  block: RelayEvents,
  view: EventView<unknown>,
  indexes: readonly (readonly [AnyEventChannel, Index<R>])[],
): Iterable<Parcel<R>> {
  const parcels = new Map<Topic<R> | Set<Topic<R>>, Parcel<R>>()
  for (const item of view.items(block)) {
    let text: string | undefined
    for (const [channel, index] of indexes) {
      for (const name of channel.namesOf(item)) {
        const topics = index.get(name)
        if (!topics) continue
        text ??= view.text(item)
        if (channel.framed === 'per name') {
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

function send<R extends Receiver>({ channel, name, topics, pieces }: Parcel<R>, block: RelayEvents): void {
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

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}
