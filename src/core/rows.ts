// SQL rows parsed by a schema.

import type * as z from 'zod'

/** Parses each row of a cursor. Throws if a row does not match. */
export function rows<Row>(schema: z.ZodType<Row>, cursor: Iterable<unknown>): Row[] {
  return Array.from(cursor, (row) => schema.parse(row))
}
