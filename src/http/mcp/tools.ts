// All tools, in the order in which a model sees them.

import {
  accountOverview,
  completedTrades,
  fills,
  keyUsage,
  liquidatableAccounts,
  pnlSummary,
  positions,
} from './account-tools.ts'
import { archiveCoverage, exportSql, info } from './history-tools.ts'
import { candles, findMarket, funding, marketOverview, orderBook, slippage, trades } from './market-tools.ts'
import type { Tool } from './tool.ts'

export const TOOLS: readonly Tool[] = [
  findMarket,
  marketOverview,
  orderBook,
  slippage,
  candles,
  trades,
  funding,
  accountOverview,
  fills,
  completedTrades,
  pnlSummary,
  positions,
  liquidatableAccounts,
  archiveCoverage,
  exportSql,
  keyUsage,
  info,
]
