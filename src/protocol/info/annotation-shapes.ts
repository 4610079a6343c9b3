// What deployers of perps say about them.

import * as z from 'zod'

/** Without the description; `displayName` stands in place of the coin where it is given. */
export const ConciseAnnotation = z.looseObject({
  category: z.string(),
  displayName: z.string().optional(),
  keywords: z.array(z.string()).optional(),
})

export const EXAMPLE_ANNOTATION = { category: 'commodities', displayName: 'Gold', keywords: ['metal', 'xau'] }
