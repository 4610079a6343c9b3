// Splits a block's rows by owner. Invariants: a key has at most one line per block, which contains its rows in block
// order; the lines of a key in height order contain each of its rows once.

import { fundingEvents } from '../../block-log/retained-payments.ts'
import type { Address, LedgerEvent, UserFill } from '../../protocol/feed/block.ts'
import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import { type PaymentRow, readPayments } from '../../protocol/feed/payments.ts'
import { stakingEvents } from '../../protocol/feed/staking-events.ts'
import type { FilesBlock, FilesRequest } from './files-read.ts'

/** The fields of an events line that are used here. */
export type BlockEvents = Pick<
  RelayEvents,
  'height' | 'time' | 'fills' | 'ledger' | 'funding' | 'only' | 'payments' | 'oracle' | 'writer'
> & {
  readonly events?: readonly unknown[]
}

/**
 * Keys of all fills, oracle updates and writer actions in chain order. Minute files have these lines, and hour files
 * turn them into tables.
 */
export const ALL_FILLS = 't:'
export const ALL_ORACLE = 'o:'
export const ALL_WRITER = 'w:'

export const isInChainOrder = (key: string): boolean => [ALL_FILLS, ALL_ORACLE, ALL_WRITER].includes(key)

const USER_PREFIXES = { fills: 'u', ledger: 'l', staking: 's', funding: 'f' } as const
/** Prefix of the keys of funding payments. */
export const FUNDING_PREFIX = `${USER_PREFIXES.funding}:`
const ADDRESS_UNITS = 42
const ADDRESS = /^0x[0-9a-f]{40}$/
/** Number of tab-separated fields before the rows. */
const HEAD_FIELDS = 3

/** The head of a line. */
export interface LineHead {
  readonly height: number
  readonly time: number
  readonly rows: number
}

/** A funding payment. */
export type FundingRow = readonly [timeMs: number, ...PaymentRow]

/** Keys sort by kind: builders, funding, ledgers, staking, users. */
export function keyOf({ kind, scope }: Pick<FilesRequest, 'kind' | 'scope'>): string {
  if (scope.by === 'builder') return `b:${scope.address}`
  return `${USER_PREFIXES[kind]}:${scope.address}`
}

/** The lines of a block by key, except payments. Rows with an invalid builder address are omitted. */
export function linesOf({
  height,
  time,
  fills,
  ledger,
  events,
  oracle = [],
  writer = [],
}: BlockEvents): Map<string, string> {
  const texts = new Map<string, string[]>()
  const put = (key: string, text: string) => {
    const known = texts.get(key)
    if (known) known.push(text)
    else texts.set(key, [text])
  }
  for (const fill of fills) {
    const [user, { builder }] = fill
    const text = JSON.stringify(fill)
    put(`u:${user}`, text)
    put(ALL_FILLS, text)
    if (typeof builder === 'string' && ADDRESS.test(builder)) put(`b:${builder}`, text)
  }
  for (const [kind, list] of [['l', ledger] as const, ['s', stakingEvents(events)] as const])
    for (const event of list) {
      const text = JSON.stringify(event)
      for (const user of new Set(event.users)) put(`${kind}:${user}`, text)
    }
  for (const update of oracle) put(ALL_ORACLE, JSON.stringify(update))
  for (const action of writer) put(ALL_WRITER, JSON.stringify(action))
  const lineOf = (rows: readonly string[]) => lineText({ height, time, rows: rows.length }, `[${rows.join(',')}]`)
  return new Map([...texts].map(([key, rows]) => [key, lineOf(rows)]))
}

/** Payment lines, sorted by key and height. They are generated lazily, because an hour has 60,000 of them. */
export function* fundingLines(blocks: readonly BlockEvents[]): Generator<readonly [key: string, line: string]> {
  const entries = blocks.flatMap(({ height, time, payments }) =>
    (payments ?? []).map((text) => ({ height, time, text, user: text.slice(0, ADDRESS_UNITS) })),
  )
  entries.sort((a, b) => (a.user < b.user ? -1 : a.user > b.user ? 1 : a.height - b.height))
  let at = 0
  for (let entry = entries[0]; entry; ) {
    const { user, height, time } = entry
    const rows: string[] = []
    for (; entry?.user === user && entry.height === height; entry = entries[++at]) {
      const { time: paidMs, rows: own } = readPayments(entry.text)
      for (const row of own) rows.push(JSON.stringify([paidMs, ...row] satisfies FundingRow))
    }
    yield [FUNDING_PREFIX + user, lineText({ height, time, rows: rows.length }, `[${rows.join(',')}]`)]
  }
}

export function lineText({ height, time, rows }: LineHead, list: string): string {
  return `${height}\t${time}\t${rows}\t${list}`
}

export function headOf(line: string): LineHead {
  const [height, time, rows] = line.split('\t', HEAD_FIELDS)
  return { height: Number(height), time: Number(time), rows: Number(rows) }
}

/** The rows of a line: fills, ledger events, payments, or events as the node wrote them. */
export function rowsOf(line: string): readonly unknown[] {
  return JSON.parse(line.slice(line.indexOf('\t['))) as readonly unknown[]
}

/** `user`: the owner of the line, if the owner is a user. */
export function blockOf(line: string, kind: FilesRequest['kind'], user: Address): FilesBlock {
  const { height, time } = headOf(line)
  const rows = kind === 'funding' ? ledgerEventsOf(user, rowsOf(line) as readonly FundingRow[]) : rowsOf(line)
  const [fills, ledger] = kind === 'fills' ? [rows, []] : [[], rows]
  return { height, time, fills: fills as UserFill[], ledger: ledger as LedgerEvent[], funding: [] }
}

const ledgerEventsOf = (user: Address, rows: readonly FundingRow[]): LedgerEvent[] =>
  rows.flatMap(([time, ...row]) => fundingEvents({ user, time, rows: [row] }))
