// The file of submitted transactions: one line of JSON each. Invariant: a transaction is in the file before its sender
// hears of it, so it survives a kill of this process.

import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs'
import { parseJson } from '../core/json.ts'
import { ChainError } from './chain.node.ts'
import { formatSubmitted, Ledger, readSubmitted } from './evm/ledger.ts'

/** Opens the file, or starts an empty one. Drops an incomplete last line. Throws a ChainError for other damage. */
export function openLedger(path: string): Ledger {
  const ledger = new Ledger((submitted) => appendFileSync(path, `${formatSubmitted(submitted)}\n`))
  if (!existsSync(path)) return ledger
  const text = readFileSync(path, 'utf8')
  const complete = text.slice(0, text.lastIndexOf('\n') + 1)
  if (complete.length < text.length) truncateSync(path, Buffer.byteLength(complete))
  for (const line of complete.split('\n').slice(0, -1)) {
    const submitted = readSubmitted(parseJson(line))
    if (submitted === undefined) throw new ChainError(`${path} has a line that is not a transaction.`)
    ledger.restore(submitted)
  }
  return ledger
}
