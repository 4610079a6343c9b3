// All orders of the account with their payments, as a list with CSV.

import { urlWith } from '../address.dom.ts'
import { usePagedQuery } from '../queries.dom.ts'
import { Link } from '../shell.tsx'
import { type CreditOrder, creditOrderStateText, timeText } from '../ui/format.ts'
import { ErrorNote } from '../ui/parts.tsx'
import { amountColumn, type Column, Table } from '../ui/table.tsx'
import { dataVersion } from './account-data.dom.ts'
import { INVOICE, PAYMENTS } from './order-invoice-strings.ts'

/** `0x1234…cdef`; shorter texts stay as they are. */
const shortened = (text: string) => (text.length > 24 ? `${text.slice(0, 10)}…${text.slice(-6)}` : text)

const columnsOf = (hasInvoices: boolean): readonly Column<CreditOrder>[] => [
  { name: PAYMENTS.date, text: ({ paid, created }) => timeText(paid ?? created) },
  {
    name: PAYMENTS.order,
    text: ({ number }) => number,
    render: ({ number, url }) => (
      <>
        <Link to={urlWith({ order: number })}>{number}</Link> {url && <a href={url}>{PAYMENTS.pay}</a>}
      </>
    ),
  },
  { name: PAYMENTS.method, text: ({ provider }) => INVOICE.methods[provider] },
  {
    name: PAYMENTS.reference,
    text: ({ reference }) => reference ?? '',
    render: ({ reference }) => reference && <code title={reference}>{shortened(reference)}</code>,
  },
  { name: PAYMENTS.network, text: ({ network }) => network ?? '' },
  amountColumn(PAYMENTS.credits, ({ credits }) => credits),
  amountColumn(PAYMENTS.amount, ({ amount }) => amount),
  { name: PAYMENTS.currency, text: ({ currency }) => currency.toUpperCase() },
  { name: PAYMENTS.state, text: creditOrderStateText },
  ...(hasInvoices
    ? [
        {
          name: PAYMENTS.invoice,
          text: ({ number, invoice }: CreditOrder) => (invoice ? number : ''),
          render: ({ number, invoice }: CreditOrder) =>
            invoice && <Link to={urlWith({ invoice: number })}>{INVOICE.open}</Link>,
        },
      ]
    : []),
]

/** `hasInvoices`: whether the visitor's key may read invoices. */
export function PaymentHistory({ hasInvoices }: { readonly hasInvoices: boolean }) {
  const { rows, error, more, reload } = usePagedQuery<CreditOrder>('orders', 'before', () =>
    dataVersion.value < 0 ? '' : '/platform/checkout/orders?',
  )
  const orders = rows.value
  return (
    <>
      <h2>{PAYMENTS.title}</h2>
      <ErrorNote error={error.value} onRetry={reload} />
      {orders && (
        <Table
          caption={PAYMENTS.table}
          columns={columnsOf(hasInvoices)}
          rows={orders}
          csv="payments"
          empty={PAYMENTS.empty}
          more={more}
        />
      )}
    </>
  )
}
