// Credits per day, split by endpoint or key.

import { Bars } from '../ui/bars.tsx'
import { compactText, creditsText } from '../ui/format.ts'
import { fromFirstUse } from '../ui/stacked-bars.ts'
import { usageColumns } from './account-view.ts'
import type { Usage } from './responses.ts'
import * as strings from './strings.ts'

export function UsageChart({ used, by }: { used: Usage; by: 'key' | 'type' }) {
  const { columns, parts } = usageColumns(used)
  if (parts.length === 0) return <p class="soft">{strings.usageEmptyTypes}</p>
  const { from, to } = used.period
  const shown = fromFirstUse(columns, parts)
  return (
    <Bars
      label={strings.usageChart(shown[0]?.name ?? from, to, strings.usageGroups[by])}
      columns={shown}
      parts={parts}
      valueText={(micro) => strings.usageCredits(creditsText(micro))}
      stepText={(micro) => compactText(micro / 1_000_000)}
    />
  )
}
