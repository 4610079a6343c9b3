// The hourly funding event lists every open position and can exceed 20 MB; one number per coin says the same. Deltas
// are checked by hand: a schema library would need most of a second for them.

import { DECIMAL, fromScaled, SCALE_DECIMALS, toScaled } from '../core/decimal.ts'
import { err, ok, type Result } from '../core/result.ts'
import { type CoinFunding, CoinName } from '../feed/block.ts'
import { LINE_BEGIN } from './streams.ts'

const ONE = 10n ** BigInt(SCALE_DECIMALS)

/** What the positions of a coin paid, seen from a long, and their sizes without sign; scaled. */
interface FundingSum {
  paid: bigint
  size: bigint
}

/**
 * The `Funding` payload of a misc event as USDC per unit of size, positive paid by longs, 18 decimals. The node rounds
 * each amount, so the ratio of the sums is taken: the rounding of thousands of positions cancels out, that of a single
 * small one does not. The error names the field.
 */
export function readFunding(payload: unknown): Result<CoinFunding[], string> {
  const sums = sumsOf(payload)
  if (!sums.ok) return sums
  return ok([...sums.value].map(([coin, { paid, size }]) => ({ coin, perUnit: fromScaled((paid * ONE) / size) })))
}

/**
 * A line of misc events with the deltas of its funding added up, one for each coin: it reads as the whole line does,
 * without a half one that a killed node left before it.
 * What cannot be read is left for who reads the line.
 */
export function shortenedLine(text: string): string {
  let line: { events?: unknown }
  try {
    line = JSON.parse(text.slice(Math.max(0, text.lastIndexOf(LINE_BEGIN))))
  } catch {
    return text
  }
  for (const event of Array.isArray(line?.events) ? line.events : []) {
    const inner = (event as { inner?: { Funding?: unknown } } | null)?.inner
    const sums = sumsOf(inner?.Funding)
    if (!inner || !sums.ok) continue
    const deltas = [...sums.value].map(([coin, { paid, size }]) => ({
      coin,
      funding_amount: fromScaled(-paid),
      szi: fromScaled(size),
    }))
    inner.Funding = { deltas }
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
    // Longs pay what shorts receive: seen from a long, a short's receipt is a payment.
    if (size !== 0n) sum.paid += size > 0n ? -received : received
    sum.size += size > 0n ? size : -size
  }
  return ok(sums)
}

const isDecimal = (value: unknown): value is string => typeof value === 'string' && DECIMAL.test(value)

function toScaledSigned(text: string): bigint {
  return text.startsWith('-') ? -toScaled(text.slice(1)) : toScaled(text)
}
