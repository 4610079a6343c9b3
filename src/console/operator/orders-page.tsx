// Sales: credit orders, which the operator marks as paid or void by typing their number, and plans with their number of accounts.

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
import { amountColumn, type Column, creditOrderColumns, numberColumn, Table } from '../ui/table.tsx'
import { accountColumn, pageUrl } from './parts.tsx'

const STATES = ['', 'open', 'paid', 'failed', 'void'] as const

type OrderAction = 'paid' | 'void'

export function OrdersPage({ role }: { role: StaffRole }) {
  const state = params.value.get('state') ?? ''
  const before = params.value.get('before')
  const account = params.value.get('account')
  const orders = useQuery<Responses['listOrders']>(() => {
    const asked = [...params.value].filter(([name]) => ['state', 'before', 'account'].includes(name))
    return `/admin/orders?${new URLSearchParams(asked)}`
  })
  const act = (order: CreditOrder, what: OrderAction) => (
    <ConfirmButton
      buttonLabel={what === 'paid' ? 'Mark paid' : 'Make void'}
      action={what === 'paid' ? 'Mark this order paid' : 'Make this order void'}
      name={order.number}
      onConfirm={() =>
        requestChange('POST', `/admin/orders/${encodeURIComponent(order.number)}/${what}`, undefined, orders.reload)
      }
    >
      <p>{confirmText(order, what)}</p>
    </ConfirmButton>
  )
  const acts: Column<CreditOrder> = {
    name: 'Actions',
    render: (order) => (
      <>
        {order.granted === null && act(order, 'paid')}
        {(order.state === 'open' || order.state === 'failed') && act(order, 'void')}
      </>
    ),
  }
  const columns: readonly Column<CreditOrder>[] = [
    ...creditOrderColumns({}),
    accountColumn(),
    { name: 'By', text: ({ provider }) => provider },
    { name: 'Note', text: ({ note }) => note ?? '' },
    ...(hasRole(role, 'billing') ? [acts] : []),
  ]
  const next = orders.value.value?.next
  return (
    <>
      <h1>Orders{account === null ? '' : ` of ${account}`}</h1>
      <nav class="beside" aria-label="States">
        {STATES.map((each) => (
          <Link key={each} to={urlWith({ state: each, before: null })} isHere={each === state}>
            {each === '' ? 'All' : each}
          </Link>
        ))}
      </nav>
      <QueryView query={orders}>
        {(value) => (
          <Table
            caption="Orders"
            columns={columns}
            rows={value.orders}
            rowKey={({ number }) => number}
            csv="orders"
            empty="There are no such orders. Owners make them where CHECKOUT is on."
          />
        )}
      </QueryView>
      <p class="beside">
        {before !== null && <Link to={urlWith({ before: null })}>Newest</Link>}
        {next && <Link to={urlWith({ before: next })}>Older</Link>}
      </p>
    </>
  )
}

function confirmText({ account, credits, amount, currency, note }: CreditOrder, what: OrderAction): string {
  const sum = priceText(amount, currency)
  if (what === 'void') return `${account} can no longer pay ${sum}.`
  const why = note === null ? '' : ` The order says: ${note}.`
  return `You have ${sum}: ${account} gets ${groupedText(credits)} credits, once.${why}`
}

type Plan = Responses['listPlans']['plans'][number]

const PLAN_COLUMNS: readonly Column<Plan>[] = [
  { name: 'Plan', text: ({ name }) => name },
  amountColumn('Credits', ({ credits }) => credits),
  { name: 'Given', text: ({ period }) => (period === 'once' ? 'once' : 'a month') },
  {
    ...numberColumn<Plan>('Accounts', ({ accounts }) => accounts),
    render: ({ name: plan, accounts }) => <Link to={pageUrl('accounts', { plan })}>{accounts}</Link>,
  },
  numberColumn('Info requests/s', (plan) => plan.info_requests_per_second ?? 'no limit'),
  numberColumn('REST requests/s', (plan) => plan.rest_requests_per_second ?? 'no limit'),
  numberColumn('Connections', (plan) => plan.stream_connections ?? 'no limit'),
  numberColumn('Subscriptions', (plan) => plan.stream_subscriptions ?? 'no limit'),
]

const WHOLE_NUMBER = { pattern: '\\d{1,8}', title: 'a whole number', isOptional: true }
const TERM_FIELDS: readonly FormField[] = [
  { name: 'plan', label: 'Plan' },
  { name: 'credits', label: 'Credits', isOptional: true },
  {
    name: 'period',
    label: 'Given',
    options: { '': 'as it is (new: a month)', month: 'a month', once: 'once' },
  },
  { name: 'info_requests_per_second', label: 'Info requests/s', ...WHOLE_NUMBER },
  { name: 'rest_requests_per_second', label: 'REST requests/s', ...WHOLE_NUMBER },
  { name: 'stream_connections', label: 'Connections', ...WHOLE_NUMBER },
  { name: 'stream_subscriptions', label: 'Subscriptions', ...WHOLE_NUMBER },
]

/** Limits are numbers on the wire, credits exact text. */
const termsOf = (typed: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(typed).map(([name, value]) => [name, /_per_second$|^stream_/.test(name) ? Number(value) : value]),
  )

export function PlansPage({ role }: { role: StaffRole }) {
  const plans = useQuery<Responses['listPlans']>(() => '/admin/plans')
  const pathOf = (plan: string) => `/admin/plans/${encodeURIComponent(plan)}`
  const remove = (plan: string) => requestChange('DELETE', pathOf(plan), undefined, plans.reload)
  /** Ten accounts a call. */
  const tell = async (plan: string) => {
    for (let after: string | null = ''; after !== null; ) {
      const path: string = `${pathOf(plan)}/apply${after === '' ? '' : `?after=${after}`}`
      const answer: RequestResult<Responses['applyPlan']> = await request('POST', path)
      if (!answer.ok) return answer.error
      after = answer.value.next
    }
    return null
  }
  const acts: Column<Plan> = {
    name: 'Actions',
    render: ({ name, accounts }) =>
      accounts > 0 ? (
        <ConfirmButton
          buttonLabel="Tell accounts"
          label={`Tell accounts on ${name}`}
          action="Tell its accounts"
          name={name}
          onConfirm={() => tell(name)}
        >
          <p>Accounts on it have its limits at once, and its credits from their next period on.</p>
        </ConfirmButton>
      ) : (
        <ConfirmButton
          buttonLabel="Remove"
          label={`Remove ${name}`}
          action="Remove this plan"
          name={name}
          onConfirm={() => remove(name)}
        >
          <p>No account can be put on it any more. A plan that accounts are on is not removed.</p>
        </ConfirmButton>
      ),
  }
  return (
    <>
      <h1>Plans</h1>
      <QueryView query={plans}>
        {(value) => (
          <Table
            caption="Plans"
            columns={hasRole(role, 'owner') ? [...PLAN_COLUMNS, acts] : PLAN_COLUMNS}
            rows={value.plans}
            rowKey={({ name }) => name}
            empty="There are no plans."
            csv="plans"
          />
        )}
      </QueryView>
      {hasRole(role, 'owner') && (
        <>
          <h2>New plan, or change of one</h2>
          <p>
            What is left empty stays as it is. New accounts have a change at once; those on the plan when they are told.
          </p>
          <ActionForm<Responses['setPlan']>
            submitLabel="Set the plan"
            fields={TERM_FIELDS}
            send={({ plan = '', ...terms }) => request('PUT', pathOf(plan), termsOf(terms))}
            onDone={plans.reload}
          />
        </>
      )}
    </>
  )
}
