// Reads the hourly funding event, which lists every open position and can exceed 20 MB. The feed needs one rate per
// coin and one string of payments per wallet. The deltas are checked by hand, because a schema library would take most
// of a second.

import { DECIMAL, fromScaled, SCALE_DECIMALS, toScaled } from '../core/decimal.ts'
import { parseJson } from '../core/json.ts'
import { err, ok, type Result } from '../core/result.ts'
import { type CoinFunding, CoinName } from '../protocol/feed/block.ts'
import { Payments } from '../protocol/feed/payments.ts'
import { LINE_BEGIN, nodeTimeMs } from './streams.ts'

/** Maximum number of characters of a malformed entry that an error quotes. */
const ECHO_UNITS = 80
const ONE = 10n ** BigInt(SCALE_DECIMALS)

/** Scaled sums over a coin's positions: what longs paid plus what shorts received, and the size. */
interface FundingSum {
  paid: bigint
  size: bigint
}

/**
 * Reads the `Funding` payload of a misc event as USDC per unit of size, with 18 decimals, positive when longs pay. The
 * node rounds each amount, so the ratio of the sums is used: the rounding errors of thousands of positions cancel out.
 * The error names the field.
 */
export function readFunding(payload: unknown): Result<CoinFunding[], string> {
  const sums = sumsOf(payload)
  if (!sums.ok) return sums
  return ok([...sums.value].map(([coin, { paid, size }]) => ({ coin, perUnit: fromScaled((paid * ONE) / size) })))
}

/**
 * Reads the same payload as one Payments string per wallet. `timeMs`: Unix ms of the event. The error names the field.
 */
export function readPayments(payload: unknown, timeMs: number): Result<string[], string> {
  const { deltas, payments } = (payload ?? {}) as { deltas?: unknown; payments?: unknown }
  // shortenLine() has already read the payments.
  if (Array.isArray(payments)) return ok(payments as string[])
  if (payments === null) return err('a user, coin or decimal is invalid')
  if (!Array.isArray(deltas) || !(timeMs >= 0)) return err('deltas must be a list with a valid time')
  const byUser = new Map<string, string>()
  for (const delta of deltas) {
    const { user, coin, funding_amount, szi, funding_rate } = (delta ?? {}) as Record<string, unknown>
    const row = ` ${coin} ${funding_amount} ${szi} ${funding_rate}`
    const name = String(user)
    byUser.set(name, (byUser.get(name) ?? `${name} ${timeMs}`) + row)
  }
  const texts = [...byUser.values()]
  const invalid = texts.find((text) => !Payments.safeParse(text).success)
  return invalid === undefined
    ? ok(texts)
    : err(`${JSON.stringify(invalid.slice(0, ECHO_UNITS))} must have a user, a time, coins and decimals`)
}

/**
 * Shortens a line of misc events: replaces funding deltas with one sum per coin and the payments of each wallet.
 * Reading the result gives the same events as the full line. A partial line that a killed node left at the start is
 * removed. Unreadable parts stay as they are, so that the reader reports them.
 */
export function shortenLine(text: string): string {
  const line = parseJson(text.slice(Math.max(0, text.lastIndexOf(LINE_BEGIN)))) as { events?: unknown } | undefined
  if (line === undefined) return text
  for (const event of Array.isArray(line?.events) ? line.events : []) {
    const inner = (event as { inner?: { Funding?: unknown } } | null)?.inner
    const sums = sumsOf(inner?.Funding)
    if (!inner || !sums.ok) continue
    const deltas = [...sums.value].map(([coin, { paid, size }]) => ({
      coin,
      funding_amount: fromScaled(-paid),
      szi: fromScaled(size),
    }))
    const payments = readPayments(inner.Funding, nodeTimeMs(String((event as { time?: unknown }).time)))
    inner.Funding = { deltas, payments: payments.ok ? payments.value : null }
  }
  return JSON.stringify(line)
}

function sumsOf(payload: unknown): Result<Map<string, FundingSum>, string> {
  const { deltas } = (payload ?? {}) as { deltas?: unknown }
  if (!Array.isArray(deltas)) return err('deltas must be a list')
  const sums = new Map<string, FundingSum>()
  for (const [index, delta] of deltas.entries()) {
    const { coin, funding_amount, szi } = (delta ?? {}) as Record<string, unknown>
    if (!isDecimal(funding_amount)) return err(`deltas.${index}.funding_amount must be a decimal`)
    if (!isDecimal(szi)) return err(`deltas.${index}.szi must be a decimal`)
    const size = toScaledSigned(szi)
    let sum = sums.get(coin as string)
    if (!sum) {
      const name = CoinName.safeParse(coin)
      if (!name.success) return err(`deltas.${index}.coin must be a coin`)
      if (size === 0n) continue
      sum = { paid: 0n, size: 0n }
      sums.set(name.data, sum)
    }
    const received = toScaledSigned(funding_amount)
    // Longs pay what shorts receive, so a short's receipt counts as a payment.
    if (size !== 0n) sum.paid += size > 0n ? -received : received
    sum.size += size > 0n ? size : -size
  }
  return ok(sums)
}

const isDecimal = (value: unknown): value is string => typeof value === 'string' && DECIMAL.test(value)

function toScaledSigned(text: string): bigint {
  return text.startsWith('-') ? -toScaled(text.slice(1)) : toScaled(text)
}
