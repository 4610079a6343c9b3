// The operator pages and their navigation. The code of a page is loaded when it is opened.

import type { ComponentType } from 'preact'
import type { SessionUser } from '../../accounts/sessions/session.ts'
import { hasRole, type StaffRole } from '../../accounts/staff.ts'
import { params } from '../address.dom.ts'
import { Shell } from '../shell.tsx'
import { Lazy } from '../ui/lazy.tsx'
import { Reserved } from '../ui/parts.tsx'
import { groupsOf } from './navigation.tsx'
import { SearchField } from './search-field.tsx'
import * as strings from './strings.ts'

type Page = () => Promise<ComponentType<{ readonly role: StaffRole }>>

/** The navigation, with a function that loads each page. */
const PAGE_LIST: readonly (readonly [name: string, title: string, load: Page])[] = [
  ['overview', strings.pagesOverview, async () => (await import('./business-pages.tsx')).OverviewPage],
  ['accounts', strings.pagesAccounts, async () => (await import('./account-pages.tsx')).AccountsPage],
  ['keys', strings.pagesKeys, async () => (await import('./account-pages.tsx')).KeysPage],
  ['plans', strings.pagesPlans, async () => (await import('./plans-page.tsx')).PlansPage],
  ['topups', strings.pagesTopups, async () => (await import('./lists.tsx')).GrantsPage],
  ['orders', strings.pagesOrders, async () => (await import('./orders-page.tsx')).OrdersPage],
  ['usage', strings.pagesUsage, async () => (await import('./usage-page.tsx')).UsagePage],
  ['refusals', strings.pagesRefusals, async () => (await import('./lists.tsx')).RefusalsPage],
  ['feed', strings.pagesFeed, async () => (await import('./feed-pages.tsx')).FeedPage],
  ['sources', strings.pagesSources, async () => (await import('./feed-pages.tsx')).SourcesPage],
  ['pipelines', strings.pagesPipelines, async () => (await import('./lists.tsx')).PipelinesPage],
  ['metrics', strings.pagesMetrics, async () => (await import('./metrics-page.tsx')).MetricsPage],
  ['alerts', strings.pagesAlerts, async () => (await import('./alerts-page.tsx')).AlertsPage],
  ['incidents', strings.pagesIncidents, async () => (await import('./incidents-page.tsx')).IncidentsPage],
  ['audit', strings.pagesAudit, async () => (await import('./staff-pages.tsx')).AuditPage],
  ['staff', strings.pagesStaff, async () => (await import('./staff-pages.tsx')).StaffPage],
]
/** Pages that only links lead to. They belong to these pages of the navigation. */
const PARENTS: Readonly<Record<string, string>> = { account: 'accounts' }
const LINKED_PAGES: Readonly<Record<string, Page>> = {
  account: async () => (await import('./account-pages.tsx')).AccountPage,
  search: async () => (await import('./staff-pages.tsx')).SearchPage,
}
const PAGE_HEIGHT = 640

export function OperatorPages({ visitor }: { visitor: Extract<SessionUser, { role: 'operator' }> }) {
  const role = visitor.staff_role
  const pages = PAGE_LIST.filter(([name]) => name !== 'staff' || hasRole(role, 'owner'))
  const current = params.value.get('page') ?? 'overview'
  const load = pages.find(([name]) => name === current)?.[2] ?? LINKED_PAGES[current]
  // The key resets the state when another account is shown.
  const shown = params.value.get('id')
  const id = `${current} ${shown ?? ''}`
  const detail = current === 'search' ? strings.searchTitle : shown
  return (
    <Shell
      visitor={visitor}
      groups={groupsOf(pages)}
      current={PARENTS[current] ?? current}
      detail={detail}
      tools={<SearchField />}
    >
      {load === undefined ? (
        <p class="note">{strings.commonNoPage}</p>
      ) : (
        <Lazy key={id} load={load} props={{ role }} fallback={<Reserved height={PAGE_HEIGHT} isLoading />} />
      )}
    </Shell>
  )
}
