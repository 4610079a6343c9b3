// How a topic turns log blocks into rows. Invariants: the same blocks and state produce the same rows and keys; unknown
// data of a block becomes a row that says so and is never dropped silently.

import type { Column } from '../../archive/files/columns.ts'
import type { Coin } from '../../core/coin.ts'
import type { Issue } from '../../core/failure.ts'
import { getOrCreate } from '../../core/get-or-create.ts'
import type { Result } from '../../core/result.ts'
import type { BlockEvents, EventsTarget, EventView, Target } from '../../relay/channel.ts'

/**
 * `row`: data. `gap`: rows of these heights are unknown. `reset`: the books of these coins, or all books, start over.
 */
type RowKind = 'row' | 'gap' | 'reset'

/** Head of every row. Topic columns start with a letter. */
interface RowHead {
  readonly _kind: RowKind
  /** Unique within the pipeline; the same when the row is sent again. */
  readonly _key: string
  readonly _height: number
  /** Block time, Unix ms. */
  readonly _time: number
}
export type Row = RowHead & Readonly<Record<string, unknown>>

/** A log line, of which only the parts that the topic needs are parsed. */
export interface TopicBlock {
  readonly height: number
  readonly time: number
  /** Epoch of the books. It is null if unknown, and missing from old lines. */
  readonly epoch?: string | null
}

/** Processes blocks, oldest first. */
export interface TopicFold<Block extends TopicBlock = TopicBlock> {
  /** `rows`: the line of order statuses or signed actions, if the topic uses them and they are known. */
  parse(line: string, rows?: string): Block
  rows(block: Block): readonly Row[]
  /** Called when the next heights are missing. */
  onGap?(): void
  /** JSON state that later rows depend on; null or omitted if there is none. */
  state?(): string | null
  /** True if later blocks need not be read. */
  isDone?(): boolean
}

/** How blocks around repaired heights are read again if rows of other heights depend on them. */
export interface Reread {
  /** The time from which blocks matter. `timeMs`: time of a block at or before the last one before the repaired heights. */
  fromMs(target: Target | null, timeMs: number): number
  /** Blocks later than this after the last repaired block are not read. */
  readonly maxAfterMs: number
  /** The part of a state that rows of later blocks depend on. */
  lasting(state: string | null): string | null
}

/** `orders` and `replica`: lines of events, with a line of rows that feeders send on request. */
export type LineKind = 'events' | 'books' | 'orders' | 'replica'

/** Tells which blocks matter to pipelines. Pipelines that share a source share one evaluation of each block. */
export interface TriggerSource {
  /** Names that have rows in the block, possibly repeated; null: the block matters to every pipeline of the source. */
  namesIn(block: TopicBlock): Iterable<string> | null
}

/** A block matters to a pipeline if its source finds one of these names in the block. */
export interface TopicTrigger {
  readonly source: TriggerSource
  readonly names: readonly string[]
}

export interface TopicDefinition {
  /** Kind of log lines to read. */
  readonly lines: LineKind
  readonly columns: readonly Column[]
  /**
   * Blocks that do not match produce no rows and leave the fold's state unchanged. Absent if every block may change the
   * state.
   */
  trigger?(target: Target | null): TopicTrigger
  /** Absent if rows depend only on their own block, or repaired heights lack the data of the topic. */
  readonly reread?: Reread
  /** The definition for a filter that is no subscription. The error names the invalid field. */
  narrow?(filter: { readonly type: string }): Result<TopicDefinition, Issue>
  /** `target`: the filter's subscription; `state`: state of an earlier fold. */
  open(target: Target | null, state: string | null): TopicFold
}

/** Columns of every row, before the topic's columns. */
export const HEAD_COLUMNS: readonly Column[] = [
  { name: '_kind', type: 'text' },
  { name: '_key', type: 'text' },
  { name: '_height', type: 'whole' },
  { name: '_time', type: 'time' },
]

/** Columns of gap and reset rows, and of repaired rows. */
export const NOTE_COLUMNS: readonly Column[] = [
  { name: '_repaired', type: 'truth', isOptional: true },
  { name: '_from', type: 'whole', isOptional: true },
  { name: '_reason', type: 'text', isOptional: true },
  { name: '_epoch', type: 'text', isOptional: true },
]

/** Rows of heights `from` to `to` are missing or incomplete. `time`: time of a nearby block. */
export function gapRow(from: number, to: number, time: number, reason: string): Row {
  return { _kind: 'gap', _key: `gap:${from}-${to}`, _height: to, _time: time, _from: from, _reason: reason }
}

/** A row of a height that was missing when the pipeline passed it. It has the key that it would have had then. */
export function repairedRow(row: Row): Row {
  return { ...row, _repaired: true }
}

/** Row that reports a reset: of the books of all coins (with an epoch), or of one coin's book. */
export function resetRow(height: number, time: number, epoch: string | null, coin: Coin | null = null): Row {
  const key = coin === null ? `reset:${height}` : `reset:${height}:${coin}`
  return { _kind: 'reset', _key: key, _height: height, _time: time, _epoch: epoch, ...(coin !== null && { coin }) }
}

/** Rows of one block. Repeated keys get a counter as suffix. */
export function keyedRows(
  { height, time }: TopicBlock,
  rows: readonly (readonly [key: string, cells: Readonly<Record<string, unknown>>])[],
): Row[] {
  const seen = new Map<string, number>()
  return rows.map(([name, cells]) => {
    const times = (seen.get(name) ?? 0) + 1
    seen.set(name, times)
    const key = times === 1 ? `${height}:${name}` : `${height}:${name}:${times}`
    return { _kind: 'row', _key: key, _height: height, _time: time, ...cells }
  })
}

/**
 * Items of a block that a subscription matches, with the names that match. `names` is null if the subscription takes
 * all items of the view.
 */
export function visibleItems<Item>(
  target: Target | null,
  view: EventView<Item>,
): (block: BlockEvents) => readonly { readonly item: Item; readonly names: readonly string[] | null }[] {
  if (target === null) return (block) => view.items(block).map((item) => ({ item, names: null }))
  const { channel, body } = target as EventsTarget
  const own = new Set(channel.names(body))
  const { items } = channel.view(body) as EventView<Item>
  return (block) =>
    items(block).flatMap((item) => {
      const names = channel.namesOf(item).filter((name) => own.has(name))
      return names.length > 0 ? [{ item, names }] : []
    })
}

/** Triggers of the topics that show a channel's items. Without a filter, any item matters. */
export class ItemTriggers<Item> {
  readonly #view: EventView<Item>
  readonly #isUnknown: (block: TopicBlock) => boolean
  readonly #ofAll: TriggerSource
  /** Channels select items of different views. */
  readonly #sources = new Map<unknown, Map<unknown, TriggerSource>>()

  /** `isUnknown`: the items of a block are unknown, which matters to all. */
  constructor(view: EventView<Item>, isUnknown: (block: TopicBlock) => boolean) {
    this.#view = view
    this.#isUnknown = isUnknown
    this.#ofAll = {
      namesIn: (block) => (isUnknown(block) || this.#view.items(block as BlockEvents).length > 0 ? null : []),
    }
  }

  of(target: Target | null): TopicTrigger {
    if (target === null) return { source: this.#ofAll, names: [] }
    const { channel, body } = target as EventsTarget
    const view = channel.view(body)
    const ofView = getOrCreate(this.#sources, view, () => new Map<unknown, TriggerSource>())
    const namesIn = (block: TopicBlock) =>
      this.#isUnknown(block) ? null : view.items(block as BlockEvents).flatMap((item) => channel.namesOf(item))
    return { source: getOrCreate(ofView, channel, () => ({ namesIn })), names: channel.names(body) }
  }
}
