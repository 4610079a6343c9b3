// What a server of ClickHouse has: the columns of a table, and which settings of an INSERT it knows, since it refuses those that
// it does not. Asked once, and remembered for a while.

import * as z from 'zod'
import { BoundedMap } from '../../core/bounded-map.ts'
import type { Egress } from '../../egress/egress.client.ts'
import type { Outcome } from '../batch.ts'
import type { DestinationConfig } from '../pipeline.ts'
import type { TableColumns } from './clickhouse-rows.ts'
import { basic, excerpt, exchange, outcomeOf } from './http.client.ts'

export type ClickHouseConfig = Extract<DestinationConfig, { type: 'clickhouse' }>

export interface ClickHouseTable {
  /** None: there is no such table, or the user may not see it. */
  readonly columns: TableColumns
  readonly settings: ReadonlySet<string>
}

const KEPT_MS = 60_000
const TABLES_MOST = 16
/** Each name with its type; a setting has none. */
const Answer = z.object({ data: z.array(z.tuple([z.string(), z.string()])) })

export class ClickHouseTables {
  readonly #known = new BoundedMap<string, { readonly untilMs: number; readonly table: ClickHouseTable }>(TABLES_MOST)

  async of(
    config: ClickHouseConfig,
    settings: readonly string[],
    egress: Egress,
  ): Promise<ClickHouseTable | (Outcome & { readonly ok: false })> {
    const key = JSON.stringify(config)
    const known = this.#known.get(key)
    if (known && known.untilMs > Date.now()) return known.table
    const table = await asked(config, settings, egress)
    // One that is missing may be there the next time.
    if ('columns' in table && table.columns.size > 0) this.#known.set(key, { untilMs: Date.now() + KEPT_MS, table })
    return table
  }

  /** It may be another one by now. */
  forget(config: ClickHouseConfig): void {
    this.#known.delete(JSON.stringify(config))
  }
}

/** A table may be named with its database. */
export function placeOf({ database, table }: ClickHouseConfig): readonly [database: string, table: string] {
  const [first = '', ...rest] = table.split('.')
  return rest.length === 0 ? [database, first] : [first, rest.join('.')]
}

/** What is sent besides by whoever asks or writes. */
export function accessOf({ user, password }: ClickHouseConfig) {
  const authorization = basic(user, password)
  return { headers: { authorization }, secrets: [password, authorization.split(' ')[1]!] }
}

async function asked(config: ClickHouseConfig, settings: readonly string[], egress: Egress) {
  const [database, table] = placeOf(config)
  const { headers, secrets } = accessOf(config)
  const body =
    `SELECT name, '' AS type FROM system.settings WHERE name IN (${settings.map(text).join(', ')}) UNION ALL ` +
    `SELECT name, type FROM system.columns WHERE database = ${text(database)} AND table = ${text(table)} ` +
    `AND default_kind NOT IN ('MATERIALIZED', 'ALIAS', 'EPHEMERAL') FORMAT JSONCompact`
  const failed = (words: string) => ({ ok: false, words }) as const
  const answer = await exchange({ url: config.url, headers, body }, egress)
  const outcome = outcomeOf(answer, 0, secrets)
  if (!outcome.ok) return outcome
  const said = 'text' in answer ? answer.text : ''
  const found = read(said)
  if (found === null) return failed(`the destination does not answer as ClickHouse does: ${excerpt(said, secrets)}`)
  const columns = new Map(found.filter(([, type]) => type !== ''))
  return { columns, settings: new Set(found.filter(([, type]) => type === '').map(([name]) => name)) }
}

function read(answer: string): readonly [string, string][] | null {
  try {
    return Answer.parse(JSON.parse(answer)).data
  } catch {
    return null
  }
}

/** Names of records hold letters, digits, "_" and "."; those of settings are our own. */
const text = (name: string) => `'${name}'`
