// Credit orders, which operators mark as paid or void.

import { useSignal } from '@preact/signals'
import { hasRole, type StaffRole } from '../../accounts/staff.ts'
import { params, urlWith } from '../address.dom.ts'
import { useQuery } from '../queries.dom.ts'
import { requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { ConfirmButton, Dialog, Field } from '../ui/dialog.tsx'
import { type CreditOrder, creditOrderStateText, groupedText, priceText, timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { QueryView } from '../ui/parts.tsx'
import { labelOf, ORDER } from '../ui/strings.ts'
import { amountColumn, type Column, minorColumns, numberColumn, Table } from '../ui/table.tsx'
import { accountColumn } from './parts.tsx'
import * as strings from './strings.ts'

/** Values of each filter. */
const FILTERS = {
  state: ['', 'open', 'paid', 'failed', 'void'],
  provider: ['', 'manual', 'stripe', 'x402'],
} as const

type OrderAction = 'paid' | 'void'

export function OrdersPage({ role }: { role: StaffRole }) {
  const before = params.value.get('before')
  const account = params.value.get('account')
  const orders = useQuery<Responses['listOrders']>(() => {
    const query = [...params.value].filter(([name]) => ['state', 'provider', 'before', 'account'].includes(name))
    return `/admin/orders?${new URLSearchParams(query)}`
  })
  const actionButton = (order: CreditOrder, action: OrderAction) => (
    <ConfirmButton
      buttonLabel={strings.ordersActions[action]}
      action={strings.ordersSubmit[action]}
      submitClass={action === 'paid' ? 'main' : 'danger'}
      kind={action === 'paid' ? 'plain' : 'plain danger'}
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
        {order.state === 'paid' && order.provider !== 'stripe' && <RefundButton order={order} onDone={orders.reload} />}
      </>
    ),
  }
  const { columns: names } = ORDER
  const columns: readonly Column<CreditOrder>[] = [
    { name: names.number, text: ({ number }) => number },
    ...minorColumns<CreditOrder>(
      { name: names.created, text: ({ created }) => timeText(created) },
      amountColumn(names.credits, ({ credits }) => credits),
    ),
    numberColumn(names.amount, ({ amount, currency }) => priceText(amount, currency)),
    { name: names.payment, text: ({ provider }) => labelOf(provider), isMinor: true },
    { name: names.state, text: creditOrderStateText },
    accountColumn(),
    { name: strings.ordersNote, text: ({ note }) => note ?? '', isMinor: true },
    ...(hasRole(role, 'billing') ? [actions] : []),
  ]
  const next = orders.value.value?.next
  return (
    <>
      <h1>{account === null ? strings.ordersTitle : strings.commonOf(strings.ordersTitle, account)}</h1>
      {Object.entries(FILTERS).map(([name, values]) => (
        <nav key={name} class="segments" aria-label={strings.ordersFilters[name]}>
          {values.map((each) => (
            <Link
              key={each}
              to={urlWith({ [name]: each, before: null })}
              isHere={each === (params.value.get(name) ?? '')}
            >
              {each === '' ? strings.ordersAll[name] : labelOf(each)}
            </Link>
          ))}
        </nav>
      ))}
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

/** Records money that was returned outside of the gateway. */
function RefundButton({ order, onDone }: { readonly order: CreditOrder; readonly onDone: () => void }) {
  const { number, account, amount: price, currency, refunded } = order
  const isOpen = useSignal(false)
  const amount = useSignal(price)
  const close = () => {
    isOpen.value = false
  }
  const send = async () => {
    const path = `/admin/orders/${encodeURIComponent(number)}/refund`
    const error = await requestChange('POST', path, { amount: amount.value.trim() }, onDone)
    if (error === null) close()
    return error
  }
  // A complete refund is final.
  if (refunded === price) return null
  return (
    <>
      <Button text={strings.ordersActions.refund} class="plain" onClick={() => (isOpen.value = true)} />
      {isOpen.value && (
        <Dialog
          title={strings.ordersRefundTitle(number)}
          submitLabel={strings.ordersActions.refund}
          onSend={send}
          onClose={close}
        >
          <p>{strings.ordersRefundText(account, priceText(price, currency))}</p>
          <Field
            label={strings.ordersRefundAmount(currency.toUpperCase())}
            value={amount.value}
            onText={(text) => (amount.value = text)}
          />
        </Dialog>
      )}
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
