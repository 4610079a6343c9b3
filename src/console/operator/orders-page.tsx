// Credit orders, which operators mark as paid or void, and plans.

import { hasRole, type StaffRole } from '../../accounts/staff.ts'
import { params, urlWith } from '../address.dom.ts'
import { useQuery } from '../queries.dom.ts'
import { type RequestResult, request, requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { ConfirmButton } from '../ui/dialog.tsx'
import { ActionForm, type FormField } from '../ui/form.tsx'
import { type CreditOrder, groupedText, priceText } from '../ui/format.ts'
import { QueryView } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { amountColumn, type Column, creditOrderColumns, numberColumn, Table } from '../ui/table.tsx'
import { accountColumn, pageUrl } from './parts.tsx'
import * as strings from './strings.ts'

const STATES = ['', 'open', 'paid', 'failed', 'void'] as const

type OrderAction = 'paid' | 'void'

export function OrdersPage({ role }: { role: StaffRole }) {
  const state = params.value.get('state') ?? ''
  const before = params.value.get('before')
  const account = params.value.get('account')
  const orders = useQuery<Responses['listOrders']>(() => {
    const query = [...params.value].filter(([name]) => ['state', 'before', 'account'].includes(name))
    return `/admin/orders?${new URLSearchParams(query)}`
  })
  const actionButton = (order: CreditOrder, action: OrderAction) => (
    <ConfirmButton
      buttonLabel={strings.ordersActions[action]}
      action={strings.ordersSubmit[action]}
      name={order.number}
      onConfirm={() =>
        requestChange('POST', `/admin/orders/${encodeURIComponent(order.number)}/${action}`, undefined, orders.reload)
      }
    >
      <p>{confirmText(order, action)}</p>
    </ConfirmButton>
  )
  const actions: Column<CreditOrder> = {
    name: strings.commonActions,
    render: (order) => (
      <>
        {order.granted === null && actionButton(order, 'paid')}
        {(order.state === 'open' || order.state === 'failed') && actionButton(order, 'void')}
      </>
    ),
  }
  const columns: readonly Column<CreditOrder>[] = [
    ...creditOrderColumns({}),
    accountColumn(),
    { name: strings.ordersProvider, text: ({ provider }) => labelOf(provider) },
    { name: strings.ordersNote, text: ({ note }) => note ?? '' },
    ...(hasRole(role, 'billing') ? [actions] : []),
  ]
  const next = orders.value.value?.next
  return (
    <>
      <h1>{account === null ? strings.ordersTitle : strings.commonOf(strings.ordersTitle, account)}</h1>
      <nav class="beside" aria-label={strings.ordersStates}>
        {STATES.map((each) => (
          <Link key={each} to={urlWith({ state: each, before: null })} isHere={each === state}>
            {each === '' ? strings.ordersAll : labelOf(each)}
          </Link>
        ))}
      </nav>
      <QueryView query={orders}>
        {(value) => (
          <Table
            caption={strings.ordersTitle}
            columns={columns}
            rows={value.orders}
            rowKey={({ number }) => number}
            csv="orders"
            empty={strings.ordersEmpty}
          />
        )}
      </QueryView>
      <p class="beside">
        {before !== null && <Link to={urlWith({ before: null })}>{strings.ordersNewest}</Link>}
        {next && <Link to={urlWith({ before: next })}>{strings.ordersOlder}</Link>}
      </p>
    </>
  )
}

function confirmText({ account, credits, amount, currency, note }: CreditOrder, action: OrderAction): string {
  const price = priceText(amount, currency)
  if (action === 'void') return strings.ordersVoidText(account, price)
  return (
    strings.ordersPaidText(account, price, groupedText(credits)) + (note === null ? '' : strings.ordersNoteText(note))
  )
}

type Plan = Responses['listPlans']['plans'][number]

const PLAN_COLUMNS: readonly Column<Plan>[] = [
  { name: strings.plansColumnsPlan, text: ({ name }) => name },
  amountColumn(strings.plansColumnsCredits, ({ credits }) => credits),
  {
    name: strings.plansColumnsPeriod,
    text: ({ period }) => (period === 'once' ? strings.plansOnce : strings.plansMonthly),
  },
  {
    ...numberColumn<Plan>(strings.plansColumnsAccounts, ({ accounts }) => accounts),
    render: ({ name: plan, accounts }) => <Link to={pageUrl('accounts', { plan })}>{accounts}</Link>,
  },
  numberColumn(strings.plansColumnsInfo, (plan) => plan.info_requests_per_second ?? strings.plansUnlimited),
  numberColumn(strings.plansColumnsRest, (plan) => plan.rest_requests_per_second ?? strings.plansUnlimited),
  numberColumn(strings.plansColumnsConnections, (plan) => plan.stream_connections ?? strings.plansUnlimited),
  numberColumn(strings.plansColumnsSubscriptions, (plan) => plan.stream_subscriptions ?? strings.plansUnlimited),
]

const WHOLE_NUMBER = { pattern: '\\d{1,8}', title: strings.plansWholeNumber, isOptional: true }
const TERM_FIELDS: readonly FormField[] = [
  { name: 'plan', label: strings.plansColumnsPlan },
  { name: 'credits', label: strings.plansColumnsCredits, isOptional: true },
  {
    name: 'period',
    label: strings.plansColumnsPeriod,
    options: strings.plansPeriods,
  },
  { name: 'info_requests_per_second', label: strings.plansColumnsInfo, ...WHOLE_NUMBER },
  { name: 'rest_requests_per_second', label: strings.plansColumnsRest, ...WHOLE_NUMBER },
  { name: 'stream_connections', label: strings.plansColumnsConnections, ...WHOLE_NUMBER },
  { name: 'stream_subscriptions', label: strings.plansColumnsSubscriptions, ...WHOLE_NUMBER },
]

/** The API takes limits as numbers and credits as strings. */
const termsOf = (typed: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(typed).map(([name, value]) => [name, /_per_second$|^stream_/.test(name) ? Number(value) : value]),
  )

export function PlansPage({ role }: { role: StaffRole }) {
  const plans = useQuery<Responses['listPlans']>(() => '/admin/plans')
  const pathOf = (plan: string) => `/admin/plans/${encodeURIComponent(plan)}`
  const remove = (plan: string) => requestChange('DELETE', pathOf(plan), undefined, plans.reload)
  /** Each call applies the plan to a page of accounts. */
  const apply = async (plan: string) => {
    for (let after: string | null = ''; after !== null; ) {
      const path: string = `${pathOf(plan)}/apply${after === '' ? '' : `?after=${after}`}`
      const result: RequestResult<Responses['applyPlan']> = await request('POST', path)
      if (!result.ok) return result.error
      after = result.value.next
    }
    return null
  }
  const actions: Column<Plan> = {
    name: strings.commonActions,
    render: ({ name, accounts }) =>
      accounts > 0 ? (
        <ConfirmButton
          buttonLabel={strings.plansApply}
          label={strings.plansApplyLabel(name)}
          action={strings.plansApplySubmit}
          name={name}
          onConfirm={() => apply(name)}
        >
          <p>{strings.plansApplyText}</p>
        </ConfirmButton>
      ) : (
        <ConfirmButton
          buttonLabel={strings.plansRemove}
          label={strings.plansRemoveLabel(name)}
          action={strings.plansRemoveSubmit}
          name={name}
          onConfirm={() => remove(name)}
        >
          <p>{strings.plansRemoveText}</p>
        </ConfirmButton>
      ),
  }
  return (
    <>
      <h1>{strings.plansTitle}</h1>
      <QueryView query={plans}>
        {(value) => (
          <Table
            caption={strings.plansTitle}
            columns={hasRole(role, 'owner') ? [...PLAN_COLUMNS, actions] : PLAN_COLUMNS}
            rows={value.plans}
            rowKey={({ name }) => name}
            empty={strings.plansEmpty}
            csv="plans"
          />
        )}
      </QueryView>
      {hasRole(role, 'owner') && (
        <>
          <h2>{strings.plansEdit}</h2>
          <p>{strings.plansEditText}</p>
          <ActionForm<Responses['setPlan']>
            submitLabel={strings.plansSave}
            fields={TERM_FIELDS}
            send={({ plan = '', ...terms }) => request('PUT', pathOf(plan), termsOf(terms))}
            onDone={plans.reload}
          />
        </>
      )}
    </>
  )
}
