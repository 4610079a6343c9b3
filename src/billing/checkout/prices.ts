// Prices of credits: the CHECKOUT_PRICES variable, and quotes. Invariant: nothing is rounded, because credits are sold
// in packages or whole lots.

import * as z from 'zod'
import { formatCredits, type MicroCredits, parseCredits } from '../../core/amount.ts'
import { inGroups } from '../../core/digit-groups.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { Currency, MINOR_MAX, Minor } from './money.ts'

const PositiveCredits = z.union([z.number(), z.string()]).transform((credits, context): MicroCredits => {
  const micro = parseCredits(credits)
  if (micro.ok && micro.value > 0) return micro.value
  context.addIssue({ code: 'custom', message: micro.ok ? 'must be more than 0' : micro.error })
  return z.NEVER
})

export const CheckoutPrices = z
  .strictObject({
    currency: Currency.default('usd'),
    packages: z
      .array(
        z.strictObject({
          name: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,31}$/, 'must be lower-case letters, digits, "_" or "-"'),
          credits: PositiveCredits,
          minor: Minor,
        }),
      )
      .max(20)
      .default([]),
    /** Any number of lots up to `most` may be bought. */
    lots: z.strictObject({ credits: PositiveCredits, minor: Minor, most: z.int().min(1).max(1_000_000) }).optional(),
    /** Payment instructions for manual purchases, shown to the buyer. */
    instructions: z.string().max(1_000).default(''),
  })
  .refine(({ packages }) => new Set(packages.map(({ name }) => name)).size === packages.length, {
    path: ['packages'],
    message: 'must have unique names',
  })
  .refine(({ lots }) => lots === undefined || lots.minor * lots.most <= MINOR_MAX, {
    path: ['lots', 'most'],
    message: `allows an order of more than ${inGroups(MINOR_MAX)} minor units`,
  })
  .refine(({ lots }) => lots === undefined || lots.credits * lots.most <= 1e15, {
    path: ['lots', 'most'],
    message: 'allows an order of more than a billion credits',
  })
export type CheckoutPrices = z.infer<typeof CheckoutPrices>

/** Exactly one of the two fields is present. */
export interface PurchaseInput {
  readonly package?: string | undefined
  readonly credits?: MicroCredits | undefined
}

export interface Quote {
  readonly micro: MicroCredits
  readonly minor: number
  readonly currency: string
}

const badField = (path: string, message: string) => err<Failure>({ kind: 'bad_field', issues: [{ path, message }] })

/** Price of a purchase. The error names the valid choices. */
export function quoteFor({ currency, packages, lots }: CheckoutPrices, input: PurchaseInput): Result<Quote, Failure> {
  if (input.package !== undefined) {
    const found = packages.find(({ name }) => name === input.package)
    const names = packages.map(({ name }) => `"${name}"`).join(', ')
    if (found) return ok({ micro: found.credits, minor: found.minor, currency })
    return badField('package', names === '' ? 'no packages are sold here: send "credits"' : `must be one of ${names}`)
  }
  if (lots === undefined) return badField('credits', 'custom amounts are not sold here: send a "package"')
  const { credits = 0 } = input
  const count = credits / lots.credits
  if (!Number.isInteger(count) || count < 1 || count > lots.most) {
    const [lot, most] = [lots.credits, lots.credits * lots.most].map(formatCredits)
    return badField('credits', `must be a multiple of ${lot}, at most ${most}`)
  }
  return ok({ micro: credits, minor: lots.minor * count, currency })
}
