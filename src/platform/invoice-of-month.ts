// The invoice of one month of an account, from its meter and the names of its keys.

import { err, ok, type Result } from '../core/result.ts'
import { invoiceOf, monthTimes, monthWindow } from './invoice.ts'
import type { Platform } from './platform-api.ts'
import type { Refusal } from './refusal.ts'

/** A month that is not over yet is told as far as it has come. */
export async function invoiceFor(
  account: string,
  month: string,
  { meterOf, keys, now }: Platform,
): Promise<Result<ReturnType<typeof invoiceOf>, Refusal>> {
  const { fromMs, toMs } = monthWindow(month)
  const nowMs = now()
  const times = monthTimes(nowMs)
  const meter = meterOf(account)
  const { sinceMs } = await meter.statementSums([fromMs, toMs])
  if (fromMs < times[0]! || fromMs >= times.at(-1)! || sinceMs === null || toMs <= sinceMs) return err(none(month))
  const statement = await meter.statement(fromMs, toMs)
  const hashes = statement.lines.flatMap(({ keyHash }) => (keyHash === null ? [] : [keyHash]))
  const names = await keys.names([...new Set(hashes)])
  return ok(invoiceOf(account, statement, names, [fromMs, toMs, nowMs]))
}

function none(month: string): Refusal {
  const hint = `There is no invoice of ${month}: GET /platform/invoices/ lists those that there are.`
  return { kind: 'not_found', what: 'This invoice', hint }
}
