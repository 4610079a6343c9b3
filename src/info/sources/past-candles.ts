// Candles of the files, and of what the log has behind them. Law: the files are read first, so that the log, which forgets, is
// asked for what is behind them.

import type { CandlesRequest } from '../../archive/filed-candles.ts'
import type { CandleFiles } from '../../archive/files/files-read.ts'
import { type KeptCandles, keptCandles, wantsLog } from '../../archive/kept-candles.ts'
import type { History } from '../ports.ts'
import { archived } from './file-pages.ts'

/** Null where none are kept. */
export async function readCandles(
  { files, history }: { readonly files: CandleFiles | null; readonly history: Pick<History, 'held'> },
  request: CandlesRequest,
): Promise<KeptCandles | null> {
  const filed = files?.candles ? await archived(files.candles(request)) : null
  if (filed === null) return null
  const { coin } = request
  const held = wantsLog(filed, request) ? await history.held({ by: 'coin', coin }, 'fills', filed.to.height) : null
  return keptCandles(filed, held?.ok ? held.value : null, request)
}
