// What a topic makes of the log: rows. Laws: the same blocks after the same state make the same rows, with the same keys; what
// is not known of a block is a row that says so, and never nothing.

import type { Column } from '../../archive/files/columns.ts'
import type { Coin } from '../../core/coin.ts'
import type { BlockEvents, EventsTarget, EventView, Target } from '../../relay/channel.ts'

/** `row`: data. `gap`: rows of these heights are not known. `reset`: books begin anew, of these coins or of all. */
type RowKind = 'row' | 'gap' | 'reset'

/** What each row has; names of its own columns begin with a letter. */
interface RowHead {
  readonly _kind: RowKind
  /** Tells the row apart from all others of its pipeline; a row that is sent again has the same. */
  readonly _key: string
  readonly _height: number
  /** Of the block, Unix ms. */
  readonly _time: number
}
export type Row = RowHead & Readonly<Record<string, unknown>>

/** A line of the log, read as far as the topic needs it. */
export interface TopicBlock {
  readonly height: number
  readonly time: number
  /** Of the books, null where they are not known; old lines do not say. */
  readonly epoch?: string | null
}

/** Goes through blocks, oldest first. */
export interface TopicFold<Block extends TopicBlock = TopicBlock> {
  /** `orders`: the line of order statuses, where the topic has them. */
  parse(line: string, orders?: string): Block
  rows(block: Block): readonly Row[]
  /** Heights follow that nobody has. */
  onGap?(): void
  /** JSON of what the rows of later blocks depend on; null, or left out: nothing. */
  state?(): string | null
}

export type LineKind = 'events' | 'books' | 'orders'

export interface TopicDefinition {
  /** Which lines it reads. */
  readonly lines: LineKind
  readonly columns: readonly Column[]
  /** `wanted` is what the filter asks for, `state` what a fold before said. */
  open(wanted: Target | null, state: string | null): TopicFold
}

/** Columns of every row, before its own. */
export const HEAD_COLUMNS: readonly Column[] = [
  { name: '_kind', type: 'text' },
  { name: '_key', type: 'text' },
  { name: '_height', type: 'whole' },
  { name: '_time', type: 'time' },
]

/** Columns of rows that are no data. */
export const NOTE_COLUMNS: readonly Column[] = [
  { name: '_from', type: 'whole', isOptional: true },
  { name: '_reason', type: 'text', isOptional: true },
  { name: '_epoch', type: 'text', isOptional: true },
]

/** Heights `from` to `to` have no rows, or not all. `time`: of a block beside them. */
export function gapRow(from: number, to: number, time: number, reason: string): Row {
  return { _kind: 'gap', _key: `gap:${from}-${to}`, _height: to, _time: time, _from: from, _reason: reason }
}

/** Books begin anew: all of them with an epoch, or those of some coins. */
export function resetRow(height: number, time: number, epoch: string | null, coin: Coin | null = null): Row {
  const key = coin === null ? `reset:${height}` : `reset:${height}:${coin}`
  return { _kind: 'reset', _key: key, _height: height, _time: time, _epoch: epoch, ...(coin !== null && { coin }) }
}

/** Rows of one block: a key that comes again is told apart by how often it came. */
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

/** What of a block a subscription shows, and under which of its names; all of a view without one. */
export function visibleItems<Item>(
  wanted: Target | null,
  view: EventView<Item>,
): (block: BlockEvents) => readonly { readonly item: Item; readonly names: readonly string[] | null }[] {
  if (wanted === null) return (block) => view.items(block).map((item) => ({ item, names: null }))
  const { channel, body } = wanted as EventsTarget
  const own = new Set(channel.names(body))
  const { items } = channel.view(body) as EventView<Item>
  return (block) =>
    items(block).flatMap((item) => {
      const names = channel.namesOf(item).filter((name) => own.has(name))
      return names.length > 0 ? [{ item, names }] : []
    })
}
