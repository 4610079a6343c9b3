// Orders of credits: what is open, what was paid, what needs a decision; marked paid, or made void, by typing the number.

import { useSignal } from '@preact/signals'
import { addressWith, params } from '../address.dom.ts'
import type { Answers } from '../answers.ts'
import { change } from '../ask.dom.ts'
import { useLoaded } from '../loaded.dom.ts'
import { Link } from '../shell.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { TroubleNote } from '../ui/parts.tsx'
import { type Column, orderColumns, Table } from '../ui/table.tsx'
import { groupedText, type Order, priceText } from '../ui/text.ts'
import { accountColumn, may, type StaffRole } from './parts.tsx'

const STATES = ['', 'open', 'paid', 'failed', 'void'] as const

interface Act {
  readonly order: Order
  readonly what: 'paid' | 'void'
}

export function OrdersPage({ role }: { role: StaffRole }) {
  const act = useSignal<Act | null>(null)
  const begin = (next: Act | null) => {
    act.value = next
  }
  const state = params.value.get('state') ?? ''
  const before = params.value.get('before')
  const account = params.value.get('account')
  const orders = useLoaded<Answers['listOrders']>(() => {
    const asked = [...params.value].filter(([name]) => ['state', 'before', 'account'].includes(name))
    return `/admin/orders?${new URLSearchParams(asked)}`
  })
  const acts: Column<Order> = {
    name: 'Actions',
    draw: (order) => (
      <>
        {order.granted === null && (
          <button type="button" class="plain" onClick={() => begin({ order, what: 'paid' })}>
            Mark paid
          </button>
        )}
        {(order.state === 'open' || order.state === 'failed') && (
          <button type="button" class="plain" onClick={() => begin({ order, what: 'void' })}>
            Make void
          </button>
        )}
      </>
    ),
  }
  const columns: readonly Column<Order>[] = [
    ...orderColumns({}),
    accountColumn(),
    { name: 'By', text: ({ provider }) => provider },
    { name: 'Note', text: ({ note }) => note ?? '' },
    ...(may(role, 'billing') ? [acts] : []),
  ]
  const confirm = ({ order, what }: Act) =>
    change('POST', `/admin/orders/${encodeURIComponent(order.number)}/${what}`, undefined, orders.reload)
  const value = orders.value.value
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
      <TroubleNote trouble={orders.trouble.value} again={orders.reload} />
      {value && (
        <Table
          caption="Orders"
          columns={columns}
          rows={value.orders}
          rowKey={({ number }) => number}
          csv="orders"
          empty="There are no such orders. Owners make them where CHECKOUT is on."
        />
      )}
      <p class="beside">
        {before !== null && <Link to={addressWith({ before: null })}>Newest</Link>}
        {value?.next && <Link to={addressWith({ before: value.next })}>Older</Link>}
      </p>
      {act.value && (
        <Confirm
          act={act.value.what === 'paid' ? 'Mark this order paid' : 'Make this order void'}
          name={act.value.order.number}
          onConfirm={() => confirm(act.value!)}
          onClose={() => begin(null)}
        >
          <p>{wordsOf(act.value)}</p>
        </Confirm>
      )}
    </>
  )
}

function wordsOf({ order: { account, credits, amount, currency, note }, what }: Act): string {
  const sum = priceText(amount, currency)
  if (what === 'void') return `${account} can no longer pay ${sum}.`
  const why = note === null ? '' : ` The order says: ${note}.`
  return `You have ${sum}: ${account} gets ${groupedText(credits)} credits, once.${why}`
}
