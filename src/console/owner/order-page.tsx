// One order: how far it is, how to pay it, and its sums, also in print.

import { useEffect, useRef } from 'preact/hooks'
import { urlWith } from '../address.dom.ts'
import type { Query } from '../queries.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { type CreditOrder, creditOrderStateText, groupedText, priceText, timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { CopyButton, ErrorNote, Reserved, SummaryList } from '../ui/parts.tsx'
import * as billingStrings from './billing-strings.ts'
import { INVOICE } from './order-invoice-strings.ts'

type Offers = Responses['showCheckout']

const networkText = (network: string | null) =>
  network === null ? '' : ((billingStrings.paymentsNetworks as Readonly<Record<string, string>>)[network] ?? network)

interface PageProps {
  readonly number: string
  readonly offers: Query<Offers>
  readonly hasInvoices: boolean
}

export function OrderPage({ number, offers, hasInvoices }: PageProps) {
  const known = offers.value.value
  const order = known?.orders.find((each) => each.number === number)
  return (
    <>
      <p class="screen">
        <Link to={urlWith({ order: null })}>{INVOICE.back}</Link>
      </p>
      {known !== null && order !== undefined ? (
        <OrderView order={order} instructions={known.instructions} hasInvoice={order.invoice && hasInvoices} />
      ) : (
        <Reserved height={360} isLoading={offers.isLoading.value}>
          <h1>{billingStrings.topUpOrderLabel(number)}</h1>
          <ErrorNote error={offers.error.value} onRetry={offers.reload} />
          {known !== null && !offers.isLoading.value && <p class="note">{billingStrings.topUpNoOrder}</p>}
        </Reserved>
      )}
    </>
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
  const payUrl = isToPay ? url : null
  const heading = useRef<HTMLHeadingElement>(null)
  // The dialog or link that led here is gone.
  useEffect(() => heading.current?.focus(), [])
  return (
    <article class="invoice" aria-label={billingStrings.topUpOrderLabel(number)}>
      <div class="title">
        <h1 ref={heading} tabIndex={-1}>
          {billingStrings.topUpOrderLabel(number)}
        </h1>
        <span class="beside">
          <Button text={billingStrings.topUpPrint} onClick={() => print()} />
          {hasInvoice && (
            <Link to={urlWith({ invoice: number })} {...(payUrl ? {} : { class: 'main' })}>
              {INVOICE.open}
            </Link>
          )}
          {payUrl && (
            <a class="main" href={payUrl}>
              {billingStrings.topUpPay}
            </a>
          )}
        </span>
      </div>
      <Steps order={order} />
      {isToPay && provider === 'manual' && <Transfer order={order} instructions={instructions} />}
      <section class="card">
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
      </section>
    </article>
  )
}

/** An order that ended without a payment has no further steps. */
function Steps({ order: { state, granted } }: { readonly order: CreditOrder }) {
  if (state !== 'open' && state !== 'paid') return null
  const { placed, paid, added } = billingStrings.ORDER_STEPS
  const steps = [
    [placed, true],
    [paid, state === 'paid'],
    [added, granted !== null],
  ] as const
  const reached = steps.filter(([, isReached]) => isReached).length
  return (
    <ol class="reached">
      {steps.map(([name, isReached], i) => (
        <li key={name} aria-current={i === reached - 1 ? 'step' : undefined}>
          <span class={isReached ? 'dot fine' : 'dot'} aria-hidden="true" />
          {name}
        </li>
      ))}
    </ol>
  )
}

interface TransferProps {
  readonly order: CreditOrder
  readonly instructions: string
}

const Transfer = ({ order: { number, amount, currency }, instructions }: TransferProps) => (
  <section class="card">
    <p>
      <b>{billingStrings.topUpPayWith(priceText(amount, currency), number)}</b>{' '}
      {instructions || billingStrings.topUpContact}
    </p>
    <p class="beside">
      <CopyButton text={number} label={billingStrings.topUpCopyReference} />
      <CopyButton text={amount} label={billingStrings.topUpCopyAmount} />
    </p>
  </section>
)
