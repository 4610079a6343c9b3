// Branded string ids: the compiler rejects one kind of id where a different kind is expected.

import * as z from 'zod'

/** Account name, chosen by an operator or generated at sign-up. */
export const AccountId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/,
    'must be 1 to 64 letters, digits, "_" or "-", starting with a letter or digit',
  )
  .describe('Account name')
/** Accepts a plain string, but not another kind of id. */
export type AccountId = string & { readonly unit?: 'account id' }

/** SHA-256 of a key in hex. The key itself never leaves the edge. */
export const KeyHash = z.string().brand<'KeyHash'>()
export type KeyHash = z.infer<typeof KeyHash>

/** Brands a string that is known to be a key hash, such as a stored hash. */
export const keyHashOf = (text: string) => text as KeyHash
