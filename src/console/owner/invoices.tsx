// Top-ups with their orders, monthly invoices, and a printable view of each.

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
import { labelOf } from '../ui/strings.ts'
import { amountColumn, type Column, creditOrderColumns, Table } from '../ui/table.tsx'
import { refreshAll, useAccountQuery } from './account-data.dom.ts'
import { microOf } from './account-view.ts'
import type { Account, Invoice, InvoiceSums } from './responses.ts'
import * as strings from './strings.ts'

type Line = Invoice['lines'][number]

const MONTH_COLUMNS: readonly Column<InvoiceSums>[] = [
  {
    name: strings.invoicesMonth,
    text: ({ month }) => month,
    render: ({ month, is_final: isFinal }) => (
      <>
        <Link to={urlWith({ month })}>{month}</Link> {!isFinal && <small>{strings.invoicesSoFar}</small>}
      </>
    ),
  },
  amountColumn(strings.creditsColumnsOpening, ({ opening }) => opening),
  amountColumn(strings.creditsColumnsGranted, ({ granted }) => granted),
  amountColumn(strings.creditsColumnsExpired, ({ expired }) => expired),
  amountColumn(strings.creditsColumnsCharged, ({ charged }) => charged),
  amountColumn(strings.creditsColumnsClosing, ({ closing }) => closing),
]
const LINE_COLUMNS: readonly Column<Line>[] = [
  { name: strings.invoicesColumnsProduct, text: ({ product }) => labelOf(product) },
  { name: strings.invoicesColumnsType, text: ({ type }) => type },
  { name: strings.invoicesColumnsKey, text: ({ prefix }) => prefix ?? '' },
  { name: strings.invoicesColumnsLabel, text: ({ label }) => label },
  amountColumn(strings.invoicesColumnsCount, ({ count }) => count),
  amountColumn(strings.invoicesColumnsCredits, ({ credits }) => credits),
]

export function Invoices() {
  const months = useAccountQuery<Responses['ownInvoices']>(() => '/platform/invoices/')
  const month = useParam('month').value
  return (
    <section>
      <div class="screen">
        <h2>{strings.invoicesTitle}</h2>
        <QueryView query={months}>
          {(value) => (
            <Table
              caption={strings.invoicesTable}
              columns={MONTH_COLUMNS}
              rows={value.invoices}
              csv="invoices"
              empty={strings.invoicesEmpty}
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
  if (value === null) return <ErrorNote error={loaded.error.value} onRetry={loaded.reload} />
  const sums = [
    [strings.invoicesSumsOpening, value.opening],
    ...value.given.map(
      ({ at, plan, credits }) =>
        [
          plan === null ? strings.invoicesGrant(timeText(at)) : strings.invoicesPlan(plan, timeText(at)),
          credits,
        ] as const,
    ),
    [strings.invoicesSumsExpired, negative(value.expired)],
    [strings.invoicesSumsCharged, negative(value.charged)],
    [strings.invoicesSumsClosing, value.closing],
  ] as const
  return (
    <article class="invoice" aria-label={strings.invoicesLabel(value.month)}>
      <h2>
        {strings.invoicesHeading(value.account, value.from, value.to)}
        {value.is_final ? '' : strings.invoicesHeadingSoFar}
      </h2>
      <SummaryList of={sums.map(([name, credits]) => [name, groupedText(credits)])} />
      <Table
        caption={strings.invoicesLines(value.month)}
        columns={LINE_COLUMNS}
        rows={value.lines}
        isUnpaged
        empty={strings.invoicesNoLines}
      />
      {value.written_off !== '0' && (
        <p>{strings.invoicesWrittenOff(groupedText(value.charged), groupedText(value.written_off))}</p>
      )}
      <p class="beside">
        <a href={`${path}/csv`} download={`invoice-${value.month}.csv`}>
          {strings.invoicesCsv}
        </a>
        <Button text={strings.topUpPrint} onClick={() => print()} />
        <Link to={urlWith({ month: null })}>{strings.topUpClose}</Link>
      </p>
    </article>
  )
}

const negative = (credits: string) => (credits === '0' ? credits : `-${credits}`)

type Offers = Responses['showCheckout']

const ORDER_COLUMNS: readonly Column<CreditOrder>[] = creditOrderColumns({
  render: ({ number, url }) => (
    <>
      <Link to={urlWith({ order: number })}>{number}</Link> {url && <a href={url}>{strings.topUpPay}</a>}
    </>
  ),
})

export function TopUp({ account }: { account: Account | null }) {
  const offers = useAccountQuery<Offers>(() => '/platform/checkout')
  const value = offers.value.value
  const shown = value?.orders.find(({ number }) => number === params.value.get('order'))
  // Hidden if this gateway does not sell credits and never did.
  if (value && value.provider === null && value.orders.length === 0) return null
  return (
    <section>
      <div class="screen">
        <h2>{strings.topUpTitle}</h2>
        <ErrorNote error={offers.error.value} onRetry={offers.reload} />
        {value?.provider && account?.manages && <PurchaseOptions offers={value} />}
        {value?.provider && account?.why_not && <p class="note">{account.why_not}</p>}
        {value && (
          <Table
            caption={strings.topUpTable}
            columns={ORDER_COLUMNS}
            rows={value.orders}
            csv="orders"
            empty={strings.topUpEmpty}
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
  const isStripe = provider === 'stripe'
  const id = useId()
  const count = useSignal('1')
  const pending = useSignal<PendingOrder | null>(null)
  const send = () =>
    requestChange<Responses['checkout']>('POST', '/platform/checkout', pending.value?.order, (value) => {
      const { url, number } = value.order
      pending.value = null
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
    const summary = strings.topUpLotsSummary(credits, count.value, priceText(lots.amount, currency))
    pending.value = { order: { credits: plainText(credits) }, summary }
  }
  return (
    <>
      <p>{isStripe ? strings.topUpStripe : strings.topUpManual}</p>
      <p class="beside">
        {packages.map(({ name, credits, amount }) => (
          <Button
            key={name}
            text={strings.topUpPackage(groupedText(credits), priceText(amount, currency))}
            onClick={() => {
              const summary = strings.topUpPackageSummary(groupedText(credits), priceText(amount, currency))
              pending.value = { order: { package: name }, summary }
            }}
          />
        ))}
      </p>
      {lots && (
        <form onSubmit={buyLots}>
          <label for={id}>
            {strings.topUpLots(
              groupedText(lots.credits),
              priceText(lots.amount, currency),
              groupedText(String(lots.most)),
            )}
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
            <button type="submit">{strings.topUpOrder}</button>
          </p>
        </form>
      )}
      {pending.value && (
        <Dialog
          title={strings.topUpDialog}
          submitLabel={strings.topUpSubmit[isStripe ? 'stripe' : 'manual']}
          onSend={send}
          onClose={() => (pending.value = null)}
        >
          <p>{pending.value.summary}</p>
        </Dialog>
      )}
    </>
  )
}

function OrderView({ order, instructions }: { order: CreditOrder; instructions: string }) {
  const { number, account, credits, amount, currency, created, provider, state, url } = order
  const isToPay = state === 'open'
  return (
    <article class="invoice" aria-label={strings.topUpOrderLabel(number)}>
      <h2>{strings.topUpInvoice(number, account)}</h2>
      <SummaryList
        of={[
          [strings.topUpSumsCreated, timeText(created)],
          [strings.topUpSumsCredits, groupedText(credits)],
          [strings.topUpSumsAmount, priceText(amount, currency)],
          [strings.topUpSumsState, creditOrderStateText(order)],
        ]}
      />
      {isToPay && provider === 'manual' && (
        <p class="note">
          {instructions || strings.topUpContact}
          {strings.topUpReference(number)}
        </p>
      )}
      <p class="beside">
        {isToPay && url && <a href={url}>{strings.topUpPay}</a>}
        <Button text={strings.topUpPrint} onClick={() => print()} />
        <Link to={urlWith({ order: null })}>{strings.topUpClose}</Link>
      </p>
    </article>
  )
}
