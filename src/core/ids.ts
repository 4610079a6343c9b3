// Ids that are texts: the compiler does not let one be taken for another.

import * as z from 'zod'

/** Name of an account, as operators choose it or as sign-up made it. */
export const AccountId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/,
    'must be 1 to 64 letters, digits, "_" or "-", and begin with a letter or digit',
  )
  .describe('Name of the account')
/** A plain text is taken for one; an id of another kind is not. */
export type AccountId = string & { readonly unit?: 'account id' }

/** SHA-256 of a key, hex: the key itself never travels past the edge. */
export const KeyHash = z.string().brand<'KeyHash'>()
export type KeyHash = z.infer<typeof KeyHash>

/** Of a text that is known to be one, such as a stored one. */
export const keyHashOf = (text: string) => text as KeyHash
