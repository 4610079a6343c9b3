// Accounts, and one account: what it has, what it used, and what an operator does with it; keys of all accounts, or of one.

import { useSignal } from '@preact/signals'
import { hasRole, type StaffRole } from '../../accounts/staff.ts'
import { navigate, params } from '../address.dom.ts'
import { type PagedQuery, useQuery } from '../queries.dom.ts'
import { request, requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { Bars } from '../ui/bars.tsx'
import { ConfirmButton, ConfirmDialog } from '../ui/dialog.tsx'
import { ActionForm, type FormField } from '../ui/form.tsx'
import { dayText, groupedText, timeText } from '../ui/format.ts'
import { KeyReachNotes } from '../ui/key-reach.tsx'
import { Figures, QueryView, Snippet } from '../ui/parts.tsx'
import { columnsByDay, partNames } from '../ui/stacked-bars.ts'
import type { Column } from '../ui/table.tsx'
import { AccountGrants, AccountPipelines, AccountRefusals } from './lists.tsx'
import {
  accountColumn,
  creditsColumn,
  ListPage,
  lastUsedColumn,
  pageUrl,
  Rows,
  timeColumn,
  useAdminList,
  usePlanNames,
} from './parts.tsx'

const ACCOUNT_ID = {
  pattern: '[A-Za-z0-9][A-Za-z0-9_\\-]{0,63}',
  title: 'letters, digits, _ and -, a letter or digit first, at most 64',
}
const planOptions = (plans: readonly string[]) => Object.fromEntries(plans.map((plan) => [plan, plan]))
/** The smallest is no surprise to whoever does not choose. */
const trialFirst = (a: string, b: string) => Number(b === 'trial') - Number(a === 'trial')

export function AccountsPage({ role }: { role: StaffRole }) {
  const plans = usePlanNames()
  const fields = [
    { name: 'search', label: 'Part of the name' },
    { name: 'plan', label: 'Plan', options: { '': 'all', ...planOptions(plans) } },
  ]
  return (
    <ListPage<Responses['listAccounts']['accounts'][number]>
      caption="Accounts"
      fields={fields}
      paged={useAdminList('accounts', 'after', 'accounts', fields)}
      csv="accounts"
      columns={[
        accountColumn(),
        { name: 'Plan', text: ({ plan }) => plan },
        creditsColumn('Balance, credits', 'balance'),
        { name: 'Keys', text: ({ keys }) => String(keys), isNumber: true },
        lastUsedColumn(),
        timeColumn('Made', 'created'),
      ]}
      empty={
        <>
          <p>No account is like this. Make one:</p>
          <Snippet line="npm run admin -- account create acme --plan trial" />
        </>
      }
    >
      {hasRole(role, 'owner') && plans.length > 0 && (
        <ActionForm<Responses['ensureAccount']>
          submitLabel="Make the account"
          fields={[
            { name: 'id', label: 'New account, such as acme', ...ACCOUNT_ID },
            { name: 'plan', label: 'Its plan', options: planOptions(plans.toSorted(trialFirst)) },
          ]}
          send={({ id = '', plan }) => request('PUT', `/admin/accounts/${encodeURIComponent(id)}`, { plan })}
          onDone={({ account }) => navigate(pageUrl('account', { id: account }))}
        />
      )}
    </ListPage>
  )
}

type Account = Responses['showAccount']
type AccountUsage = Responses['accountUsage']

export function AccountPage({ role }: { role: StaffRole }) {
  const id = params.value.get('id') ?? ''
  const path = `/admin/accounts/${encodeURIComponent(id)}`
  const account = useQuery<Account>(() => path)
  const used = useQuery<AccountUsage>(() => `${path}/usage`)
  const changes = useSignal(0)
  const changed = () => {
    account.reload()
    changes.value++
  }
  return (
    <>
      <h1>{id}</h1>
      <QueryView query={account}>
        {(shown) => (
          <>
            <Figures figures={figuresOf(shown)} />
            {hasRole(role, 'billing') && <TopUp key={`t${changes.value}`} path={path} onDone={changed} />}
            {hasRole(role, 'billing') && (
              <PlanChange key={`p${changes.value}`} account={shown} path={path} onDone={changed} />
            )}
            <h2>Used by day, UTC</h2>
            <QueryView query={used}>{(value) => <UsageByDay used={value} />}</QueryView>
            <AccountKeys id={id} role={role} />
            <AccountRefusals id={id} />
            <AccountGrants key={`g${changes.value}`} id={id} />
            <AccountPipelines id={id} />
          </>
        )}
      </QueryView>
    </>
  )
}

function figuresOf({ plan, created, balance, spent, granted, held, written_off: lost, period }: Account) {
  return [
    { name: 'Balance, credits', value: groupedText(balance), note: `${groupedText(held)} of it lent to calls` },
    { name: 'Plan', value: plan, note: period?.until ? `its period ends ${dayText(period.until)}` : 'without an end' },
    { name: 'Spent', value: groupedText(spent), note: `since ${dayText(created)}` },
    { name: 'Given', value: groupedText(granted), note: 'by plans and grants' },
    { name: 'Written off', value: groupedText(lost), note: 'served when nothing was left' },
  ]
}

function UsageByDay({ used: { from, to, rows, totals, next } }: { used: AccountUsage }) {
  const used = rows.map(({ date, product: part, credits }) => ({ date, part, credits }))
  const what = `${groupedText(totals.credits)} credits from ${from} to ${to}: ${totals.calls} calls, ${totals.stream_minutes} minutes of streams, ${totals.pipeline_rows} rows of pipelines`
  return (
    <>
      <p>
        {what}
        {next && '. The chart has its first thousand rows.'}
      </p>
      {rows.length > 0 && (
        <Bars
          label={`Credits by day, ${from} to ${to}`}
          columns={columnsByDay(from, to, used)}
          parts={partNames(used)}
          valueText={(value) => `${value} credits`}
        />
      )}
    </>
  )
}

interface AccountActionProps {
  readonly path: string
  readonly onDone: () => void
}

const GRANT_FIELDS: readonly FormField[] = [
  { name: 'credits', label: 'Top up, credits', pattern: '[0-9 ]{1,13}(\\.[0-9]{1,6})?', title: 'such as 5000 or 0.5' },
  { name: 'name', label: 'Name without spaces, such as invoice-1', pattern: '[!-~]+', title: 'no spaces' },
]

/** Under a name of its own, so that a second click gives nothing more. */
function TopUp({ path, onDone }: AccountActionProps) {
  const send = async ({ credits = '', name }: Readonly<Record<string, string>>) => {
    const order = { credits: credits.replaceAll(' ', ''), idempotency_key: name }
    const answer = await request<unknown>('POST', `${path}/grants`, order)
    if (answer.ok) return answer
    return { ...answer, error: { ...answer.error, message: answer.error.message.replace('idempotency_key', 'name') } }
  }
  return <ActionForm submitLabel="Top up" fields={GRANT_FIELDS} send={send} onDone={onDone} />
}

function PlanChange({ account, path, onDone }: AccountActionProps & { readonly account: Account }) {
  const plans = usePlanNames()
  const wanted = useSignal<string | null>(null)
  const put = () => requestChange('PUT', `${path}/plan`, { plan: wanted.value }, onDone)
  const open = (event: Event) => {
    event.preventDefault()
    wanted.value = String(new FormData(event.currentTarget as HTMLFormElement).get('plan') ?? '')
  }
  return (
    <form class="filters" onSubmit={open}>
      <label>
        Put on another plan
        <select name="plan">
          {plans
            .filter((plan) => plan !== account.plan)
            .map((plan) => (
              <option key={plan}>{plan}</option>
            ))}
        </select>
      </label>
      <button type="submit">Change plan</button>
      {wanted.value && (
        <ConfirmDialog
          action={`Put it on ${wanted.value}`}
          name={account.account}
          onConfirm={put}
          onClose={() => (wanted.value = null)}
        >
          <p>
            At once: what the plan {account.plan} has left expires, and the first period of {wanted.value} begins with
            its credits. Terms that were agreed with the account end.
          </p>
        </ConfirmDialog>
      )}
    </form>
  )
}

type Key = Responses['listKeys']['keys'][number]

function stateOf({ revoked, expires, replaced_by: replaced }: Key): string {
  if (revoked !== null) return replaced === null ? `revoked ${timeText(revoked)}` : 'replaced'
  if (expires === null) return 'live'
  return Date.now() >= expires ? 'expired' : `live, ends ${timeText(expires)}`
}

const columnsOf = (paged: PagedQuery<Key>, role: StaffRole): readonly Column<Key>[] => [
  { name: 'Key', text: ({ prefix }) => prefix, render: ({ prefix }) => <code>{prefix}</code> },
  accountColumn(),
  { name: 'Label', text: ({ label }) => label },
  {
    name: 'Kind',
    text: ({ products }) => products.join(' '),
    render: ({ kind, products }) => <span title={products.join(' ')}>{kind}</span>,
  },
  { name: 'State', text: stateOf },
  ...(hasRole(role, 'owner')
    ? [{ name: 'Actions', render: (key: Key) => key.revoked === null && <Revoke of={key} done={paged.reload} /> }]
    : []),
  creditsColumn('Cap, credits', 'cap', 'none'),
  creditsColumn('Left of it', 'cap_remaining', ''),
  lastUsedColumn(),
  timeColumn('Made', 'created'),
]

function Revoke({ of: { prefix, account, label, hash }, done }: { of: Key; done: () => void }) {
  const revoke = () => requestChange('DELETE', `/admin/keys/${hash}`, undefined, done)
  return (
    <ConfirmButton
      buttonLabel="Revoke"
      label={`Revoke ${prefix}`}
      action="Revoke this key"
      name={prefix}
      onConfirm={revoke}
    >
      <p>
        {prefix} of {account} {label && `(${label})`} stops working at once, for good. Its open sockets end within a
        minute.
      </p>
      <KeyReachNotes path={`/admin/keys/${hash}/reach`} />
    </ConfirmButton>
  )
}

const NO_KEYS = (
  <>
    <p>There is no key. Make one:</p>
    <Snippet line="npm run admin -- key issue acme" />
  </>
)
const KEY_FILTERS = [{ name: 'account', label: 'Account' }]
const NEW_KEY_FIELDS: readonly FormField[] = [
  { name: 'label', label: 'Label of a new key', isOptional: true },
  { name: 'kind', label: 'Kind', options: { api: 'API: asks data', service: 'service: manages' } },
]
const PAGE_LIMIT = { limit: '200' }

export function KeysPage({ role }: { role: StaffRole }) {
  const paged = useAdminList<Key>('keys', 'after', 'keys', KEY_FILTERS, () => PAGE_LIMIT)
  const columns = columnsOf(paged, role)
  return (
    <ListPage
      caption="Keys"
      fields={KEY_FILTERS}
      paged={paged}
      columns={columns}
      rowKey={({ hash }) => hash}
      csv="keys"
      empty={NO_KEYS}
    />
  )
}

function AccountKeys({ id, role }: { id: string; role: StaffRole }) {
  const paged = useAdminList<Key>('keys', 'after', 'keys', [], () => ({ ...PAGE_LIMIT, account: id }))
  return (
    <>
      <h2>Keys</h2>
      {hasRole(role, 'owner') && (
        <ActionForm<Responses['createKey']>
          submitLabel="Make a key"
          fields={NEW_KEY_FIELDS}
          send={(order) => request('POST', '/admin/keys', { ...order, account: id })}
          secretOf={({ key, prefix }) => ({ what: `The key ${prefix}…`, secret: key })}
          onDone={paged.reload}
        />
      )}
      <Rows
        caption={`Keys of ${id}`}
        paged={paged}
        columns={columnsOf(paged, role).filter(({ name }) => name !== 'Account')}
        rowKey={({ hash }) => hash}
        csv={`keys-${id}`}
        empty={NO_KEYS}
      />
    </>
  )
}
