// The operator's pages.

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

type Page = (props: { readonly role: StaffRole }) => preact.JSX.Element

const PAGES: readonly (readonly [name: string, title: string, page: Page])[] = [
  ['overview', 'Overview', OverviewPage],
  ['accounts', 'Accounts', AccountsPage],
  ['keys', 'Keys', KeysPage],
  ['plans', 'Plans', PlansPage],
  ['topups', 'Top-ups', GrantsPage],
  ['orders', 'Orders', OrdersPage],
  ['usage', 'Usage', UsagePage],
  ['refusals', 'Refusals', RefusalsPage],
  ['feed', 'Feed', FeedPage],
  ['sources', 'Sources', SourcesPage],
  ['pipelines', 'Pipelines', PipelinesPage],
  ['audit', 'Audit', AuditPage],
  ['staff', 'Staff', StaffPage],
]
/** That one comes to from elsewhere. */
const LINKED_PAGES: Readonly<Record<string, Page>> = { account: AccountPage, search: SearchPage }

export function OperatorPages({ who }: { who: Extract<SessionUser, { role: 'operator' }> }) {
  const role = who.staff_role
  const pages = PAGES.filter(([name]) => name !== 'staff' || hasRole(role, 'owner'))
  const here = params.value.get('page') ?? 'overview'
  const Here = pages.find(([name]) => name === here)?.[2] ?? LINKED_PAGES[here]
  // A page of another account is another page.
  const id = `${here} ${params.value.get('id') ?? ''}`
  return (
    <Shell visitor={who} pages={pages.map(([name, title]) => [name, title] as const)} current={here}>
      <SearchField />
      {Here ? <Here key={id} role={role} /> : <p class="note">There is no page of this name: choose one above.</p>}
    </Shell>
  )
}
