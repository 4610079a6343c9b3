// The list of accounts, the page of one account, and keys of all accounts or one.

import { useSignal } from '@preact/signals'
import { hasRole, type StaffRole } from '../../accounts/staff.ts'
import { navigate, pageUrl, params } from '../address.dom.ts'
import { nowMs } from '../clock.dom.ts'
import { type PagedQuery, useQuery } from '../queries.dom.ts'
import { request, requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { Bars } from '../ui/bars.tsx'
import { ConfirmButton, ConfirmDialog, Dialog, Field } from '../ui/dialog.tsx'
import { ActionForm, type FormField, Select } from '../ui/form.tsx'
import { dayText, groupedText, timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { KeyReachNotes } from '../ui/key-reach.tsx'
import { DoneNote, Figures, QueryView, Snippet } from '../ui/parts.tsx'
import { columnsByDay, partNames } from '../ui/stacked-bars.ts'
import { labelOf } from '../ui/strings.ts'
import { type Column, minorColumns } from '../ui/table.tsx'
import { AccountBilling } from './account-billing.tsx'
import { AddCredits } from './add-credits.tsx'
import { BILLING } from './billing-strings.ts'
import { AccountGrants, AccountPipelines, AccountRefusals } from './lists.tsx'
import {
  accountColumn,
  creditsColumn,
  ListPage,
  lastUsedColumn,
  Rows,
  timeColumn,
  useAdminList,
  usePlanNames,
} from './parts.tsx'
import * as strings from './strings.ts'

const planOptions = (plans: readonly string[]) => Object.fromEntries(plans.map((plan) => [plan, labelOf(plan)]))
/** The smallest plan is the default. */
const trialFirst = (a: string, b: string) => Number(b === 'trial') - Number(a === 'trial')

export function AccountsPage({ role }: { role: StaffRole }) {
  const plans = usePlanNames()
  const fields = [
    { name: 'search', label: strings.accountsSearch },
    { name: 'plan', label: strings.commonPlan, options: { '': strings.accountsAllPlans, ...planOptions(plans) } },
  ]
  return (
    <ListPage<Responses['listAccounts']['accounts'][number]>
      caption={strings.pagesAccounts}
      fields={fields}
      paged={useAdminList('accounts', 'after', 'accounts', fields)}
      csv="accounts"
      columns={[
        accountColumn(),
        { name: strings.commonPlan, text: ({ plan }) => plan, render: ({ plan }) => labelOf(plan) },
        creditsColumn(strings.accountsBalance, 'balance'),
        { name: strings.accountsKeys, text: ({ keys }) => String(keys), isNumber: true },
        lastUsedColumn(),
        timeColumn(strings.commonCreated, 'created'),
      ]}
      empty={
        <>
          <p>{strings.accountsEmpty}</p>
          <Snippet line="npx weir admin account create acme --plan trial" />
        </>
      }
      action={hasRole(role, 'owner') && plans.length > 0 && <CreateAccount plans={plans.toSorted(trialFirst)} />}
    />
  )
}

function CreateAccount({ plans }: { readonly plans: readonly string[] }) {
  const isOpen = useSignal(false)
  const id = useSignal('')
  const plan = useSignal(plans[0] ?? '')
  const name = id.value.trim()
  const send = () =>
    requestChange('PUT', `/admin/accounts/${encodeURIComponent(name)}`, { plan: plan.value }, () =>
      navigate(pageUrl('account', { id: name })),
    )
  return (
    <>
      <Button text={strings.accountsCreate} class="main" onClick={() => (isOpen.value = true)} />
      {isOpen.value && (
        <Dialog
          title={strings.accountsCreate}
          submitLabel={strings.accountsCreateSubmit}
          isIncomplete={name === ''}
          onSend={send}
          onClose={() => (isOpen.value = false)}
        >
          <Field
            label={strings.accountsNewId}
            hint={strings.accountsIdRule}
            placeholder={strings.accountsNewExample}
            value={id.value}
            onText={(text) => (id.value = text)}
          />
          <p>
            <Select
              label={strings.accountsNewPlan}
              value={plan.value}
              options={planOptions(plans)}
              onSelect={(value) => (plan.value = value)}
            />
          </p>
        </Dialog>
      )}
    </>
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
  const done = useSignal('')
  const changed = (text: string) => {
    done.value = text
    account.reload()
    changes.value++
  }
  return (
    <>
      <div class="title">
        <h1>{id}</h1>
        {account.value.value && hasRole(role, 'billing') && (
          <div class="beside">
            <PlanChange account={account.value.value} onDone={changed} />
            <AddCredits account={id} onDone={changed} />
          </div>
        )}
      </div>
      <QueryView query={account}>
        {(shown) => (
          <>
            <Figures figures={figuresOf(shown)} />
            <DoneNote text={done} />
            <nav class="segments" aria-label={strings.accountSections}>
              {SECTIONS.map(([name, title]) => (
                <a key={name} href={`#${name}`}>
                  {title}
                </a>
              ))}
            </nav>
            <h2 id="usage">{strings.accountUsage}</h2>
            <QueryView query={used}>{(value) => <UsageByDay used={value} />}</QueryView>
            <AccountKeys id={id} role={role} />
            <AccountRefusals id={id} />
            <AccountGrants key={`g${changes.value}`} id={id} />
            <AccountBilling id={id} role={role} onDone={changed} />
            <AccountPipelines id={id} />
          </>
        )}
      </QueryView>
    </>
  )
}

/** Titles by the id of the heading. */
const SECTIONS = [
  ['usage', strings.pagesUsage],
  ['keys', strings.pagesKeys],
  ['refusals', strings.pagesRefusals],
  ['grants', strings.pagesTopups],
  ['billing', BILLING.title],
  ['pipelines', strings.pagesPipelines],
] as const

function figuresOf({ plan, created, balance, spent, granted, held, written_off: lost, period }: Account) {
  return [
    {
      name: strings.accountFiguresBalance,
      value: groupedText(balance),
      note: strings.accountFiguresHeld(groupedText(held)),
    },
    {
      name: strings.accountFiguresPlan,
      value: labelOf(plan),
      note: period?.until ? strings.accountFiguresPeriodEnds(dayText(period.until)) : strings.accountFiguresNoEnd,
    },
    {
      name: strings.accountFiguresSpent,
      value: groupedText(spent),
      note: strings.accountFiguresSince(dayText(created)),
    },
    { name: strings.accountFiguresGranted, value: groupedText(granted), note: strings.accountFiguresGrantedBy },
    ...(Number(lost) === 0
      ? []
      : [
          {
            name: strings.accountFiguresWrittenOff,
            value: groupedText(lost),
            note: strings.accountFiguresWrittenOffWhy,
          },
        ]),
  ]
}

function UsageByDay({ used: { from, to, rows, totals, next } }: { used: AccountUsage }) {
  const used = rows.map(({ date, product: part, credits }) => ({ date, part, credits }))
  const summary = strings.accountUsageSummary(
    groupedText(totals.credits),
    from,
    to,
    groupedText(String(totals.calls)),
    groupedText(String(totals.stream_minutes)),
    groupedText(String(totals.pipeline_rows)),
  )
  return (
    <>
      <p>
        {summary}
        {next && strings.accountUsageCut}
      </p>
      {rows.length > 0 && (
        <Bars
          label={strings.accountUsageChart(from, to)}
          columns={columnsByDay(from, to, used)}
          parts={partNames(used)}
          valueText={(value) => strings.accountCredits(groupedText(String(value)))}
        />
      )}
    </>
  )
}

interface PlanChangeProps {
  readonly account: Account
  /** Gets what was done, in words. */
  readonly onDone: (text: string) => void
}

/** A button with its dialog, which begins with the current plan. */
function PlanChange({ account: { account, plan }, onDone }: PlanChangeProps) {
  const plans = usePlanNames()
  const isOpen = useSignal(false)
  const chosen = useSignal(plan)
  const now = labelOf(plan)
  const after = labelOf(chosen.value)
  const isChanged = chosen.value !== plan
  const put = () =>
    requestChange('PUT', `/admin/accounts/${encodeURIComponent(account)}/plan`, { plan: chosen.value }, () =>
      onDone(strings.accountPlanDone(now, after)),
    )
  const open = () => {
    chosen.value = plan
    isOpen.value = true
  }
  return (
    <>
      <Button text={strings.accountPlanSubmit} onClick={open} />
      {isOpen.value && (
        <ConfirmDialog
          action={isChanged ? strings.accountPlanConfirm(after) : strings.accountPlanSubmit}
          name={account}
          isIncomplete={!isChanged}
          onConfirm={put}
          onClose={() => (isOpen.value = false)}
        >
          <p>
            <Select
              label={strings.accountPlanSelect}
              value={chosen.value}
              options={{ ...planOptions(plans), [plan]: strings.accountPlanNow(now) }}
              onSelect={(value) => (chosen.value = value)}
            />
          </p>
          {isChanged && <p>{strings.accountPlanText(now, after)}</p>}
        </ConfirmDialog>
      )}
    </>
  )
}

type Key = Responses['listKeys']['keys'][number]

function stateOf({ revoked, expires, replaced_by: replaced }: Key): string {
  if (revoked !== null) return replaced === null ? strings.keysRevoked(timeText(revoked)) : strings.keysReplaced
  if (expires === null) return strings.keysActive
  return nowMs() >= expires ? strings.keysExpired : strings.keysActiveUntil(timeText(expires))
}

const columnsOf = (paged: PagedQuery<Key>, role: StaffRole): readonly Column<Key>[] => [
  { name: strings.commonKey, text: ({ prefix }) => prefix, render: ({ prefix }) => <code>{prefix}</code> },
  accountColumn(),
  { name: strings.commonState, text: stateOf },
  ...minorColumns<Key>(
    { name: strings.commonLabel, text: ({ label }) => label },
    {
      name: strings.keysKind,
      text: ({ products }) => products.join(' '),
      render: ({ kind, products }) => <span title={products.map(labelOf).join(', ')}>{labelOf(kind)}</span>,
    },
  ),
  lastUsedColumn(),
  creditsColumn(strings.keysCap, 'cap', strings.keysNoCap),
  creditsColumn(strings.keysCapLeft, 'cap_remaining', ''),
  timeColumn(strings.commonCreated, 'created'),
  ...(hasRole(role, 'owner')
    ? [
        {
          name: strings.commonActions,
          render: (key: Key) => key.revoked === null && <Revoke of={key} done={paged.reload} />,
        },
      ]
    : []),
]

function Revoke({ of: { prefix, account, label, hash }, done }: { of: Key; done: () => void }) {
  const revoke = () => requestChange('DELETE', `/admin/keys/${hash}`, undefined, done)
  return (
    <ConfirmButton
      buttonLabel={strings.keysRevoke}
      label={strings.keysRevokeLabel(prefix)}
      action={strings.keysRevokeSubmit}
      name={prefix}
      onConfirm={revoke}
    >
      <p>{strings.keysRevokeText(prefix, account, label)}</p>
      <KeyReachNotes path={`/admin/keys/${hash}/reach`} />
    </ConfirmButton>
  )
}

const NO_KEYS = (
  <>
    <p>{strings.keysEmpty}</p>
    <Snippet line="npx weir admin key issue acme" />
  </>
)
const KEY_FILTERS = [{ name: 'account', label: strings.commonAccount }]
const NEW_KEY_FIELDS: readonly FormField[] = [
  { name: 'label', label: strings.keysNewLabel, isOptional: true },
  { name: 'kind', label: strings.keysNewKind, options: strings.keysKinds },
]
const PAGE_LIMIT = { limit: '200' }

export function KeysPage({ role }: { role: StaffRole }) {
  const paged = useAdminList<Key>('keys', 'after', 'keys', KEY_FILTERS, () => PAGE_LIMIT)
  const columns = columnsOf(paged, role)
  return (
    <ListPage
      caption={strings.pagesKeys}
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
      <h2 id="keys">{strings.pagesKeys}</h2>
      {hasRole(role, 'owner') && (
        <ActionForm<Responses['createKey']>
          submitLabel={strings.keysCreate}
          fields={NEW_KEY_FIELDS}
          send={(input) => request('POST', '/admin/keys', { ...input, account: id })}
          secretOf={({ key, prefix }) => ({ name: strings.keysSecret(prefix), secret: key })}
          onDone={paged.reload}
        />
      )}
      <Rows
        caption={strings.commonOf(strings.pagesKeys, id)}
        paged={paged}
        columns={columnsOf(paged, role).filter(({ name }) => name !== strings.commonAccount)}
        rowKey={({ hash }) => hash}
        csv={`keys-${id}`}
        empty={NO_KEYS}
      />
    </>
  )
}
