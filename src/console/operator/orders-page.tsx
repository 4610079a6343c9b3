// Orders of credits: what is open, what was paid, what needs a decision; marked paid, or made void, by typing the number.

import { addressWith, params } from '../address.dom.ts'
import type { Answers } from '../answers.ts'
import { change } from '../ask.dom.ts'
import { useLoaded } from '../loaded.dom.ts'
import { Link } from '../shell.tsx'
import { Act } from '../ui/dialog.tsx'
import { Answered } from '../ui/parts.tsx'
import { type Column, orderColumns, Table } from '../ui/table.tsx'
import { groupedText, type Order, priceText } from '../ui/text.ts'
import { accountColumn, may, type StaffRole } from './parts.tsx'

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
    ...(may(role, 'billing') ? [acts] : []),
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
