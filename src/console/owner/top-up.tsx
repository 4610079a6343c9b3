// Credits for sale, the orders of the account, and a printable view of each.

import { useSignal } from '@preact/signals'
import { useEffect, useId, useRef } from 'preact/hooks'
import { navigate, params, urlWith } from '../address.dom.ts'
import type { Query } from '../queries.dom.ts'
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
import { CopyButton, QueryView, SummaryList } from '../ui/parts.tsx'
import { type Column, creditOrderColumns, Table } from '../ui/table.tsx'
import { refreshAll } from './account-data.dom.ts'
import { microOf, scaledPrice } from './account-view.ts'
import { AutoTopUp } from './auto-top-up.tsx'
import { BillingDetails } from './billing-details.tsx'
import * as billingStrings from './billing-strings.ts'
import { INVOICE, TAX } from './order-invoice-strings.ts'
import { PaymentHistory } from './payment-history.tsx'
import type { Account } from './responses.ts'

const ORDER_COLUMNS: readonly Column<CreditOrder>[] = creditOrderColumns({
  render: ({ number, url }) => (
    <>
      <Link to={urlWith({ order: number })}>{number}</Link> {url && <a href={url}>{billingStrings.topUpPay}</a>}
    </>
  ),
})

type Offers = Responses['showCheckout']

const networkText = (network: string | null) =>
  network === null ? '' : ((billingStrings.paymentsNetworks as Readonly<Record<string, string>>)[network] ?? network)

interface TopUpProps {
  readonly account: Account | null
  readonly offers: Query<Offers>
}

export function TopUp({ account, offers }: TopUpProps) {
  const value = offers.value.value
  const shown = value?.orders.find(({ number }) => number === params.value.get('order'))
  return (
    <>
      {shown && (
        <OrderView
          key={shown.number}
          order={shown}
          instructions={value?.instructions ?? ''}
          hasInvoice={shown.invoice && account?.manages === true}
        />
      )}
      <section class="screen">
        <QueryView query={offers}>{(known) => <Purchases offers={known} account={account} />}</QueryView>
      </section>
    </>
  )
}

function Purchases({ offers, account }: { offers: Offers; account: Account | null }) {
  return (
    <>
      {offers.provider && (
        <div class="card">
          <h2>{billingStrings.topUpTitle}</h2>
          {account?.manages && <PurchaseOptions offers={offers} />}
          {account?.why_not && <p>{account.why_not}</p>}
        </div>
      )}
      {offers.provider && account?.manages && <AutoTopUp offers={offers} />}
      <h2>{billingStrings.topUpTable}</h2>
      <Table
        caption={billingStrings.topUpTable}
        columns={ORDER_COLUMNS}
        rows={offers.orders}
        csv="orders"
        empty={billingStrings.topUpEmpty}
      />
      {account && <PaymentHistory hasInvoices={account.manages} />}
      {account?.manages && <BillingDetails />}
    </>
  )
}

type Lots = NonNullable<Offers['lots']>

const mostCredits = ({ credits, most }: Lots) => BigInt(most) * microOf(credits)

/** Empty unless the typed amount is a number of whole lots. */
function customPrice(typed: string, { credits, amount }: Lots, currency: string): string {
  const micro = microOf(typed)
  const lot = microOf(credits)
  return micro <= 0n || micro % lot !== 0n ? '' : priceText(scaledPrice(amount, micro / lot), currency)
}

interface PendingOrder {
  readonly order: { readonly package: string } | { readonly credits: string }
  readonly summary: string
}

function PurchaseOptions({ offers }: { offers: Offers }) {
  const { provider, currency, packages, lots, tax } = offers
  const isStripe = provider === 'stripe'
  const taxText = tax && TAX[tax.included ? 'included' : 'added'](tax.name, tax.rate)
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
  return (
    <>
      <p>
        {isStripe ? billingStrings.topUpStripe : billingStrings.topUpManual} {taxText}
      </p>
      <ul class="packages">
        {packages.map(({ name, credits, amount }) => (
          <li key={name}>
            <Button
              text={billingStrings.topUpPackage(groupedText(credits), priceText(amount, currency))}
              class="main"
              onClick={() => {
                const summary = billingStrings.topUpPackageSummary(groupedText(credits), priceText(amount, currency))
                pending.value = { order: { package: name }, summary }
              }}
            />
            <small class="soft">
              {billingStrings.topUpUnitPrice(
                priceText(scaledPrice(amount, 10_000_000_000n, microOf(credits)), currency),
              )}
            </small>
          </li>
        ))}
      </ul>
      {lots && <CustomAmount lots={lots} currency={currency} onOrder={(order) => (pending.value = order)} />}
      {pending.value && (
        <Dialog
          title={billingStrings.topUpDialog}
          submitLabel={billingStrings.topUpSubmit[isStripe ? 'stripe' : 'manual']}
          onSend={send}
          onClose={() => (pending.value = null)}
        >
          <p>
            {pending.value.summary} {taxText}
          </p>
        </Dialog>
      )}
    </>
  )
}

interface CustomAmountProps {
  readonly lots: Lots
  readonly currency: string
  readonly onOrder: (order: PendingOrder) => void
}

function CustomAmount({ lots, currency, onOrder }: CustomAmountProps) {
  const id = useId()
  const custom = useSignal(lots.credits)
  const price = customPrice(custom.value, lots, currency)
  const buyLots = (event: Event) => {
    event.preventDefault()
    if (price === '') return
    const summary = billingStrings.topUpPackageSummary(groupedText(custom.value), price)
    onOrder({ order: { credits: custom.value }, summary })
  }
  return (
    <form onSubmit={buyLots}>
      <label for={id}>
        {billingStrings.topUpLots(
          groupedText(lots.credits),
          priceText(lots.amount, currency),
          creditsText(mostCredits(lots)),
        )}
      </label>
      <p class="beside">
        <input
          id={id}
          class="short"
          type="number"
          required
          min={lots.credits}
          max={plainText(creditsText(mostCredits(lots)))}
          step={lots.credits}
          {...bindInput(custom)}
        />
        <output for={id}>{price}</output>
        <button type="submit">{billingStrings.topUpOrder}</button>
      </p>
    </form>
  )
}

interface OrderProps {
  readonly order: CreditOrder
  readonly instructions: string
  readonly hasInvoice: boolean
}

function OrderView({ order, instructions, hasInvoice }: OrderProps) {
  const { number, account, credits, amount, currency, created, provider, state, url, network, transaction } = order
  const isToPay = state === 'open'
  const isTransfer = isToPay && provider === 'manual'
  const payUrl = isToPay ? url : null
  const heading = useRef<HTMLHeadingElement>(null)
  // The dialog or link that led here is gone.
  useEffect(() => heading.current?.focus(), [])
  return (
    <article class="invoice card" aria-label={billingStrings.topUpOrderLabel(number)}>
      <h2 ref={heading} tabIndex={-1}>
        {isTransfer ? billingStrings.topUpPlaced(number) : billingStrings.topUpOrderLabel(number)}
      </h2>
      {isTransfer && (
        <p>
          <b>{billingStrings.topUpPayWith(priceText(amount, currency), number)}</b>{' '}
          {instructions || billingStrings.topUpContact}
        </p>
      )}
      <p class="beside">
        {payUrl && (
          <a class="main" href={payUrl}>
            {billingStrings.topUpPay}
          </a>
        )}
        {hasInvoice && (
          <Link to={urlWith({ invoice: number })} {...(payUrl ? {} : { class: 'main' })}>
            {INVOICE.open}
          </Link>
        )}
        {isTransfer && <CopyButton text={number} label={billingStrings.topUpCopyReference} />}
        <Button text={billingStrings.topUpPrint} class="plain" onClick={() => print()} />
        <Link to={urlWith({ order: null })}>{billingStrings.topUpClose}</Link>
      </p>
      <SummaryList
        of={[
          [billingStrings.topUpSumsAccount, account],
          [billingStrings.topUpSumsCreated, timeText(created)],
          [billingStrings.topUpSumsCredits, groupedText(credits)],
          [billingStrings.topUpSumsAmount, priceText(amount, currency)],
          [billingStrings.topUpSumsState, creditOrderStateText(order)],
          ...(network === null ? [] : [[billingStrings.topUpSumsNetwork, networkText(network)] as const]),
          ...(transaction === null ? [] : [[billingStrings.topUpSumsTransaction, transaction] as const]),
        ]}
      />
    </article>
  )
}
