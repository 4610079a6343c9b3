// positionsByUser: sizes of a wallet's perp positions after any archived block, from its fills.

import * as z from 'zod'
import { ok } from '../../core/result.ts'
import { Address } from '../../protocol/feed/block.ts'
import { USER } from '../../protocol/info/examples.ts'
import { AtHeight, ONE_POSITION, POSITION_FIELDS } from '../../protocol/info/position-shapes.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { HISTORY_FRESHNESS } from '../freshness.ts'
import { defineQuery } from '../query.ts'
import { historyAnswer } from '../sources/own-history.ts'
import { positionFields, positionsOf } from '../sources/own-positions.ts'

export const positionsByUser = defineQuery({
  type: 'positionsByUser',
  summary: 'Perp positions of a wallet after any archived block, from its fills',
  example: {
    request: { user: USER },
    response: { user: USER, height: 42, positions: [{ coin: 'BTC', ...ONE_POSITION }] },
  },
  request: z.object({ type: z.literal('positionsByUser'), user: UserAddress, height: AtHeight }),
  response: () =>
    z.object({
      user: Address,
      height: z.int().describe('Block after which these are the positions'),
      positions: z.array(z.object({ coin: z.string(), ...POSITION_FIELDS })).describe('In the order of their coins'),
    }),
  freshness: HISTORY_FRESHNESS,
  needs: ['events'],
  async resolve({ user, height: at }, from) {
    const own = await positionsOf(user, at, from)
    if (!own.ok) return own
    const { height, read, byCoin } = own.value
    const sorted = [...byCoin].sort(([a], [b]) => (a < b ? -1 : 1))
    const positions = sorted.map(([coin, position]) => ({ coin, ...positionFields(position) }))
    return ok(historyAnswer({ user, height, positions }, { ...read, head: { ...read.head, height } }))
  },
})
