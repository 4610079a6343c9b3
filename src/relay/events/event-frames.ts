// Frames of one block: which pieces of it go together, and to whom.

import { getOrCreate } from '../../core/get-or-create.ts'
import type { AnyEventChannel, BlockEvents, EventsTarget, EventView } from '../channel.ts'

/** What the fan-out needs of a socket. */
export interface Receiver {
  send(text: string): void
}

/** First frames that are larger wait for room. */
export const PACED_BYTES = 64 * 1024

export interface PacedReceiver extends Receiver {
  /** How long until so many bytes may be sent: 0, now. */
  snapshotWaitMs(bytes: number): number
}

/** One distinct body and the sockets that subscribed to it. */
export interface Topic<R> {
  readonly target: EventsTarget
  readonly meta: boolean
  readonly receivers: Set<R>
}

/** A body that is told of earlier blocks. */
export interface IndexedTopic<R> {
  readonly topic: Topic<R>
  readonly index: Index<R>
}

/** Topics by name. Most names have one: a set of it would be three fifths of what a name takes. */
export type Index<R> = Map<string, readonly Topic<R>[]>

/** What becomes a frame: pieces of a block, and whom it goes to. */
interface FrameDraft<R> {
  readonly channel: AnyEventChannel
  readonly name: string
  readonly topics: Iterable<Topic<R>>
  readonly pieces: string[]
}

/** The frames of a view of a block for all who want it. */
export function frameDraftsOf<R>(
  block: BlockEvents,
  view: EventView<unknown>,
  indexes: readonly (readonly [AnyEventChannel, Index<R>])[],
): Iterable<FrameDraft<R>> {
  const parcels = new Map<unknown, FrameDraft<R>>()
  for (const item of view.items(block)) {
    let text: string | undefined
    for (const [channel, index] of indexes) {
      for (const name of channel.namesOf(item)) {
        const topics = index.get(name)
        if (!topics) continue
        text ??= view.text(item)
        if (channel.framing === 'per item') parcels.set(Symbol(), { channel, name, topics, pieces: [text] })
        else if (channel.framing === 'per name') {
          getOrCreate(parcels, topics, () => ({ channel, name, topics, pieces: [] })).pieces.push(text)
        } else {
          for (const topic of topics)
            getOrCreate(parcels, topic, () => ({ channel, name, topics: [topic], pieces: [] })).pieces.push(text)
        }
      }
    }
  }
  return parcels.values()
}

/** Sends one block to one body. */
export function sendBlock<R extends Receiver>(
  { topic, index }: IndexedTopic<R>,
  block: BlockEvents,
  items?: () => unknown[],
): void {
  const { channel, body } = topic.target
  const view = channel.view(body)
  const shown = items ? { ...view, items } : view
  for (const parcel of frameDraftsOf(block, shown, [[channel, index]])) sendDraft(parcel, block)
}

/**
 * Texts of a body's items of blocks above a height, as far as they come before the first that `isOne`. Without one: all
 * where those are known to be newer (`areNewer`), else none.
 */
export function textsBefore<R>(
  { target: { channel, body } }: Topic<R>,
  blocks: readonly BlockEvents[],
  above: number,
  isOne: (item: unknown) => boolean,
  areNewer: boolean,
): string[] {
  const view = channel.view(body)
  const names = new Set(channel.names(body))
  const texts: string[] = []
  for (const block of blocks)
    for (const item of view.items(block)) {
      if (isOne(item)) return texts
      const isOwn = channel.namesOf(item).some((name) => names.has(name))
      if (isOwn && block.height > above) texts.push(view.text(item))
    }
  return areNewer ? texts : []
}

/** Builds each text once and sends it. */
export function sendDraft<R extends Receiver>(
  { channel, name, topics, pieces }: FrameDraft<R>,
  block: BlockEvents,
): void {
  let plain: string | undefined
  let withMeta: string | undefined
  // A socket may end while it is sent to, and take its topic out of the index.
  for (const topic of topics) {
    if (topic.meta) withMeta ??= channel.encode(pieces, block, name, topic.target.body)
    else plain ??= channel.encode(pieces, null, name, topic.target.body)
    // biome-ignore lint/style/noNonNullAssertion: one of both was made above
    const text = topic.meta ? withMeta! : plain!
    for (const receiver of topic.receivers) receiver.send(text)
  }
}

/** Adds a body under each of its names. */
export function addToIndex<R>(index: Index<R>, topic: Topic<R>): Index<R> {
  const { channel, body } = topic.target
  for (const name of channel.names(body)) index.set(name, index.get(name)?.concat(topic) ?? [topic])
  return index
}

/** Takes it out again; whoever goes through the topics of a name meanwhile goes through those that there were. */
export function removeFromIndex<R>(index: Index<R>, topic: Topic<R>): void {
  const { channel, body } = topic.target
  for (const name of channel.names(body)) {
    const others = index.get(name)?.filter((one) => one !== topic) ?? []
    if (others.length > 0) index.set(name, others)
    else index.delete(name)
  }
}
