// The pages of an account owner. Each section has an address of its own, and its code is loaded when it is opened.

import { useSignalEffect } from '@preact/signals'
import {
  Activity,
  Bell,
  Braces,
  ChartColumn,
  CreditCard,
  Database,
  Hexagon,
  House,
  KeyRound,
  ScrollText,
  Settings2,
  Users,
  Workflow,
} from 'lucide'
import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { params } from '../address.dom.ts'
import { refreshVisitor } from '../session.dom.ts'
import { type PageGroup, Shell } from '../shell.tsx'
import { Lazy } from '../ui/lazy.tsx'
import { ErrorNote, Reserved } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { heartbeat, refreshAll, spendVersion, useAccountQuery, useRefreshOnReturn } from './account-data.dom.ts'
import { microOf } from './account-view.ts'
import type { Account } from './responses.ts'
import { neededRole } from './role-pages.ts'
import type { Owner, SectionProps } from './section.ts'
import * as strings from './strings.ts'

/** Functions that load the sections, by page name. */
const SECTIONS: Readonly<Record<string, () => Promise<ComponentType<SectionProps>>>> = {
  home: async () => (await import('./home.tsx')).Home,
  usage: async () => (await import('./usage.tsx')).UsageSection,
  logs: async () => (await import('./logs.tsx')).Logs,
  activity: async () => (await import('./activity.tsx')).ActivitySection,
  keys: async () => (await import('./keys.tsx')).Keys,
  pipelines: async () => (await import('./pipelines.tsx')).Pipelines,
  data: async () => (await import('./data.tsx')).DataSection,
  graphql: async () => (await import('../playground/playground.tsx')).Playground,
  explorer: async () => (await import('../explorer/explorer.tsx')).Explorer,
  billing: async () => (await import('./billing.tsx')).Billing,
  alerts: async () => (await import('./alerts.tsx')).Alerts,
  team: async () => (await import('./team.tsx')).Team,
  settings: async () => (await import('./settings.tsx')).Settings,
}

const GROUPS: readonly PageGroup[] = [
  {
    title: null,
    pages: [
      { name: 'home', title: strings.pagesHome, icon: House },
      { name: 'usage', title: strings.pagesUsage, icon: ChartColumn },
      { name: 'keys', title: strings.pagesKeys, icon: KeyRound },
      { name: 'logs', title: strings.pagesLogs, icon: ScrollText },
      { name: 'activity', title: strings.pagesActivity, icon: Activity },
    ],
  },
  {
    title: strings.groupsData,
    pages: [
      { name: 'pipelines', title: strings.pagesPipelines, icon: Workflow },
      { name: 'data', title: strings.pagesData, icon: Database },
      { name: 'explorer', title: strings.pagesExplorer, icon: Braces },
      { name: 'graphql', title: strings.pagesGraphql, icon: Hexagon },
    ],
  },
  {
    title: strings.groupsAccount,
    pages: [
      { name: 'billing', title: strings.pagesBilling, icon: CreditCard },
      { name: 'alerts', title: strings.pagesAlerts, icon: Bell },
      { name: 'team', title: strings.pagesTeam, icon: Users },
      { name: 'settings', title: strings.pagesSettings, icon: Settings2 },
    ],
  },
]

/** A payment provider returns to an address that names only the order. */
const currentPage = () => params.value.get('page') ?? (params.value.has('order') ? 'billing' : 'home')

/** The item that the page shows, if it is one of several. */
const currentDetail = () => params.value.get('id') ?? params.value.get('order') ?? params.value.get('month')

const SECTION_HEIGHT = 640

const roleNote = async () => (await import('./role-note.tsx')).RoleNote

/** Navigation without the pages that the role cannot use. */
const groupsOf = (role: Owner['member_role']) =>
  GROUPS.map((group) => ({
    ...group,
    pages: group.pages.filter(({ name }) => neededRole(name, role) === null),
  })).filter(({ pages }) => pages.length > 0)

const titleOf = (page: string) => GROUPS.flatMap(({ pages }) => pages).find(({ name }) => name === page)?.title ?? page

export function OwnerPage({ visitor }: { visitor: Owner }) {
  useRefreshOnReturn()
  const account = useAccount(visitor)
  const value = account.value.value
  const firstPlan = useRef<string | null>(null)
  if (value !== null) firstPlan.current ??= value.plan
  const before = firstPlan.current
  const page = currentPage()
  const { member_role: role } = visitor
  const needed = neededRole(page, role)
  const load = Object.hasOwn(SECTIONS, page) ? SECTIONS[page] : undefined
  return (
    <Shell visitor={visitor} groups={groupsOf(role)} current={page} detail={currentDetail()}>
      <ErrorNote error={account.error.value} onRetry={account.reload} />
      {value !== null && before !== null && before !== value.plan && (
        <p class="note" role="status">
          {strings.accountPlanChanged(labelOf(before), labelOf(value.plan))}
        </p>
      )}
      {load === undefined ? (
        <p class="note">{strings.pagesNone}</p>
      ) : needed !== null && role !== null ? (
        <Lazy key={page} load={roleNote} props={{ page: titleOf(page), needed, role }} />
      ) : (
        <Lazy
          key={page}
          load={load}
          props={{ account: value, owner: visitor }}
          fallback={<Reserved height={SECTION_HEIGHT} isLoading />}
        />
      )}
    </Shell>
  )
}

/** The account, which is loaded every few seconds. It reloads other data when credits arrive, expire or are spent. */
function useAccount(visitor: Owner) {
  const account = useAccountQuery<Account>(() => {
    void heartbeat.value
    return '/platform/account/'
  })
  const value = account.value.value
  // Balance plus spent credits changes when credits arrive or expire, which affects every section.
  const granted = value === null ? null : String(microOf(value.balance) + microOf(value.spent))
  const knownGranted = useRef(granted)
  useEffect(() => {
    if (knownGranted.current !== null && knownGranted.current !== granted) refreshAll()
    knownGranted.current = granted
  }, [granted])
  const spent = value?.spent ?? null
  useEffect(() => {
    if (spent !== null) spendVersion.value++
  }, [spent])
  useSignalEffect(() => {
    const loaded = account.value.value
    if (loaded !== null && loaded.account !== visitor.account) void refreshVisitor()
  })
  return account
}
