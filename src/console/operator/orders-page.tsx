// Sales: credit orders, which the operator marks as paid or void by typing their number, and plans with their number of accounts.

import { mayAct, type StaffRole } from '../../accounts/staff.ts'
import { addressWith, params } from '../address.dom.ts'
import type { Answers } from '../answers.ts'
import { type Asked, ask, change } from '../ask.dom.ts'
import { useLoaded } from '../loaded.dom.ts'
import { Link } from '../shell.tsx'
import { Act } from '../ui/dialog.tsx'
import { type FormField, OrderForm } from '../ui/form.tsx'
import { Answered } from '../ui/parts.tsx'
import { amountColumn, type Column, numberColumn, orderColumns, Table } from '../ui/table.tsx'
import { groupedText, type Order, priceText } from '../ui/text.ts'
import { accountColumn, pageAddress } from './parts.tsx'

const STATES = ['', 'open', 'paid', 'failed', 'void'] as const

type What = 'paid' | 'void'

export function OrdersPage({ role }: { role: StaffRole }) {
  const state = params.value.get('state') ?? ''
  const before = params.value.get('before')
  const account = params.value.get('account')
  const orders = useLoaded<Answers['listOrders']>(() => {
    const asked = [...params.value].filter(([name]) => ['state', 'before', 'account'].includes(name))
    return `/admin/orders?${new URLSearchParams(asked)}`
  })
  const act = (order: Order, what: What) => (
    <Act
      text={what === 'paid' ? 'Mark paid' : 'Make void'}
      act={what === 'paid' ? 'Mark this order paid' : 'Make this order void'}
      name={order.number}
      onConfirm={() =>
        change('POST', `/admin/orders/${encodeURIComponent(order.number)}/${what}`, undefined, orders.reload)
      }
    >
      <p>{wordsOf(order, what)}</p>
    </Act>
  )
  const acts: Column<Order> = {
    name: 'Actions',
    draw: (order) => (
      <>
        {order.granted === null && act(order, 'paid')}
        {(order.state === 'open' || order.state === 'failed') && act(order, 'void')}
      </>
    ),
  }
  const columns: readonly Column<Order>[] = [
    ...orderColumns({}),
    accountColumn(),
    { name: 'By', text: ({ provider }) => provider },
    { name: 'Note', text: ({ note }) => note ?? '' },
    ...(mayAct(role, 'billing') ? [acts] : []),
  ]
  const next = orders.value.value?.next
  return (
    <>
      <h1>Orders{account === null ? '' : ` of ${account}`}</h1>
      <nav class="beside" aria-label="States">
        {STATES.map((each) => (
          <Link key={each} to={addressWith({ state: each, before: null })} isHere={each === state}>
            {each === '' ? 'All' : each}
          </Link>
        ))}
      </nav>
      <Answered of={orders}>
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
      </Answered>
      <p class="beside">
        {before !== null && <Link to={addressWith({ before: null })}>Newest</Link>}
        {next && <Link to={addressWith({ before: next })}>Older</Link>}
      </p>
    </>
  )
}

function wordsOf({ account, credits, amount, currency, note }: Order, what: What): string {
  const sum = priceText(amount, currency)
  if (what === 'void') return `${account} can no longer pay ${sum}.`
  const why = note === null ? '' : ` The order says: ${note}.`
  return `You have ${sum}: ${account} gets ${groupedText(credits)} credits, once.${why}`
}

type Plan = Answers['listPlans']['plans'][number]

const COLUMNS: readonly Column<Plan>[] = [
  { name: 'Plan', text: ({ name }) => name },
  amountColumn('Credits', ({ credits }) => credits),
  { name: 'Given', text: ({ period }) => (period === 'once' ? 'once' : 'a month') },
  {
    ...numberColumn<Plan>('Accounts', ({ accounts }) => accounts),
    draw: ({ name: plan, accounts }) => <Link to={pageAddress('accounts', { plan })}>{accounts}</Link>,
  },
  numberColumn('Info requests/s', (plan) => plan.info_requests_per_second ?? 'no limit'),
  numberColumn('REST requests/s', (plan) => plan.rest_requests_per_second ?? 'no limit'),
  numberColumn('Connections', (plan) => plan.stream_connections ?? 'no limit'),
  numberColumn('Subscriptions', (plan) => plan.stream_subscriptions ?? 'no limit'),
]

const WHOLE = { pattern: '\\d{1,8}', title: 'a whole number', isOptional: true }
const TERMS: readonly FormField[] = [
  { name: 'plan', label: 'Plan' },
  { name: 'credits', label: 'Credits', isOptional: true },
  {
    name: 'period',
    label: 'Given',
    options: { '': 'as it is (new: a month)', month: 'a month', once: 'once' },
  },
  { name: 'info_requests_per_second', label: 'Info requests/s', ...WHOLE },
  { name: 'rest_requests_per_second', label: 'REST requests/s', ...WHOLE },
  { name: 'stream_connections', label: 'Connections', ...WHOLE },
  { name: 'stream_subscriptions', label: 'Subscriptions', ...WHOLE },
]

/** Limits are numbers on the wire, credits exact text. */
const termsOf = (typed: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(typed).map(([name, value]) => [name, /_per_second$|^stream_/.test(name) ? Number(value) : value]),
  )

export function PlansPage({ role }: { role: StaffRole }) {
  const plans = useLoaded<Answers['listPlans']>(() => '/admin/plans')
  const pathOf = (plan: string) => `/admin/plans/${encodeURIComponent(plan)}`
  const remove = (plan: string) => change('DELETE', pathOf(plan), undefined, plans.reload)
  /** Ten accounts a call. */
  const tell = async (plan: string) => {
    for (let after: string | null = ''; after !== null; ) {
      const path: string = `${pathOf(plan)}/apply${after === '' ? '' : `?after=${after}`}`
      const answer: Asked<Answers['applyPlan']> = await ask('POST', path)
      if (!answer.ok) return answer.error
      after = answer.value.next
    }
    return null
  }
  const acts: Column<Plan> = {
    name: 'Actions',
    draw: ({ name, accounts }) =>
      accounts > 0 ? (
        <Act
          text="Tell accounts"
          label={`Tell accounts on ${name}`}
          act="Tell its accounts"
          name={name}
          onConfirm={() => tell(name)}
        >
          <p>Accounts on it have its limits at once, and its credits from their next period on.</p>
        </Act>
      ) : (
        <Act text="Remove" label={`Remove ${name}`} act="Remove this plan" name={name} onConfirm={() => remove(name)}>
          <p>No account can be put on it any more. A plan that accounts are on is not removed.</p>
        </Act>
      ),
  }
  return (
    <>
      <h1>Plans</h1>
      <Answered of={plans}>
        {(value) => (
          <Table
            caption="Plans"
            columns={mayAct(role, 'owner') ? [...COLUMNS, acts] : COLUMNS}
            rows={value.plans}
            rowKey={({ name }) => name}
            empty="There are no plans."
            csv="plans"
          />
        )}
      </Answered>
      {mayAct(role, 'owner') && (
        <>
          <h2>New plan, or change of one</h2>
          <p>
            What is left empty stays as it is. New accounts have a change at once; those on the plan when they are told.
          </p>
          <OrderForm<Answers['setPlan']>
            act="Set the plan"
            fields={TERMS}
            send={({ plan = '', ...terms }) => ask('PUT', pathOf(plan), termsOf(terms))}
            onDone={plans.reload}
          />
        </>
      )}
    </>
  )
}
