// What the vault types share. A parent vault carries the addresses of its children.

import * as z from 'zod'
import { kindsBy } from '../../core/open-kinds.ts'
import { Address } from '../feed/block.ts'

export const VaultRelationship = kindsBy('type', {
  normal: {},
  child: {},
  parent: { data: z.looseObject({ childAddresses: z.array(Address) }) },
}).meta({ id: 'VaultRelationship' })
