// What a channel must tell about itself. Definitions stand under channels/, those of one shape together; the engines
// (the fan-outs of events, books, views, states and l4) and the surface know nothing else of a channel.

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

/** A changed coin on its way out. Its piece of a channel is built on first use and shared by every body that has the coin. */
export interface CoinUpdate extends CoinFragment {
  texts?: Record<string, string>
}

/** The piece of `entry` on the channel of this type; the same for every body. */
export function cachedText(entry: CoinUpdate, type: string, build: (entry: CoinUpdate) => string): string {
  entry.texts ??= {}
  entry.texts[type] ??= build(entry)
  return entry.texts[type]
}

/** What goes out together: coins of one height and one epoch; never empty. */
export interface BookBatch {
  readonly height: number
  readonly time: number
  /** Null only if the hub waits for its first seed. */
  readonly epoch: string | null
  readonly updates: readonly CoinUpdate[]
}

/** Files of channels take it from here. */
export { ONE_CREDIT }

interface Channel<Body, Frame> {
  /** Wire name: `type` of its subscriptions, `channel` of its frames. */
  readonly type: string
  /** `channel` of its frames where the public server has another name for it. */
  readonly frameName?: string
  /** One line for the published document. */
  readonly summary: string
  /** A subscription without its `type`, and a frame that it may bring. Published; the shared tests send the request. */
  readonly example: { readonly request: Readonly<Record<string, unknown>>; readonly frame: unknown }
  /** Strict, because an ignored typo would silently widen (and price) a body. Its output is the body's normal form. */
  readonly request: z.ZodType<Body>
  /** What a client may rely on. Published, checked in tests and by the client library; never run by a relay. */
  readonly frame: z.ZodType<Frame>
  /** What is published instead where it says more than `frame` insists on: what nodes write never ends a connection. */
  readonly published?: z.ZodType
  /** Micro-credits of a started minute. */
  readonly price: MicroCredits | ((body: Body) => MicroCredits)
  /**
   * The body with its defaults, as the public server acknowledges and identifies it; `request` takes it, too. Left out:
   * the very value that was sent.
   */
  readonly echo?: ((body: Body) => { readonly type: string } & Readonly<Record<string, unknown>>) | undefined
}

/** What happened to a user, as frames show it; `id` tells it apart from all else of its kind that happened to him. */
export interface UserRow {
  readonly user: Address
  readonly id: string
  readonly row: unknown
}

/** A block as channels are shown it. */
export interface BlockEvents extends RelayEvents {
  /** What no block holds: the relay itself asked for it when it had been shown the block. */
  readonly fetched?: {
    /** Funding payments. */
    readonly paid?: readonly UserRow[]
    /** What became of outcome markets. */
    readonly outcomes?: readonly object[]
    /** Candles that trades have changed. */
    readonly candles?: readonly object[]
  }
}

/** What of a block a channel shows. Views are shared: an item's text is built once however many bodies show it. */
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

/** Text that follows the other fields of an envelope. */
export function metaText(meta: Meta | null): string {
  return meta ? `,"block_height":${meta.height},"time":${meta.time}` : ''
}

/** A question that `POST /info` knows. */
export interface InfoRequest {
  readonly type: string
  readonly [field: string]: unknown
}

/** What was before a subscription of events: the rows of an info answer become its first frame. */
interface EventHistory<Body, Item> {
  /** `tries`: how often it was asked without an answer that could be shown. */
  readonly infoRequest: (body: Body, nowMs: number, tries: number) => InfoRequest
  /** As frames show them, the oldest first, each with what tells it apart. May throw on what is no answer. */
  readonly rows: (answer: unknown) => readonly (readonly [id: string, row: unknown])[]
  /** What tells the row apart that an item of a block becomes: no row may be told twice. */
  readonly idOf: (item: Item) => string
  readonly encode: (pieces: readonly string[], body: Body) => string
}

/** A channel of what happened in each block. */
export interface EventChannel<Body, Item, Frame> extends Channel<Body, Frame> {
  readonly source: 'events'
  /** What bodies are found by; null where a body names nothing. */
  readonly by: 'address' | 'coin' | null
  /** All that `view` answers. */
  readonly views: readonly EventView<Item>[]
  readonly view: (body: Body) => EventView<Item>
  /** Names that a body stands under in the index; `EVERY` for one that wants all. */
  readonly names: (body: Body) => readonly string[]
  /**
   * Distinct names that an item is found by, none where the channel does not show it; a body that is framed whole
   * stands under one of them at most.
   */
  readonly namesOf: (item: Item) => readonly string[]
  /** What becomes one frame of a block: all that a body has of it, what a name has of it, or each item. */
  readonly framing: 'per body' | 'per name' | 'per item'
  /**
   * `pieces` are texts of the view, at least one. `meta` null: the frame exactly as specified. `body` is that of one of
   * the receivers: nothing of it may show in frames that are not built per body.
   */
  readonly encode: (pieces: readonly string[], meta: Meta | null, name: string, body: Body) => string
  readonly history?: EventHistory<Body, Item>
  /** It shows what no block holds: funding payments, whose names are users, changes of outcome markets, or candles. */
  readonly fetched?: 'paid' | 'outcomes' | 'candles'
  /** It shows order statuses, of users whom its bodies name alone; or more than fills, which may be all that is known of old. */
  readonly needs?: 'orders' | 'events'
}

/** True where earlier blocks can be told again: they hold all that it shows. */
export function canReplay({ fetched, needs }: AnyEventChannel): boolean {
  return fetched === undefined && needs !== 'orders'
}

/** Frames of one block for one body. `broken`: a coin lost its continuity, and this channel cannot begin it again. */
export interface BlockTexts {
  readonly texts: readonly string[]
  readonly isBroken: boolean
}

/** A channel of books, by coin or market type. */
export interface BookChannel<Frame> extends Channel<BookBody, Frame> {
  readonly source: 'books'
  /** The first frame of a coin; null where clients fetch books by themselves and see by the frames what they missed. */
  readonly snapshot: ((book: Omit<BookSnapshot, 'epoch' | 'seq'>) => string) | null
  /** Pieces of a coin that are the same for every body are kept in its entry. Levels are never parsed. */
  readonly encode: (block: BookBatch, isChecked?: boolean) => BlockTexts
}

/** A body that subscribes to views of books; `view` is a name of order-books/view.ts. */
export interface ViewBody extends BookBody {
  readonly view: string
  readonly echo: { readonly type: string } & Readonly<Record<string, unknown>>
  /** Of a joint frame, how often it comes at most. */
  readonly everyMs?: number
  readonly dex?: string | undefined
}

/** A coin's view as it was in a block of this time. */
export interface CoinView {
  readonly coin: Coin
  readonly time: number
  readonly text: string
}

/** A channel of whole states of books. */
export type ViewChannel<Frame> = (PerCoinEncoding | JointEncoding) & ViewBase<Frame>

/** Each coin has a frame of its own, for which `body` is that of any receiver. */
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
  /** What bodies are found by, for people; null where a body names nothing. */
  readonly by: string | null
}

/** An info answer that states are made of. */
export interface StateResponse {
  readonly text: string
  /** Parsed once for all who look. Throws where it is no JSON. */
  readonly value: unknown
}

/** An answer of this text, parsed when somebody looks. */
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

/** A question that a state is made of, and how often it is asked again at least, in ms. */
export type StateRequest = readonly [question: InfoRequest, everyMs: number]

/** A channel of what info answers now: read for all who want it together, and again when it may have changed. */
interface StateChannel<Body, Part, Frame> extends Channel<Body, Frame> {
  readonly source: 'states'
  /** Name of a body's frames where it depends on the body. */
  readonly frameNameOf?: (body: Body) => string
  /** The coin of a body that must have a book. */
  readonly coin?: (body: Body) => string
  /** `first`: what is kept of the answer to the first question, on which others may depend; undefined before it came. */
  readonly requests: (body: Body, first: Part | undefined) => readonly StateRequest[]
  /** What of an answer frames are made of. It may throw on what is no answer, as may `data`. */
  readonly extract: (answer: StateResponse, question: InfoRequest) => Part
  /** JSON of the whole state, in the order of the questions. */
  readonly data: (body: Body, parts: readonly Part[]) => string
  /**
   * Where frames after the first show what is new alone: JSON of that, null for nothing, and a mark by which the next call
   * knows what was shown; undefined at first.
   */
  readonly changes?: (body: Body, parts: readonly Part[], mark: unknown) => { text: string | null; mark: unknown }
  /** It is sent every few seconds though nothing has changed. */
  readonly repeats?: boolean
  /** Frames hold base64 of the deflated JSON. */
  readonly isDeflated?: boolean
}

/** Of one coin. */
interface L4Body {
  readonly coin: Coin
}

/** A channel of orders one by one: a Snapshot, then what a node wrote of each block. */
export interface L4Channel<Frame> extends Channel<L4Body, Frame> {
  readonly source: 'l4'
  /** `levels` is JSON text, in pieces. */
  readonly snapshot: (coin: Coin, place: OrdersPosition, levels: readonly string[]) => string
  /** `rows` is the inside of a JSON object: `order_statuses` and `book_diffs`. No block since that of `prev` had any. */
  readonly encode: (place: OrdersPosition, prev: number, rows: string) => string
}

/** Under this name stand bodies that want every item. */
export const EVERY = ''

/** A channel of events, the types of its body and items forgotten: it takes what its own schema and view put out. */
export type AnyEventChannel<Frame = unknown> = EventChannel<unknown, unknown, Frame>
export type AnyStateChannel<Frame = unknown> = StateChannel<unknown, unknown, Frame>
export type AnyChannel =
  | AnyEventChannel
  | BookChannel<unknown>
  | ViewChannel<unknown>
  | AnyStateChannel
  | L4Channel<unknown>

/**
 * A channel of events at one credit a minute. Keeps a definition's own types while checking it, and forgets all but its
 * frame's for the catalogue.
 */
export function defineEventChannel<Body, Item, Frame>(
  channel: Omit<EventChannel<Body, Item, Frame>, 'source' | 'price'>,
): AnyEventChannel<Frame> {
  const whole: EventChannel<Body, Item, Frame> = { ...channel, source: 'events', price: ONE_CREDIT }
  return whole as AnyEventChannel<Frame>
}

/** A channel of views, whose bodies are acknowledged as they say. */
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
  /** What frames are, where they are not all called after the channel. */
  readonly frame?: z.ZodType
}

/** A channel of states, with one credit for a minute of it. A body is acknowledged in its normal form. */
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

/** A body as a client asked for it, in its normal form: its `dex`, where it has one and that is not `''`, must exist. */
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

/** True for a body of events that earlier blocks can be told of. */
export function isReplayable(target: Target): target is EventsTarget {
  return target.source === 'events' && canReplay(target.channel)
}

/** What a body is acknowledged and identified by. */
export function echoOf<Sent extends { readonly type: string }>(sent: Sent, { channel, body }: Target) {
  return (channel as AnyEventChannel).echo?.(body) ?? sent
}

/** The schema of frames that documents show. */
export function publishedFrame({ published, frame }: AnyChannel): z.ZodType {
  return published ?? frame
}

/** Micro-credits of a started minute. */
export function minutePrice({ channel, body }: Target): MicroCredits {
  const price = channel.price as MicroCredits | ((body: unknown) => MicroCredits)
  return typeof price === 'function' ? price(body) : price
}
