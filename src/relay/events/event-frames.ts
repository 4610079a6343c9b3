// Builds the frames of a block's events and sends them to the matching topics.

import { getOrCreate } from '../../core/get-or-create.ts'
import type { AnyEventChannel, BlockEvents, EventsTarget, EventView } from '../channel.ts'

/** The part of a socket that the fan-out uses. */
export interface Receiver {
  send(text: string): void
}

/** Larger first frames wait for room. */
export const PACED_BYTES = 64 * 1024

export interface PacedReceiver extends Receiver {
  /** Time in ms until this many bytes may be sent; 0: now. */
  snapshotWaitMs(bytes: number): number
}

/** One distinct body and its subscribers. */
export interface Topic<R> {
  readonly target: EventsTarget
  readonly meta: boolean
  readonly receivers: Set<R>
}

/** A topic with its own index, for a receiver that gets earlier blocks. */
export interface IndexedTopic<R> {
  readonly topic: Topic<R>
  readonly index: Index<R>
}

/** Topics by name. Most names have one topic. A `Set` would take three fifths of a name's memory. */
export type Index<R> = Map<string, readonly Topic<R>[]>

/** A frame before encoding: items of a block and the topics that get them. */
interface FrameDraft<R> {
  readonly channel: AnyEventChannel
  readonly name: string
  readonly topics: Iterable<Topic<R>>
  readonly pieces: string[]
}

/** Builds the frames of a block's view for all indexed topics. */
export function frameDraftsOf<R>(
  block: BlockEvents,
  view: EventView<unknown>,
  indexes: readonly (readonly [AnyEventChannel, Index<R>])[],
): Iterable<FrameDraft<R>> {
  const drafts = new Map<unknown, FrameDraft<R>>()
  for (const item of view.items(block)) {
    let text: string | undefined
    for (const [channel, index] of indexes) {
      for (const name of channel.namesOf(item)) {
        const topics = index.get(name)
        if (!topics) continue
        text ??= view.text(item)
        if (channel.framing === 'per item') drafts.set(Symbol(), { channel, name, topics, pieces: [text] })
        else if (channel.framing === 'per name') {
          getOrCreate(drafts, topics, () => ({ channel, name, topics, pieces: [] })).pieces.push(text)
        } else {
          for (const topic of topics)
            getOrCreate(drafts, topic, () => ({ channel, name, topics: [topic], pieces: [] })).pieces.push(text)
        }
      }
    }
  }
  return drafts.values()
}

/** Sends one block to one body. */
export function sendBlock<R extends Receiver>(
  { topic, index }: IndexedTopic<R>,
  block: BlockEvents,
  items?: () => unknown[],
): void {
  const { channel, body } = topic.target
  const view = channel.view(body)
  const source = items ? { ...view, items } : view
  for (const draft of frameDraftsOf(block, source, [[channel, index]])) sendDraft(draft, block)
}

/**
 * Returns the JSON of a body's items above a height, up to the first match. If nothing matches, returns all items when
 * `areNewer` is true (the matches are newer), else none.
 */
export function textsBefore<R>(
  { target: { channel, body } }: Topic<R>,
  blocks: readonly BlockEvents[],
  above: number,
  matches: (item: unknown) => boolean,
  areNewer: boolean,
): string[] {
  const view = channel.view(body)
  const names = new Set(channel.names(body))
  const texts: string[] = []
  for (const block of blocks)
    for (const item of view.items(block)) {
      if (matches(item)) return texts
      const isOwn = channel.namesOf(item).some((name) => names.has(name))
      if (isOwn && block.height > above) texts.push(view.text(item))
    }
  return areNewer ? texts : []
}

/** Builds each frame once and sends it. */
export function sendDraft<R extends Receiver>(
  { channel, name, topics, pieces }: FrameDraft<R>,
  block: BlockEvents,
): void {
  let plain: string | undefined
  let withMeta: string | undefined
  // A socket may end during the send and remove its topic from the index.
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

/** Removes a body. A concurrent iteration over the topics of a name sees the old list. */
export function removeFromIndex<R>(index: Index<R>, topic: Topic<R>): void {
  const { channel, body } = topic.target
  for (const name of channel.names(body)) {
    const others = index.get(name)?.filter((one) => one !== topic) ?? []
    if (others.length > 0) index.set(name, others)
    else index.delete(name)
  }
}
