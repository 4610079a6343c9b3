// Groups and icons of the operator pages in the navigation.

import type { IconNode } from 'lucide'
import {
  Activity,
  Ban,
  Bell,
  Building2,
  ChartColumn,
  Coins,
  KeyRound,
  Layers,
  LayoutDashboard,
  RadioTower,
  Receipt,
  ScrollText,
  Server,
  Siren,
  Users,
  Workflow,
} from 'lucide'
import type { PageGroup } from '../shell.tsx'
import { OPERATOR_GROUPS } from '../strings.ts'

/** Icons by page name. */
const GROUPS: readonly { readonly title: string; readonly icons: Readonly<Record<string, IconNode>> }[] = [
  {
    title: OPERATOR_GROUPS.business,
    icons: {
      overview: LayoutDashboard,
      accounts: Building2,
      keys: KeyRound,
      plans: Layers,
      topups: Coins,
      orders: Receipt,
      usage: ChartColumn,
      refusals: Ban,
    },
  },
  { title: OPERATOR_GROUPS.data, icons: { feed: RadioTower, sources: Server, pipelines: Workflow, metrics: Activity } },
  { title: OPERATOR_GROUPS.administration, icons: { alerts: Bell, incidents: Siren, audit: ScrollText, staff: Users } },
]

/** The pages in their groups. A page without a group is shown in the last one. */
export function groupsOf(pages: readonly (readonly [name: string, title: string, ...unknown[]])[]): PageGroup[] {
  const grouped = GROUPS.flatMap(({ icons }) => Object.keys(icons))
  return GROUPS.map(({ title, icons }, i) => {
    const isLast = i === GROUPS.length - 1
    const own = pages.filter(([name]) => name in icons || (isLast && !grouped.includes(name)))
    return { title, pages: own.map(([name, text]) => ({ name, title: text, icon: icons[name] ?? Layers })) }
  })
}
