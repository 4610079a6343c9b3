// ledger: balance movements but funding, a row for each wallet that one concerns, or for those that the filter names.

import { LEDGER_COLUMNS } from '../../archive/files/columns.ts'
import type { LedgerEvent } from '../../protocol/feed/block.ts'
import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import type { EventView } from '../../relay/channel.ts'
import { gapRow, keyedRows, shownOf, type TopicDefinition, type TopicFold } from './topic.ts'

const LEDGER: EventView<LedgerEvent> = { items: ({ ledger }) => ledger, text: JSON.stringify }

export const ledger: TopicDefinition = {
  lines: 'events',
  columns: LEDGER_COLUMNS.filter(({ name }) => name !== 'height' && name !== 'block_time'),
  open(wanted): TopicFold<RelayEvents> {
    const shown = shownOf(wanted, LEDGER)
    return {
      parse: (line) => JSON.parse(line) as RelayEvents,
      rows: (block) => {
        const { height, time, only } = block
        if (only) return [gapRow(height, height, time, 'of these blocks the fills alone are known')]
        const told = shown(block).flatMap(({ item: { hash, users, delta, time: own }, names }) =>
          (names ?? [...new Set(users)]).map((user) => {
            const cells = { time: own, user, type: delta.type, hash, users, delta }
            return [`${hash}:${user}`, cells] as const
          }),
        )
        return keyedRows(block, told)
      },
    }
  },
}
