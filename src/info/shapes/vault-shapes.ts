// What the vault types share. A parent vault carries the addresses of its children in `data`.

import * as z from 'zod'

export const VaultRelationship = z
  .looseObject({ type: z.string(), data: z.looseObject({ childAddresses: z.array(z.string()) }).optional() })
  .meta({ id: 'VaultRelationship' })
