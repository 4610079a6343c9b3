// Oracle updates of builder-deployed DEXes, one row per market. Field names and values are the node's. Entries without
// a valid coin are skipped. The main DEX has no such updates.

import * as z from 'zod'
import type { Coin } from '../../core/coin.ts'
import { getOrCreate } from '../../core/get-or-create.ts'
import { openEnum } from '../../core/open-kinds.ts'
import { CoinName, Decimal } from './block.ts'

/** `[coin, price]`, possibly several of one coin. */
const INPUTS = ['mark_px_inputs', 'spot_px_inputs', 'external_perp_px_inputs'] as const
/** Lists of `[coin, state]` in `oracle_pxs`, by the row's field. */
const STATES = {
  mark_px: 'coin_to_mark_px',
  oracle_px: 'coin_to_oracle_px',
  external_perp_px: 'coin_to_external_perp_px',
} as const

/** The new prices of one market. A field is absent if the update does not contain it. */
export interface OracleRow {
  readonly coin: Coin
  readonly update_class?: unknown
  readonly mark_px_inputs?: readonly unknown[]
  readonly spot_px_inputs?: readonly unknown[]
  readonly external_perp_px_inputs?: readonly unknown[]
  readonly mark_px?: unknown
  readonly oracle_px?: unknown
  readonly external_perp_px?: unknown
}

const PxState = z.looseObject({
  px: Decimal,
  last_update_time: z
    .string()
    .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?$/)
    .describe('Time of the last change, UTC, with nanoseconds; 1970 if there was none'),
  daily_px: Decimal.describe("Start of the day's price range"),
})
const inputs = (words: string) => z.array(Decimal).optional().describe(words)

/** Published shape. The feed accepts any event that a node writes. */
export const PublishedOracleRow = z.object({
  coin: CoinName.describe('Market'),
  update_class: openEnum('Deployer', 'Fallback').describe('Source of the prices'),
  mark_px_inputs: inputs('Mark price inputs'),
  spot_px_inputs: inputs('Spot price inputs'),
  external_perp_px_inputs: inputs('Inputs of external perp prices'),
  mark_px: PxState.optional().describe('Resulting mark price'),
  oracle_px: PxState.optional().describe('Resulting oracle price'),
  external_perp_px: PxState.optional().describe('Resulting external perp price'),
})

const pairsOf = (list: unknown): readonly unknown[] => (Array.isArray(list) ? list : [])

/** The rows of a block's updates. Markets of one update are in the order of their first appearance. */
export function oracleRows(updates: readonly unknown[] = []): OracleRow[] {
  return updates.flatMap((update) => {
    const fields = Object(update) as Record<string, unknown>
    const results = Object(fields.oracle_pxs) as Record<string, unknown>
    const rows = new Map<Coin, Record<string, unknown>>()
    const put = (list: unknown, add: (row: Record<string, unknown>, value: unknown) => void) => {
      for (const pair of pairsOf(list)) {
        const [name, value] = pairsOf(pair)
        const coin = CoinName.safeParse(name)
        if (coin.success)
          add(
            getOrCreate(rows, coin.data, () => ({ update_class: fields.update_class })),
            value,
          )
      }
    }
    for (const name of INPUTS)
      put(fields[name], (row, value) => {
        const list = row[name] as unknown[] | undefined
        if (list) list.push(value)
        else row[name] = [value]
      })
    for (const [name, list] of Object.entries(STATES))
      put(results[list], (row, value) => {
        row[name] = value
      })
    return [...rows].map(([coin, row]) => ({ coin, ...row }))
  })
}
