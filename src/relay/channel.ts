// Types that describe a channel. Definitions live under channels/, grouped by shape. The fan-outs (events, books,
// views, states, l4) and the HTTP surface use only what is declared here.

import * as z from 'zod'
import type { MicroCredits } from '../core/amount.ts'
import type { Coin } from '../core/coin.ts'
import { ONE_CREDIT } from '../metering/tariff.ts'
import type { OrdersPosition } from '../order-books/l4/followed-orders.ts'
import { type Address, Height, Millis } from '../protocol/feed/block.ts'
import type { RelayEvents } from '../protocol/feed/log-api.ts'
import type { BookSnapshot } from '../protocol/hub/hub-api.ts'
import type { CoinFragment } from '../protocol/hub/hub-link.ts'
import type { BookBody } from './body-fields.ts'

/**
 * A changed coin of a block. Its JSON for each channel is built on first use and shared by every body with the coin.
 */
export interface CoinUpdate extends CoinFragment {
  texts?: Record<string, string>
}

/** Returns the JSON of `update` for the channel `type`, which is the same for every body. */
export function cachedText(update: CoinUpdate, type: string, build: (update: CoinUpdate) => string): string {
  update.texts ??= {}
  update.texts[type] ??= build(update)
  return update.texts[type]
}

/** Coin updates that are sent together: one height, one epoch, never empty. */
export interface BookBatch {
  readonly height: number
  readonly time: number
  /** Null only while the hub waits for its first snapshot. */
  readonly epoch: string | null
  readonly updates: readonly CoinUpdate[]
}

/** Re-exported for the channel files. */
export { ONE_CREDIT }

interface Channel<Body, Frame> {
  /** Wire name: `type` of its subscriptions and `channel` of its frames. */
  readonly type: string
  /** `channel` of its frames if the public server uses another name. */
  readonly frameName?: string
  /** One-line description for the published documents. */
  readonly summary: string
  /** A subscription without its `type`, and a frame that it may receive. Published; shared tests send the request. */
  readonly example: { readonly request: Readonly<Record<string, unknown>>; readonly frame: unknown }
  /** Strict, because an ignored typo would silently widen (and price) a body. Its output is the body's normal form. */
  readonly request: z.ZodType<Body>
  /** The contract for clients: published, and checked by tests and by the client library. A relay never runs it. */
  readonly frame: z.ZodType<Frame>
  /** Stricter schema to publish. `frame` is looser, because unexpected node data must not end a connection. */
  readonly published?: z.ZodType
  /** Micro-credits per minute. A part of a minute counts as a full one. */
  readonly price: MicroCredits | ((body: Body) => MicroCredits)
  /**
   * The body with its defaults, as the public server acknowledges and identifies it. `request` accepts it too. If
   * omitted, the sent value is echoed.
   */
  readonly echo?: ((body: Body) => { readonly type: string } & Readonly<Record<string, unknown>>) | undefined
}

/** Something that happened to a user, as frames show it. `id` is unique among the user's rows of the same kind. */
export interface UserRow {
  readonly user: Address
  readonly id: string
  readonly row: unknown
}

/** A block as channels see it. */
export interface BlockEvents extends RelayEvents {
  /** Data that blocks do not contain. The relay fetched it after the block. */
  readonly fetched?: {
    readonly funding?: readonly UserRow[]
    /** Changes of outcome markets. */
    readonly outcomes?: readonly object[]
    /** Candles changed by trades. */
    readonly candles?: readonly object[]
  }
}

/** The part of a block that a channel shows. Views are shared: the JSON of an item is built once for all bodies. */
export interface EventView<Item> {
  readonly items: (block: BlockEvents) => readonly Item[]
  readonly text: (item: Item) => string
}

/** Height and time that `"meta":true` adds to an envelope. */
export interface Meta {
  readonly height: number
  readonly time: number
}
export const META_FIELDS = { block_height: Height.optional(), time: Millis.optional() }

/** JSON that is appended to the other fields of an envelope. */
export function metaText(meta: Meta | null): string {
  return meta ? `,"block_height":${meta.height},"time":${meta.time}` : ''
}

/** A request body of `POST /info`. */
export interface InfoRequest {
  readonly type: string
  readonly [field: string]: unknown
}

/** History sent before live events: the rows of an info response become the first frame. */
interface EventHistory<Body, Item> {
  /** `tries`: number of requests without a usable response so far. */
  readonly infoRequest: (body: Body, nowMs: number, tries: number) => InfoRequest
  /** Rows as frames show them, oldest first, each with its id. May throw on a malformed response. */
  readonly rows: (answer: unknown) => readonly (readonly [id: string, row: unknown])[]
  /** The id of the row that a block's item becomes. Used to send no row twice. */
  readonly idOf: (item: Item) => string
  readonly encode: (pieces: readonly string[], body: Body) => string
}

/** A channel of the events of each block. */
export interface EventChannel<Body, Item, Frame> extends Channel<Body, Frame> {
  readonly source: 'events'
  /** Field that selects events in bodies; null if bodies select nothing. */
  readonly by: 'address' | 'coin' | null
  /** All views that `view` can return. */
  readonly views: readonly EventView<Item>[]
  readonly view: (body: Body) => EventView<Item>
  /** Index names of a body; `EVERY` for a body that wants every item. */
  readonly names: (body: Body) => readonly string[]
  /**
   * Distinct index names of an item; none if the channel does not show it. A body framed `per body` is registered under
   * at most one of them.
   */
  readonly namesOf: (item: Item) => readonly string[]
  /** Content of one frame: all items of a body, all items of a name, or one item. */
  readonly framing: 'per body' | 'per name' | 'per item'
  /**
   * `pieces` are the JSON strings of at least one item. If `meta` is null, the frame has no meta fields. `body` belongs
   * to one of the receivers, so frames that are not built per body must not depend on it.
   */
  readonly encode: (pieces: readonly string[], meta: Meta | null, name: string, body: Body) => string
  readonly history?: EventHistory<Body, Item>
  /**
   * Set if the channel shows fetched data: funding payments (names are users), changes of outcome markets, or candles.
   */
  readonly fetched?: 'funding' | 'outcomes' | 'candles'
  /**
   * `orders`: the channel shows order statuses, but only those of users that bodies name. `events`: the channel shows
   * more than fills. For old blocks, the archive may have only fills.
   */
  readonly needs?: 'orders' | 'events'
}

/** True if earlier blocks contain everything that the channel shows. */
export function canReplay({ fetched, needs }: AnyEventChannel): boolean {
  return fetched === undefined && needs !== 'orders'
}

/**
 * Frames of one block for one body. `isBroken`: a coin lost continuity, and this channel cannot send a new snapshot.
 */
export interface BlockTexts {
  readonly texts: readonly string[]
  readonly isBroken: boolean
}

/** A channel of books, by coin or market type. */
export interface BookChannel<Frame> extends Channel<BookBody, Frame> {
  readonly source: 'books'
  /** The first frame of a coin. Null if clients fetch books themselves and detect gaps by sequence number. */
  readonly snapshot: ((book: Omit<BookSnapshot, 'epoch' | 'seq'>) => string) | null
  /** Strings that are the same for every body are cached in the coin's update. Levels are never parsed. */
  readonly encode: (block: BookBatch, isChecked?: boolean) => BlockTexts
}

/** A subscription to book views; `view` is a name from order-books/view.ts. */
export interface ViewBody extends BookBody {
  readonly view: string
  readonly echo: { readonly type: string } & Readonly<Record<string, unknown>>
  /** Minimum time between joint frames. */
  readonly everyMs?: number
  readonly dex?: string | undefined
}

/** A coin's view as of a block of this time. */
export interface CoinView {
  readonly coin: Coin
  readonly time: number
  readonly text: string
}

/** A channel that sends the full state of a book view. */
export type ViewChannel<Frame> = (PerCoinEncoding | JointEncoding) & ViewBase<Frame>

/** Each coin has its own frame. `body` is the body of any receiver. */
interface PerCoinEncoding {
  readonly isJoint: false
  readonly encode: (piece: CoinView, body: ViewBody) => string
}

/** One frame shows all coins of a body. */
interface JointEncoding {
  readonly isJoint: true
  readonly encode: (pieces: readonly CoinView[], body: ViewBody) => string
}

interface ViewBase<Frame> extends Channel<ViewBody, Frame> {
  readonly source: 'views'
  /** Field that selects coins in bodies, for documentation; null if bodies select nothing. */
  readonly by: string | null
}

/** An info response that states are built from. */
export interface StateResponse {
  readonly text: string
  /** Parsed once for all readers. Throws if the response is not JSON. */
  readonly value: unknown
}

/** Wraps a JSON string and parses it on first access. */
export function lazyResponse(text: string): StateResponse {
  let value: unknown
  return {
    text,
    get value() {
      value ??= JSON.parse(text)
      return value
    },
  }
}

/** A request that a state is built from, and the polling interval in ms. */
export type StateRequest = readonly [question: InfoRequest, everyMs: number]

/** A channel of current info responses, fetched once for all subscribers and again when the data may have changed. */
interface StateChannel<Body, Part, Frame> extends Channel<Body, Frame> {
  readonly source: 'states'
  /** Name of a body's frames if it depends on the body. */
  readonly frameNameOf?: (body: Body) => string
  /** The coin of a body, if this coin must have a book. */
  readonly coin?: (body: Body) => string
  /** `first`: extracted data of the first request, on which others may depend; undefined until it arrives. */
  readonly requests: (body: Body, first: Part | undefined) => readonly StateRequest[]
  /** Extracts the data that frames need. It may throw on a malformed response, as may `data`. */
  readonly extract: (answer: StateResponse, question: InfoRequest) => Part
  /** JSON of the full state. `parts` are in request order. */
  readonly data: (body: Body, parts: readonly Part[]) => string
  /**
   * For channels whose later frames contain only changes: the JSON of the changes (null for none) and a mark of what
   * was sent. The mark is undefined at first.
   */
  readonly changes?: (body: Body, parts: readonly Part[], mark: unknown) => { text: string | null; mark: unknown }
  /** The state is sent every few seconds even if it did not change. */
  readonly repeats?: boolean
  /** Frames hold base64 of the deflated JSON. */
  readonly isDeflated?: boolean
}

interface L4Body {
  readonly coin: Coin
}

/** A channel of individual orders: a snapshot, then the node's rows of each block. */
export interface L4Channel<Frame> extends Channel<L4Body, Frame> {
  readonly source: 'l4'
  /** `levels` is a JSON string in pieces. */
  readonly snapshot: (coin: Coin, position: OrdersPosition, levels: readonly string[]) => string
  /**
   * `rows` is a JSON object without its braces, with `order_statuses` and `book_diffs`. No block between `prev` and
   * this one had rows.
   */
  readonly encode: (position: OrdersPosition, prev: number, rows: string) => string
}

/** Index name of bodies that want every item. */
export const EVERY = ''

/** Index name of bodies that want all coins of a DEX. It contains a space, so it is no coin. */
export const dexKey = (dex: string) => `dex ${dex}`
export const isCoin = (name: string) => name !== EVERY && !name.includes(' ')

/** An event channel with its body and item types erased. Pass it only values from its own schema and view. */
export type AnyEventChannel<Frame = unknown> = EventChannel<unknown, unknown, Frame>
export type AnyStateChannel<Frame = unknown> = StateChannel<unknown, unknown, Frame>
export type AnyChannel =
  | AnyEventChannel
  | BookChannel<unknown>
  | ViewChannel<unknown>
  | AnyStateChannel
  | L4Channel<unknown>

/**
 * Defines an event channel that costs one credit a minute. Checks the definition's own types, then erases all but the
 * frame type.
 */
export function defineEventChannel<Body, Item, Frame>(
  channel: Omit<EventChannel<Body, Item, Frame>, 'source' | 'price'>,
): AnyEventChannel<Frame> {
  const complete: EventChannel<Body, Item, Frame> = { ...channel, source: 'events', price: ONE_CREDIT }
  return complete as AnyEventChannel<Frame>
}

/** Defines a view channel. Its bodies carry their own echo. */
export function defineViewChannel<Frame>(
  channel: (PerCoinEncoding | JointEncoding) & Omit<ViewBase<Frame>, 'source' | 'echo'>,
): ViewChannel<Frame> {
  return { ...channel, source: 'views', echo: ({ echo }) => echo }
}

interface StateDefinition<Type extends string, Body, Part, Data extends z.ZodType>
  extends Omit<StateChannel<Body, Part, unknown>, 'type' | 'example' | 'frame' | 'price' | 'source'> {
  readonly type: Type
  readonly dataSchema: Data
  readonly example: { readonly request: Readonly<Record<string, unknown>>; readonly data: unknown }
  /** Frame schema if frames do not all carry the channel's name. */
  readonly frame?: z.ZodType
}

/** Defines a state channel that costs one credit a minute. Bodies are acknowledged in their normal form. */
export function defineStateChannel<
  const Type extends string,
  Body extends { readonly type: Type },
  Part,
  Data extends z.ZodType,
>({ type, dataSchema, example, ...more }: StateDefinition<Type, Body, Part, Data>) {
  const frame = z.object({ channel: z.literal(type), data: dataSchema })
  const channel: StateChannel<Body, Part, unknown> = {
    type,
    example: { request: example.request, frame: { channel: type, data: example.data } },
    echo: (body) => body,
    frame,
    price: ONE_CREDIT,
    source: 'states',
    ...more,
  }
  return channel as AnyStateChannel<z.infer<typeof frame>>
}

/** A parsed subscription body in its normal form. A non-empty `dex` must still be checked for existence. */
interface TargetOf<Source, Channel, Body> {
  readonly source: Source
  readonly channel: Channel
  readonly body: Body
}
export type EventsTarget = TargetOf<'events', AnyEventChannel, unknown>
export type BooksTarget = TargetOf<'books', BookChannel<unknown>, BookBody>
export type ViewsTarget = TargetOf<'views', ViewChannel<unknown>, ViewBody>
export type StatesTarget = TargetOf<'states', AnyStateChannel, unknown>
export type L4Target = TargetOf<'l4', L4Channel<unknown>, L4Body>
export type Target = EventsTarget | BooksTarget | ViewsTarget | StatesTarget | L4Target

/** True for an event body that can start from an earlier block. */
export function isReplayable(target: Target): target is EventsTarget {
  return target.source === 'events' && canReplay(target.channel)
}

/** The body that acknowledges and identifies a subscription. */
export function echoOf<Sent extends { readonly type: string }>(sent: Sent, { channel, body }: Target) {
  return (channel as AnyEventChannel).echo?.(body) ?? sent
}

/** The frame schema for the published documents. */
export function publishedFrame({ published, frame }: AnyChannel): z.ZodType {
  return published ?? frame
}

/** Micro-credits per minute. A part of a minute counts as a full one. */
export function minutePrice({ channel, body }: Target): MicroCredits {
  const price = channel.price as MicroCredits | ((body: unknown) => MicroCredits)
  return typeof price === 'function' ? price(body) : price
}
