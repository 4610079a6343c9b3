// Request and response fields of keys.

import * as z from 'zod'
import { DISPLAY_LENGTH } from '../../accounts/format.ts'
import { KINDS_TEXT, PRODUCTS, PRODUCTS_TEXT } from '../../accounts/identity.ts'
import { type KeyPosition, type KeyRow, PIPELINE_RIGHTS, pipelineRight } from '../../accounts/key-row.ts'
import { parseRange, RANGES_MAX } from '../../core/address-range.ts'
import { formatCredits, type MicroCredits } from '../../core/amount.ts'
import type { Failure } from '../../core/failure.ts'
import { AccountId } from '../../core/ids.ts'
import { Credits, CreditsText, UnixMs } from './fields.ts'
import { badField } from './refusal.ts'

/** Hash of a key in hex, or its visible prefix. */
const KeyName = z
  .string()
  .regex(
    new RegExp(`^(?:[0-9a-f]{64}|cq[ts]_[1-9A-HJ-NP-Za-km-z]{${DISPLAY_LENGTH - 4}})$`),
    `must be the SHA-256 of the key in hex, or its first ${DISPLAY_LENGTH} characters; never the key`,
  )
  .describe(`SHA-256 of the key in hex, or its first ${DISPLAY_LENGTH} characters`)

export const KeyCursor = z.string().transform((text, context): KeyPosition => {
  const [, created, hash] = /^(\d{1,15})\.([0-9a-f]{64})$/.exec(text) ?? []
  if (created !== undefined && hash !== undefined) return { created: Number(created), hash }
  context.addIssue({ code: 'custom', message: 'must be "next" from the previous page' })
  return z.NEVER
})
export const keyCursor = ({ created, hash }: KeyPosition) => `${created}.${hash}`

export const KEY_PARAMS = { key: KeyName }
/** If an account is given, keys of other accounts are not found. */
export const AccountFilter = z.strictObject({ account: AccountId.optional().describe('Only keys of this account') })

const CAP_TEXT =
  'Total credits that the key may spend, shared with the keys that it replaced or that replaced it; absent or null: no cap'

export const Label = z.string().max(100, 'must be at most 100 characters').describe('Display name')
/**
 * Label in a request. Invisible joiners of emoji are allowed; characters that change direction or break lines are not.
 */
export const NewLabel = Label.regex(
  /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]*$/u,
  'must be one line without control characters',
)
export const Kind = z.enum(['api', 'service'], 'must be "api" or "service"').describe(KINDS_TEXT)
const Cap = Credits.describe(CAP_TEXT)
const KeyProducts = z
  .array(z.enum(PRODUCTS, `must be among ${PRODUCTS.join(', ')}`))
  .min(1, 'must name at least one product')
  .max(PRODUCTS.length)
  .describe(`Products of the key; default on creation: all products of its kind. ${PRODUCTS_TEXT}`)
/** IP ranges; an invalid entry is reported by its index. */
const Ranges = z
  .array(
    z.string().transform((text, context) => {
      const range = parseRange(text)
      if (range.ok) return range.value
      context.addIssue({ code: 'custom', message: range.error })
      return z.NEVER
    }),
  )
  .min(1, 'must name at least one range')
  .max(RANGES_MAX, `must be at most ${RANGES_MAX} ranges`)
  .describe('IP ranges from which the key may be used, such as 192.0.2.0/24; absent or null: any address')
const Expiry = z
  .int('must be a time in Unix milliseconds')
  .positive('must be a time in Unix milliseconds')
  .describe('Expiry, Unix milliseconds; absent or null: never')

const PIPELINES_TEXT =
  'Pipelines that a service key can access: `own`: those charged to it, to its predecessors or to its successors; `all`: all pipelines of the account'
const PipelinesRight = z
  .enum(PIPELINE_RIGHTS, 'must be "own" or "all"')
  .describe(`${PIPELINES_TEXT}. Absent or null: \`own\` if the key has a cap, ranges or an expiry, else \`all\``)

export const KEY_INPUT = {
  label: NewLabel.default(''),
  kind: Kind.default('api'),
  products: KeyProducts.optional(),
  expires: Expiry.optional(),
  cap: Cap.optional(),
  ranges: Ranges.optional(),
  pipelines: PipelinesRight.optional(),
}
export type KeyTerms = z.infer<z.ZodObject<typeof KEY_INPUT>>
export const KeyChanges = z.strictObject({
  label: NewLabel.optional(),
  products: KeyProducts.optional(),
  expires: Expiry.nullable().optional(),
  cap: Cap.nullable().optional(),
  ranges: Ranges.nullable().optional(),
  pipelines: PipelinesRight.nullable().optional(),
})

/** Failure if the expiry is in the past (for example, given in seconds), else null. */
export function expiryRefusal(expires: number | null | undefined, nowMs: number): Failure | null {
  if (expires === null || expires === undefined || expires > nowMs) return null
  return badField('expires', `is in the past (${new Date(expires).toISOString()}): send a time in Unix milliseconds`)
}

const NAMES = {
  hash: z.string().describe('SHA-256 of the key, in hex'),
  prefix: z.string().describe('First 12 characters of the key'),
  account: AccountId,
  label: Label,
}

export const keyNames = ({ hash, prefix, account, label }: z.infer<z.ZodObject<typeof NAMES>>) => {
  return { hash, prefix, account, label }
}

const LastUsed = UnixMs.nullable().describe(
  'Start of the last hour with charged usage, up to 15 minutes late; null: never, or unavailable',
)

export const KeyView = z
  .object({
    ...NAMES,
    kind: Kind,
    products: z.array(z.enum(PRODUCTS)).describe(`Products of the key. ${PRODUCTS_TEXT}`),
    created: UnixMs.describe('Creation time, Unix milliseconds'),
    expires: UnixMs.nullable().describe('Expiry, Unix milliseconds; null: never'),
    revoked: UnixMs.nullable().describe('Revocation time, Unix milliseconds; null: not revoked'),
    last_used: LastUsed,
    cap: CreditsText.nullable().describe(CAP_TEXT),
    ranges: z.array(z.string()).nullable().describe('Allowed IP ranges; null: any address'),
    pipelines: z.enum(PIPELINE_RIGHTS).nullable().describe(`${PIPELINES_TEXT}; null for API keys`),
    replaced_by: z.string().nullable().describe('Hash of the key that replaced this one by rotation'),
  })
  .meta({ id: 'Key' })

/** A key with its remaining cap from the meter. */
export const KeyViewWithCap = z.object({
  ...KeyView.shape,
  cap_remaining: CreditsText.nullable().describe('Remaining credits of the cap; null: no cap, or meter unavailable'),
})

export const IssuedKey = z.object({
  key: z.string().describe('The key; shown only once'),
  ...NAMES,
  kind: Kind,
})

export const RevokedKey = z.object({ ...NAMES, revoked: UnixMs.describe('Revocation time, Unix milliseconds') })

/** A key with the start of its last hour with charges; null: never, or unknown because D1 USAGE did not respond. */
export type UsedKey = KeyRow & { readonly lastUsed: number | null }

/** Response view of a key row. */
export function keyView(key: UsedKey): z.infer<typeof KeyView> {
  const { cap, root: _, replaces: __, lastUsed, ...rest } = key
  return { ...rest, last_used: lastUsed, pipelines: pipelineRight(key), cap: cap === null ? null : formatCredits(cap) }
}

/**
 * A key with the balance of its account and its remaining cap; null if the meter did not respond. `capLeft` is also
 * null if there is no cap.
 */
export type ListedKey = UsedKey & { readonly balance: MicroCredits | null; readonly capLeft: MicroCredits | null }

export function keyViewWithCap({ capLeft, balance: _, ...key }: ListedKey): z.infer<typeof KeyViewWithCap> {
  return { ...keyView(key), cap_remaining: capLeft === null ? null : formatCredits(capLeft) }
}

/** Warns about ranges on a gateway that does not trust the proxy's client addresses. */
export function rangeWarnings(ranges: readonly string[] | null | undefined, isProxied: boolean): string[] {
  if (!ranges || isProxied) return []
  return [
    'ranges: TRUST_PROXY is off, so client addresses are unknown and this key is rejected everywhere. Set TRUST_PROXY first',
  ]
}
