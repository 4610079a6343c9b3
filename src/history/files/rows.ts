// The rows of a block by whose they are. Law: a key has one line of each block that holds something for it, with its rows
// in the order of the block; lines of a key in order of height are all of its rows, each once.

import type { LedgerEvent, UserFill } from '../../feed/block.ts'
import type { RelayEvents } from '../../feed/log-api.ts'
import { stakingOf } from '../../feed/staking-events.ts'
import type { FilesBlock, FilesRequest } from './files-read.ts'

/** What is read of a line of events. */
export type EventsOfBlock = Pick<RelayEvents, 'height' | 'time' | 'fills' | 'ledger' | 'funding' | 'only'> & {
  readonly events?: readonly unknown[]
}

/** Of all fills in the order of the chain: files of minutes have it, out of which those of hours make tables. */
export const ALL_FILLS = 't:'

const OF_USERS = { fills: 'u', ledger: 'l', staking: 's' } as const
const ADDRESS = /^0x[0-9a-f]{40}$/
/** Behind these words of a line stands the text of the rows. */
const WORDS = 3

/** A line without its rows. */
export interface LineHead {
  readonly height: number
  readonly time: number
  readonly rows: number
}

/** Keys sort builders before ledgers, stakes and users. */
export function keyOf({ kind, scope }: Pick<FilesRequest, 'kind' | 'scope'>): string {
  if (scope.by === 'builder') return `b:${scope.address}`
  return `${OF_USERS[kind]}:${scope.address}`
}

/** The lines of a block by key. A builder that is no address has no rows of its own. */
export function linesOf({ height, time, fills, ledger, events }: EventsOfBlock): Map<string, string> {
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
  for (const [kind, told] of [['l', ledger] as const, ['s', stakingOf(events)] as const])
    for (const event of told) {
      const text = JSON.stringify(event)
      for (const user of new Set(event.users)) put(`${kind}:${user}`, text)
    }
  const lineOf = (rows: readonly string[]) => textOf({ height, time, rows: rows.length }, `[${rows.join(',')}]`)
  return new Map([...texts].map(([key, rows]) => [key, lineOf(rows)]))
}

export function textOf({ height, time, rows }: LineHead, list: string): string {
  return `${height}\t${time}\t${rows}\t${list}`
}

export function headOf(line: string): LineHead {
  const [height, time, rows] = line.split('\t', WORDS)
  return { height: Number(height), time: Number(time), rows: Number(rows) }
}

/** The rows of a line: fills, or of a ledger events. */
export function rowsOf(line: string): readonly (UserFill | LedgerEvent)[] {
  return JSON.parse(line.slice(line.indexOf('\t['))) as readonly (UserFill | LedgerEvent)[]
}

export function blockOf(line: string, kind: FilesRequest['kind']): FilesBlock {
  const { height, time } = headOf(line)
  const rows = rowsOf(line)
  const [fills, ledger] = kind === 'fills' ? [rows, []] : [[], rows]
  return { height, time, fills: fills as UserFill[], ledger: ledger as LedgerEvent[], funding: [] }
}
