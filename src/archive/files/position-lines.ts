// Changes of positions in files. Each block has a line per coin with a row per wallet. A digest of these lines has a row
// per wallet and cell, a fixed range of heights, so that a reader of many blocks reads few rows. Invariant: rows that
// were not digested, or only in part, give the same positions; a digest only saves rows.

import type { Coin } from '../../core/coin.ts'
import type { Address, UserFill } from '../../protocol/feed/block.ts'
import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import {
  changeOf,
  changeOfRow,
  joinChanges,
  type PositionChange,
  PositionFold,
  type PositionRow,
  rowOf,
} from '../positions.ts'
import { headOf, lineText, rowsOf } from './rows.ts'

/** Heights per cell: about 45 minutes of the exchange. */
const CELL = 32_768
const DIGEST_PREFIX = 'd:'
const POSITION_PREFIX = 'p:'

export const positionKey = (coin: Coin): string => POSITION_PREFIX + coin
export const digestKey = (coin: Coin): string => DIGEST_PREFIX + coin
export const isDigest = (key: string): boolean => key.startsWith(DIGEST_PREFIX)
/** The key of the digest of a key's lines; null for other keys. */
export function digestKeyOf(key: string): string | null {
  return key.startsWith(POSITION_PREFIX) ? digestKey(key.slice(POSITION_PREFIX.length)) : null
}
/** A range of all keys of digests, both ends exclusive. */
export const DIGEST_KEYS = { after: DIGEST_PREFIX, before: 'd;' } as const
export const coinOfDigest = (key: string): Coin => key.slice(DIGEST_PREFIX.length)

/** The rows of a block by coin, one per wallet. */
export function positionRows(fills: readonly UserFill[], at: HeightAndTime): Map<Coin, PositionRow[]> {
  const coins = new Map<Coin, Map<Address, PositionChange>>()
  for (const [user, fill] of fills) {
    const change = changeOf(fill, at)
    if (!change) continue
    const users = coins.get(fill.coin) ?? new Map<Address, PositionChange>()
    coins.set(fill.coin, users)
    const before = users.get(user)
    users.set(user, before ? joinChanges(before, change) : change)
  }
  return new Map([...coins].map(([coin, users]) => [coin, [...users].map(([user, change]) => rowOf(user, change))]))
}

/** Adds the rows of a line. */
export function addLine(fold: PositionFold, line: string): void {
  const head = headOf(line)
  for (const row of rowsOf(line) as readonly PositionRow[]) fold.add(row[0], changeOfRow(row, head))
}

/** Lines with one row per wallet, at the block of its last fill, in height order. */
export function linesOfChanges(changes: ReadonlyMap<Address, PositionChange>): string[] {
  const byHeight = Map.groupBy(changes, ([, { height }]) => height)
  return [...byHeight]
    .sort(([a], [b]) => a - b)
    .map(([height, some]) => {
      const rows = some.map(([user, change]) => rowOf(user, change))
      return lineText({ height, time: some[0]?.[1].time ?? 0, rows: rows.length }, JSON.stringify(rows))
    })
}

/** Lines of one key, in height order. Returns fewer rows. */
export function digestLines(lines: readonly string[]): string[] {
  const cells = Map.groupBy(lines, (line) => cellOf(headOf(line).height))
  return [...cells.values()].flatMap((some) => {
    const fold = new PositionFold()
    for (const line of some) addLine(fold, line)
    return linesOfChanges(fold.byUser)
  })
}

const cellOf = (height: number): number => Math.floor(height / CELL)

/** Digests lines in key and height order. Holds the lines of one cell. */
export class Digester {
  readonly #add: (key: string, line: string) => Promise<void>
  #key = ''
  #lines: string[] = []

  constructor(add: (key: string, line: string) => Promise<void>) {
    this.#add = add
  }

  async add(key: string, line: string): Promise<void> {
    const [first] = this.#lines
    const isSame = key === this.#key && first && cellOf(headOf(first).height) === cellOf(headOf(line).height)
    if (!isSame) await this.flush()
    this.#key = key
    this.#lines.push(line)
  }

  async flush(): Promise<void> {
    const lines = digestLines(this.#lines)
    this.#lines = []
    for (const line of lines) await this.#add(this.#key, line)
  }
}

interface KeyRange {
  readonly key: string
  readonly from: number
  readonly upTo: number
}

/** The lines that have all changes from one height up to another, in height order: digests of whole cells, else blocks. */
export function rangesOfChanges(coin: Coin, from: number, upTo: number): readonly KeyRange[] {
  const first = Math.ceil(from / CELL) * CELL
  const behind = Math.floor((upTo + 1) / CELL) * CELL
  const key = positionKey(coin)
  const digest = { key: digestKey(coin), from: first, upTo: behind - 1 }
  const blocks = { key, from, upTo }
  const ranges = first < behind ? [{ ...blocks, upTo: first - 1 }, digest, { ...blocks, from: behind }] : [blocks]
  return ranges.filter((range) => range.from <= range.upTo)
}
