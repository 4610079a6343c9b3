// The operator pages and their navigation.

import type { SessionUser } from '../../accounts/sessions/session.ts'
import { hasRole, type StaffRole } from '../../accounts/staff.ts'
import { params } from '../address.dom.ts'
import { Shell } from '../shell.tsx'
import { AccountPage, AccountsPage, KeysPage } from './account-pages.tsx'
import { OverviewPage, UsagePage } from './business-pages.tsx'
import { FeedPage, SourcesPage } from './feed-pages.tsx'
import { GrantsPage, PipelinesPage, RefusalsPage } from './lists.tsx'
import { OrdersPage, PlansPage } from './orders-page.tsx'
import { AuditPage, SearchField, SearchPage, StaffPage } from './staff-pages.tsx'
import * as strings from './strings.ts'

type Page = (props: { readonly role: StaffRole }) => preact.JSX.Element

const PAGE_LIST: readonly (readonly [name: string, title: string, page: Page])[] = [
  ['overview', strings.pagesOverview, OverviewPage],
  ['accounts', strings.pagesAccounts, AccountsPage],
  ['keys', strings.pagesKeys, KeysPage],
  ['plans', strings.pagesPlans, PlansPage],
  ['topups', strings.pagesTopups, GrantsPage],
  ['orders', strings.pagesOrders, OrdersPage],
  ['usage', strings.pagesUsage, UsagePage],
  ['refusals', strings.pagesRefusals, RefusalsPage],
  ['feed', strings.pagesFeed, FeedPage],
  ['sources', strings.pagesSources, SourcesPage],
  ['pipelines', strings.pagesPipelines, PipelinesPage],
  ['audit', strings.pagesAudit, AuditPage],
  ['staff', strings.pagesStaff, StaffPage],
]
/** Pages that only links lead to. */
const LINKED_PAGES: Readonly<Record<string, Page>> = { account: AccountPage, search: SearchPage }

export function OperatorPages({ visitor }: { visitor: Extract<SessionUser, { role: 'operator' }> }) {
  const role = visitor.staff_role
  const pages = PAGE_LIST.filter(([name]) => name !== 'staff' || hasRole(role, 'owner'))
  const current = params.value.get('page') ?? 'overview'
  const CurrentPage = pages.find(([name]) => name === current)?.[2] ?? LINKED_PAGES[current]
  // The key resets the state when another account is shown.
  const id = `${current} ${params.value.get('id') ?? ''}`
  return (
    <Shell visitor={visitor} pages={pages.map(([name, title]) => [name, title] as const)} current={current}>
      <SearchField />
      {CurrentPage ? <CurrentPage key={id} role={role} /> : <p class="note">{strings.commonNoPage}</p>}
    </Shell>
  )
}
