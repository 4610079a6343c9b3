// All orders of the account, with their invoices. The CSV also has how they were paid.

import { urlWith } from '../address.dom.ts'
import { usePagedQuery } from '../queries.dom.ts'
import { Link } from '../shell.tsx'
import { type CreditOrder, creditOrderStateText, priceText, timeText } from '../ui/format.ts'
import { ErrorNote, Reserved } from '../ui/parts.tsx'
import { ORDER } from '../ui/strings.ts'
import { amountColumn, type Column, minorColumns, Table } from '../ui/table.tsx'
import { dataVersion } from './account-data.dom.ts'
import { topUpPay } from './billing-strings.ts'
import { INVOICE, PAYMENTS } from './order-invoice-strings.ts'

const { columns } = ORDER
const TONES: Readonly<Record<CreditOrder['state'], string>> = { open: 'near', paid: 'fine', failed: 'high', void: '' }

const COLUMNS: readonly Column<CreditOrder>[] = [
  { name: PAYMENTS.date, text: ({ paid, created }) => timeText(paid ?? created), isMinor: true },
  {
    name: columns.number,
    text: ({ number }) => number,
    render: ({ number, url }) => (
      <>
        <Link to={urlWith({ order: number })}>{number}</Link> {url && <a href={url}>{topUpPay}</a>}
      </>
    ),
  },
  ...minorColumns(amountColumn<CreditOrder>(columns.credits, ({ credits }) => credits)),
  {
    ...amountColumn<CreditOrder>(columns.amount, ({ amount }) => amount),
    render: ({ amount, currency }) => priceText(amount, currency),
  },
  {
    name: columns.state,
    text: creditOrderStateText,
    render: (order) => (
      <>
        <span class={`dot ${TONES[order.state]}`} aria-hidden="true" />
        {creditOrderStateText(order)}
      </>
    ),
  },
  { name: INVOICE.method, text: ({ provider }) => INVOICE.methods[provider], isHidden: true },
  { name: PAYMENTS.reference, text: ({ reference }) => reference ?? '', isHidden: true },
  { name: INVOICE.network, text: ({ network }) => network ?? '', isHidden: true },
  { name: PAYMENTS.currency, text: ({ currency }) => currency.toUpperCase(), isHidden: true },
]

const INVOICE_COLUMN: Column<CreditOrder> = {
  name: PAYMENTS.invoice,
  text: ({ number, invoice }) => (invoice ? number : ''),
  render: ({ number, invoice }) => invoice && <Link to={urlWith({ invoice: number })}>{INVOICE.open}</Link>,
}

/** `hasInvoices`: whether the visitor's key may read invoices. */
export function OrderList({ hasInvoices }: { readonly hasInvoices: boolean }) {
  const { rows, error, more, reload } = usePagedQuery<CreditOrder>('orders', 'before', () =>
    dataVersion.value < 0 ? '' : '/platform/checkout/orders?',
  )
  const orders = rows.value
  return (
    <section>
      <h2>{PAYMENTS.title}</h2>
      <Reserved height={120} isLoading={orders === null && error.value === null}>
        <ErrorNote error={error.value} onRetry={reload} />
        {orders && (
          <Table
            caption={PAYMENTS.table}
            columns={hasInvoices ? [...COLUMNS, INVOICE_COLUMN] : COLUMNS}
            rows={orders}
            csv="orders"
            empty={PAYMENTS.empty}
            more={more}
          />
        )}
      </Reserved>
    </section>
  )
}
