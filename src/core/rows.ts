// Rows of SQL with the types that a schema says.

import type * as z from 'zod'

/** The rows of a cursor, each parsed; throws where one is not as the schema says. */
export function rows<Row>(schema: z.ZodType<Row>, cursor: Iterable<unknown>): Row[] {
  return Array.from(cursor, (row) => schema.parse(row))
}
