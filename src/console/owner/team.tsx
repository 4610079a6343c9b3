// Members of the account, their invitations and sessions, service keys, and the log of changes.

import { useSignal } from '@preact/signals'
import { pageUrl } from '../address.dom.ts'
import { nowMs } from '../clock.dom.ts'
import { type PagedQuery, type Query, usePagedQuery } from '../queries.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { timeText } from '../ui/format.ts'
import { DoneNote, ErrorNote, QueryView, Reserved } from '../ui/parts.tsx'
import { type Column, linesColumn, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { dataVersion, useAccountQuery } from './account-data.dom.ts'
import { isActive, lastUsedLines } from './account-view.ts'
import type { Key, KeysPage } from './responses.ts'
import type { SectionProps } from './section.ts'
import * as owner from './strings.ts'
import { MembersSection } from './team-members.tsx'
import { SessionsSection } from './team-sessions.tsx'
import * as strings from './team-strings.ts'
import { eventText, partyText } from './team-view.ts'

export type Members = Responses['listMembers']
type TeamEvents = Responses['listTeamEvents']
type TeamEvent = TeamEvents['events'][number]

export function Team({ account, owner: visitor }: SectionProps) {
  const { member_role: role } = visitor
  const manages = role === null ? account?.manages === true : role === 'owner'
  return (
    <>
      <h1>{owner.pagesTeam}</h1>
      {role === null && account === null ? (
        <Reserved height={480} isLoading />
      ) : manages ? (
        <ManagedTeam account={visitor.account} />
      ) : (
        <>
          <p class="note">{role === null ? strings.membersKey : strings.membersOwn(strings.roles[role])}</p>
          <OwnSessions account={visitor.account} />
        </>
      )}
    </>
  )
}

function ManagedTeam({ account }: { readonly account: string }) {
  const members = useAccountQuery<Members>(() => '/platform/members/')
  const sessions = useAccountQuery<Responses['ownSessions']>(() => '/platform/sessions/')
  const keys = useAccountQuery<KeysPage>(() => '/platform/keys/?limit=1000')
  const activity = usePagedQuery<TeamEvent>(
    'events',
    'before',
    () => `/platform/members/activity?limit=${dataVersion.value < 0 ? 0 : 50}`,
  )
  const done = useSignal('')
  const reload = (text: string) => {
    done.value = text
    members.reload()
    sessions.reload()
    activity.reload()
  }
  // The lists have any length, so they appear together.
  const isLoading =
    [members, sessions, keys].some(({ value, error }) => value.value === null && error.value === null) ||
    (activity.rows.value === null && activity.error.value === null)
  return (
    <>
      <DoneNote text={done} />
      {isLoading ? (
        <Reserved height={720} isLoading />
      ) : (
        <>
          <MembersSection members={members} onDone={reload} />
          <SessionsSection sessions={sessions} account={account} onDone={reload} />
          <ServiceKeys keys={keys} />
          <ActivityList activity={activity} />
        </>
      )}
    </>
  )
}

function OwnSessions({ account }: { readonly account: string }) {
  const sessions = useAccountQuery<Responses['ownSessions']>(() => '/platform/sessions/')
  const done = useSignal('')
  const reload = (text: string) => {
    done.value = text
    sessions.reload()
  }
  return (
    <>
      <DoneNote text={done} />
      <Reserved height={240} isLoading={sessions.value.value === null && sessions.error.value === null}>
        <SessionsSection sessions={sessions} account={account} onDone={reload} />
      </Reserved>
    </>
  )
}

const KEY_COLUMNS: readonly Column<Key>[] = [
  { name: owner.keysColumnsLabel, text: ({ label }) => label },
  { name: owner.keysColumnsKey, text: ({ prefix }) => prefix, render: ({ prefix }) => <code>{prefix}…</code> },
  {
    name: strings.serviceKeysPipelines,
    text: ({ pipelines }) => (pipelines === 'own' ? strings.serviceKeysScopes.own : strings.serviceKeysScopes.all),
  },
  linesColumn(owner.keysColumnsLastUsed, (key) => lastUsedLines(key, nowMs())),
  {
    name: owner.keysColumnsCreated,
    text: ({ created }) => timeText(created),
    render: ({ created }) => <Time atMs={created} />,
  },
]

const ServiceKeys = ({ keys }: { readonly keys: Query<KeysPage> }) => (
  <section>
    <h2>{strings.serviceKeysTitle}</h2>
    <p>
      {strings.serviceKeysText} <Link to={pageUrl('keys')}>{strings.serviceKeysLink}</Link>
    </p>
    <QueryView query={keys}>
      {(value) => (
        <Table
          caption={strings.serviceKeysTable}
          columns={KEY_COLUMNS}
          rows={value.keys.filter((key) => key.kind === 'service' && isActive(key, nowMs()))}
          rowKey={({ hash }) => hash}
          empty={strings.serviceKeysEmpty}
        />
      )}
    </QueryView>
  </section>
)

const EVENT_COLUMNS: readonly Column<TeamEvent>[] = [
  { name: strings.activityTime, text: ({ at }) => timeText(at), render: ({ at }) => <Time atMs={at} /> },
  { name: strings.activityBy, text: ({ by }) => partyText(by) },
  { name: strings.activityWhat, text: eventText, render: (event) => <span class="wrap">{eventText(event)}</span> },
]

const ActivityList = ({ activity: { rows, error, more, reload } }: { readonly activity: PagedQuery<TeamEvent> }) => (
  <section>
    <h2>{strings.activityTitle}</h2>
    <ErrorNote error={error.value} onRetry={reload} />
    {rows.value && (
      <Table
        caption={strings.activityTable}
        columns={EVENT_COLUMNS}
        rows={rows.value}
        rowKey={({ number }) => String(number)}
        empty={strings.activityEmpty}
        csv="team-activity"
        more={more}
      />
    )}
  </section>
)
