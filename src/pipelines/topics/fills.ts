// fills: each fill of each side. The columns are those of the archive's tables.

import { FILL_COLUMNS, fillCells } from '../../archive/files/columns.ts'
import type { UserFill } from '../../protocol/feed/block.ts'
import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import type { EventView } from '../../relay/channel.ts'
import { keyedRows, shownOf, type TopicDefinition, type TopicFold } from './topic.ts'

/** Height and time of the block stand in the head of each row. */
const PLACE_COLUMNS = 2
const COLUMNS = FILL_COLUMNS.slice(PLACE_COLUMNS)
const FILLS: EventView<UserFill> = { items: ({ fills }) => fills, text: JSON.stringify }

export const fills: TopicDefinition = {
  lines: 'events',
  columns: COLUMNS,
  open(wanted): TopicFold<RelayEvents> {
    const shown = shownOf(wanted, FILLS)
    return {
      parse: (line) => JSON.parse(line) as RelayEvents,
      rows: (block) =>
        keyedRows(
          block,
          shown(block).map(({ item }) => rowOf(block, item)),
        ),
    }
  },
}

function rowOf(block: RelayEvents, fill: UserFill): readonly [string, Record<string, unknown>] {
  const [user, { tid, side }] = fill
  const cells = fillCells({ ...block, rows: 1 }, fill).slice(PLACE_COLUMNS)
  return [`${tid}:${user}:${side}`, Object.fromEntries(COLUMNS.map(({ name }, at) => [name, cells[at]]))]
}
