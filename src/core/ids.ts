// Branded string IDs. The compiler rejects one kind of ID where another kind is expected.

import * as z from 'zod'

/** An account name, chosen by an operator or generated at sign-up. */
export const AccountId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/,
    'must be 1 to 64 letters, digits, "_" or "-", starting with a letter or digit',
  )
  .describe('Account name')
/** The type accepts a plain string, but not a different kind of ID. */
export type AccountId = string & { readonly unit?: 'account id' }

/** The SHA-256 hash of a key in hex. The key itself never leaves the edge. */
export const KeyHash = z.string().brand<'KeyHash'>()
export type KeyHash = z.infer<typeof KeyHash>

/** Marks a string as a key hash. The string must be known to be one, such as a stored hash. */
export const keyHashOf = (text: string) => text as KeyHash
