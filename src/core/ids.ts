// Ids that are texts, and are never taken for one another: the compiler holds them apart.

import * as z from 'zod'

/** SHA-256 of a key, hex: the key itself never travels past the edge. */
export const KeyHash = z.string().brand<'KeyHash'>()
export type KeyHash = z.infer<typeof KeyHash>

/** Of a text that is known to be one, such as a stored one. */
export const keyHashOf = (text: string) => text as KeyHash
