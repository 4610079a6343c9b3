// Request and response shapes of completed trades. Amounts computed by Weir have no trailing zeros.

import * as z from 'zod'
import { MAIN_DEX } from '../../core/coin.ts'
import { Address } from '../feed/block.ts'
import { Decimal } from './common-shapes.ts'
import { DexOrAll, isAllDexes, optional } from './request-fields.ts'

/** True if the window has a start, either `startTime` or the cursor. */
export function hasStart({ startTime, cursor }: { startTime?: number | undefined; cursor?: string | undefined }) {
  return startTime !== undefined || cursor !== undefined
}

/** Message when `hasStart` fails. */
export const START_REQUIRED = { path: ['startTime'], message: 'is required unless a cursor is given' }

const LIMIT_DEFAULT = 100
const LIMIT_MAX = 500

/** Rows per page. A larger value than the maximum becomes the maximum. */
export const TradeLimit = optional(z.int().min(1)).transform((limit) => Math.min(limit ?? LIMIT_DEFAULT, LIMIT_MAX))

/**
 * DEX of the trades. If absent, all DEXes; if empty, the main DEX. The parsed value is absent, `main_dex` or a name.
 */
export const TradeDex = z
  .preprocess((dex) => (dex === '' ? MAIN_DEX : dex), DexOrAll)
  .transform((dex) => (isAllDexes(dex) ? undefined : dex))

/** A position from open to close, reconstructed from fills. */
export const CompletedTrade = z
  .object({
    user: Address,
    coin: z.string(),
    position_type: z.enum(['Long', 'Short']),
    gross_pnl: Decimal.describe('Profit before fees and funding'),
    net_pnl: Decimal.describe('Profit after both'),
    funding_pnl: Decimal.describe('Funding, negative when paid'),
    entry_px: Decimal,
    exit_px: Decimal,
    position_closed_size: Decimal,
    fees: Decimal,
    fills: z.int(),
    open_time: z.int(),
    close_time: z.int(),
    duration_ms: z.int().describe('Duration in milliseconds'),
    max_position_size: Decimal,
    maker_fills: z.int(),
    builder: Address.nullable(),
    tx_index: z.int().describe('Position among trades with the same close time'),
  })
  .meta({ id: 'CompletedTrade' })
