// Keys as the operator's API names and shows them.

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

/** A hash in hex, or the shown prefix of a key. */
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
  context.addIssue({ code: 'custom', message: 'must be "next" of the page before' })
  return z.NEVER
})
export const keyCursor = ({ created, hash }: KeyPosition) => `${created}.${hash}`

export const KEY_PARAMS = { key: KeyName }
/** A key of another account is none. */
export const AccountFilter = z.strictObject({ account: AccountId.optional().describe('Of this account alone') })

const CAP_TEXT =
  'Credits that it may spend in all its time, together with the keys that it replaced or that replaced it; left out when it is ' +
  'made, or null: as much as its account has'

export const Label = z.string().max(100, 'must be at most 100 characters').describe('Text for people')
/** Of an order. Emoji are joined by characters that nobody sees; those that turn or break a line are none of them. */
const NewLabel = Label.regex(
  /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]*$/u,
  'must be one line without control characters',
)
export const Kind = z.enum(['api', 'service'], 'must be "api" or "service"').describe(KINDS_TEXT)
const Cap = Credits.describe(CAP_TEXT)
const KeyProducts = z
  .array(z.enum(PRODUCTS, `must be among ${PRODUCTS.join(', ')}`))
  .min(1, 'must name at least one product')
  .max(PRODUCTS.length)
  .describe(`What the key is for; left out when it is made: all that its kind may. ${PRODUCTS_TEXT}`)
/** Ranges of addresses; an entry that is none is named by its place. */
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
  .describe('Addresses that it may be used from, such as 192.0.2.0/24; left out when it is made, or null: any')
const Expiry = z
  .int('must be a time in Unix ms')
  .positive('must be a time in Unix ms')
  .describe('When it ends, Unix milliseconds; left out when it is made, or null: never')

const PIPELINES_TEXT =
  'Pipelines that a service key may touch: `own`: those charged to it or to keys that it replaced or that replaced it; ' +
  '`all`: the whole account’s'
const PipelinesRight = z
  .enum(PIPELINE_RIGHTS, 'must be "own" or "all"')
  .describe(
    `${PIPELINES_TEXT}. Left out when it is made, or null: \`own\` where it has a cap, ranges or an end, else \`all\``,
  )

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

/** The refusal of an end that has passed already, such as one in seconds; null where it lies ahead or there is none. */
export function expiryRefusal(expires: number | null | undefined, nowMs: number): Failure | null {
  if (expires === null || expires === undefined || expires > nowMs) return null
  return badField('expires', `is in the past (${new Date(expires).toISOString()}): send a time in Unix milliseconds`)
}

const NAMES = {
  hash: z.string().describe('SHA-256 of the key, hex'),
  prefix: z.string().describe('The key’s first twelve characters'),
  account: AccountId,
  label: Label,
}

export const keyNames = ({ hash, prefix, account, label }: z.infer<z.ZodObject<typeof NAMES>>) => {
  return { hash, prefix, account, label }
}

export const KeyView = z
  .object({
    ...NAMES,
    kind: Kind,
    products: z.array(z.enum(PRODUCTS)).describe(`What it is for. ${PRODUCTS_TEXT}`),
    created: UnixMs.describe('When it was made, Unix milliseconds'),
    expires: UnixMs.nullable().describe('When it ends, Unix milliseconds; null: never'),
    revoked: UnixMs.nullable().describe('When it was revoked, Unix milliseconds; null: it is not'),
    last_used: UnixMs.nullable().describe(
      'Start of the last hour in which it was charged, as far as its usage was copied (about a minute late); null: never',
    ),
    cap: CreditsText.nullable().describe(CAP_TEXT),
    ranges: z.array(z.string()).nullable().describe('Where it may be used from; null: anywhere'),
    pipelines: z.enum(PIPELINE_RIGHTS).nullable().describe(`${PIPELINES_TEXT}; null: an API key manages none`),
    replaced_by: z.string().nullable().describe('Hash of the key that replaced it by rotation'),
  })
  .meta({ id: 'Key' })

/** With what its account's meter knows of it. */
export const KeyViewWithCap = z.object({
  ...KeyView.shape,
  cap_remaining: CreditsText.nullable().describe('What is left of its cap; null: no cap, or its meter did not answer'),
})

export const IssuedKey = z.object({
  key: z.string().describe('Shown this once'),
  ...NAMES,
  kind: Kind,
})

export const RevokedKey = z.object({ ...NAMES, revoked: UnixMs.describe('When it was revoked, Unix milliseconds') })

/** A key of D1 as answers show it. */
export function keyView(key: KeyRow): z.infer<typeof KeyView> {
  const { cap, root: _, replaces: __, ...rest } = key
  return { ...rest, pipelines: pipelineRight(key), cap: cap === null ? null : formatCredits(cap) }
}

/** Credits left of its account and of its cap; null where the meter did not answer, `capLeft` also without a cap. */
export type ListedKey = KeyRow & { readonly balance: MicroCredits | null; readonly capLeft: MicroCredits | null }

export function keyViewWithCap({ capLeft, balance: _, ...key }: ListedKey): z.infer<typeof KeyViewWithCap> {
  return { ...keyView(key), cap_remaining: capLeft === null ? null : formatCredits(capLeft) }
}

/** Said of ranges on a gateway that does not believe what a proxy says of addresses. */
export function rangeWarnings(ranges: readonly string[] | null | undefined, isProxied: boolean): string[] {
  if (!ranges || isProxied) return []
  return [
    'ranges: TRUST_PROXY is off, so this gateway is sure of no address: until then this key is refused everywhere',
  ]
}
