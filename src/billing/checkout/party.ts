// Names and addresses of sellers and buyers. Invariant: each text is a printable line of limited length, because others show
// and print it.

import * as z from 'zod'

const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u

/** A trimmed line of printable text that is not empty. */
export const PrintableLine = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine((text) => !UNPRINTABLE.test(text), 'must not contain line breaks or control characters')

export const ADDRESS_LINES = 6
export const PartyName = PrintableLine(200)
export const Address = z.array(PrintableLine(100)).min(1).max(ADDRESS_LINES)
export const TaxId = PrintableLine(50)
