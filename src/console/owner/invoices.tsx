// Buying credits and the account's orders; invoices, a UTC month each; and one of them to print.

import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { navigate, params, urlWith, useParam } from '../address.dom.ts'
import { useQuery } from '../queries.dom.ts'
import { requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { Dialog } from '../ui/dialog.tsx'
import {
  type CreditOrder,
  creditOrderStateText,
  creditsText,
  groupedText,
  plainText,
  priceText,
  timeText,
} from '../ui/format.ts'
import { Button, bindInput } from '../ui/frame.tsx'
import { ErrorNote, QueryView, SummaryList } from '../ui/parts.tsx'
import { amountColumn, type Column, creditOrderColumns, Table } from '../ui/table.tsx'
import { refreshAll, useAccountQuery } from './account-data.dom.ts'
import { microOf } from './account-view.ts'
import type { Account, Invoice, InvoiceSums } from './responses.ts'

type Line = Invoice['lines'][number]

const MONTH_COLUMNS: readonly Column<InvoiceSums>[] = [
  {
    name: 'Month, UTC',
    text: ({ month }) => month,
    render: ({ month, is_final: isFinal }) => (
      <>
        <Link to={urlWith({ month })}>{month}</Link> {!isFinal && <small>so far</small>}
      </>
    ),
  },
  amountColumn('Opening', ({ opening }) => opening),
  amountColumn('Granted', ({ granted }) => granted),
  amountColumn('Expired', ({ expired }) => expired),
  amountColumn('Charged', ({ charged }) => charged),
  amountColumn('Closing', ({ closing }) => closing),
]
const LINE_COLUMNS: readonly Column<Line>[] = [
  { name: 'Product', text: ({ product }) => product },
  { name: 'Type', text: ({ type }) => type },
  { name: 'Key', text: ({ prefix }) => prefix ?? '' },
  { name: 'Label', text: ({ label }) => label },
  amountColumn('Count', ({ count }) => count),
  amountColumn('Credits', ({ credits }) => credits),
]

export function Invoices() {
  const months = useAccountQuery<Responses['ownInvoices']>(() => '/platform/invoices/')
  const month = useParam('month').value
  return (
    <section>
      <div class="screen">
        <h2>Invoices by month</h2>
        <QueryView query={months}>
          {(value) => (
            <Table
              caption="Months of the account"
              columns={MONTH_COLUMNS}
              rows={value.invoices}
              csv="invoices"
              empty="Nothing was given or charged yet: the first month begins with the first credits."
            />
          )}
        </QueryView>
      </div>
      {month && <InvoiceView month={month} key={month} />}
    </section>
  )
}

function InvoiceView({ month }: { month: string }) {
  const path = `/platform/invoices/${encodeURIComponent(month)}`
  const loaded = useQuery<Invoice>(() => path)
  const value = loaded.value.value
  if (value === null) return <ErrorNote trouble={loaded.error.value} again={loaded.reload} />
  const sums = [
    ['Opening balance', value.opening],
    ...value.given.map(
      ({ at, plan, credits }) => [`${plan === null ? 'Grant' : `Plan ${plan}`}, ${timeText(at)}`, credits] as const,
    ),
    ['Expired', negative(value.expired)],
    ['Charged', negative(value.charged)],
    ['Closing balance', value.closing],
  ] as const
  return (
    <article class="invoice" aria-label={`Invoice ${value.month}`}>
      <h2>
        {value.account}: {value.from} to {value.to} UTC{value.is_final ? '' : ', so far'}
      </h2>
      <SummaryList of={sums.map(([name, credits]) => [name, groupedText(credits)])} />
      <Table
        caption={`Lines of ${value.month}`}
        columns={LINE_COLUMNS}
        rows={value.lines}
        isUnpaged
        empty="Nothing was used."
      />
      {value.written_off !== '0' && (
        <p>
          Lines add up to {groupedText(value.charged)} charged and {groupedText(value.written_off)} written off, which
          was served when the balance was gone.
        </p>
      )}
      <p class="beside">
        <a href={`${path}/csv`} download={`invoice-${value.month}.csv`}>
          CSV
        </a>
        <Button text="Print, or save as PDF" onClick={() => print()} />
        <Link to={urlWith({ month: null })}>Close</Link>
      </p>
    </article>
  )
}

const negative = (credits: string) => (credits === '0' ? credits : `-${credits}`)

type Offers = Responses['showCheckout']

const ORDER_COLUMNS: readonly Column<CreditOrder>[] = creditOrderColumns({
  render: ({ number, url }) => (
    <>
      <Link to={urlWith({ order: number })}>{number}</Link> {url && <a href={url}>Pay</a>}
    </>
  ),
})

export function TopUp({ account }: { account: Account | null }) {
  const offers = useAccountQuery<Offers>(() => '/platform/checkout')
  const value = offers.value.value
  const shown = value?.orders.find(({ number }) => number === params.value.get('order'))
  // Where nothing is sold and nothing ever was there is nothing to say.
  if (value && value.provider === null && value.orders.length === 0) return null
  return (
    <section>
      <div class="screen">
        <h2>Top up</h2>
        <ErrorNote trouble={offers.error.value} again={offers.reload} />
        {value?.provider && account?.manages && <PurchaseOptions offers={value} />}
        {value?.provider && account?.why_not && <p class="note">{account.why_not}</p>}
        {value && (
          <Table
            caption="Orders"
            columns={ORDER_COLUMNS}
            rows={value.orders}
            csv="orders"
            empty="Nothing was ordered yet."
          />
        )}
      </div>
      {shown && <OrderView order={shown} instructions={value?.instructions ?? ''} />}
    </section>
  )
}

interface PendingOrder {
  readonly order: { readonly package: string } | { readonly credits: string }
  readonly summary: string
}

function PurchaseOptions({ offers }: { offers: Offers }) {
  const { provider, currency, packages, lots } = offers
  const id = useId()
  const count = useSignal('1')
  const wanted = useSignal<PendingOrder | null>(null)
  const send = () =>
    requestChange<Responses['checkout']>('POST', '/platform/checkout', wanted.value?.order, (value) => {
      const { url, number } = value.order
      wanted.value = null
      if (url !== null) location.assign(url)
      else {
        refreshAll()
        navigate(urlWith({ order: number }))
      }
    })
  const buyLots = (event: Event) => {
    event.preventDefault()
    if (lots === null) return
    const credits = creditsText(BigInt(Number(count.value)) * microOf(lots.credits))
    const words = `${credits} credits: ${count.value} × ${priceText(lots.amount, currency)}`
    wanted.value = { order: { credits: plainText(credits) }, summary: words }
  }
  return (
    <>
      <p>
        {provider === 'stripe'
          ? 'You pay at Stripe; credits come as soon as it says so.'
          : 'You get an invoice; credits come when it is paid.'}{' '}
        They do not expire.
      </p>
      <p class="beside">
        {packages.map(({ name, credits, amount }) => (
          <Button
            key={name}
            text={`${groupedText(credits)} credits for ${priceText(amount, currency)}`}
            onClick={() => {
              const words = `${groupedText(credits)} credits: ${priceText(amount, currency)}`
              wanted.value = { order: { package: name }, summary: words }
            }}
          />
        ))}
      </p>
      {lots && (
        <form onSubmit={buyLots}>
          <label for={id}>
            Lots of {groupedText(lots.credits)} credits, {priceText(lots.amount, currency)} each, at most {lots.most}
          </label>
          <p class="beside">
            <input
              id={id}
              class="short"
              type="number"
              required
              min={1}
              max={lots.most}
              step={1}
              {...bindInput(count)}
            />
            <button type="submit">Order</button>
          </p>
        </form>
      )}
      {wanted.value && (
        <Dialog title="Order credits" submitLabel="Order and pay" onSend={send} onClose={() => (wanted.value = null)}>
          <p>{wanted.value.summary}.</p>
        </Dialog>
      )}
    </>
  )
}

function OrderView({ order, instructions }: { order: CreditOrder; instructions: string }) {
  const { number, account, credits, amount, currency, created, provider, state, url } = order
  const isToPay = state === 'open'
  return (
    <article class="invoice" aria-label={`Order ${number}`}>
      <h2>
        Invoice {number}: {account}
      </h2>
      <SummaryList
        of={[
          ['Ordered, UTC', timeText(created)],
          ['Credits', groupedText(credits)],
          ['Amount', priceText(amount, currency)],
          ['State', creditOrderStateText(order)],
        ]}
      />
      {isToPay && provider === 'manual' && (
        <p class="note">
          {instructions || 'Whoever runs this gateway tells how it is paid.'} Name <b>{number}</b> with the payment.
        </p>
      )}
      <p class="beside">
        {isToPay && url && <a href={url}>Pay</a>}
        <Button text="Print, or save as PDF" onClick={() => print()} />
        <Link to={urlWith({ order: null })}>Close</Link>
      </p>
    </article>
  )
}
