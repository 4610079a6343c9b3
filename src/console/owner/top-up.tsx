// Buying credits: what they cost, the account's orders, and one of them to print.

import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { addressWith, go, params } from '../address.dom.ts'
import type { Answers } from '../answers.ts'
import { change } from '../ask.dom.ts'
import { Link } from '../shell.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { typed } from '../ui/frame.tsx'
import { Sums, TroubleNote } from '../ui/parts.tsx'
import { type Column, orderColumns, Table } from '../ui/table.tsx'
import { groupedText, microText, type Order, orderStateText, plainText, priceText, timeText } from '../ui/text.ts'
import type { Account } from './answers.ts'
import { askAgain, useOwn } from './own.dom.ts'
import { microOf } from './owner-words.ts'

type Offers = Answers['showCheckout']

const COLUMNS: readonly Column<Order>[] = orderColumns({
  draw: ({ number, url }) => (
    <>
      <Link to={addressWith({ order: number })}>{number}</Link> {url && <a href={url}>Pay</a>}
    </>
  ),
})

export function TopUp({ account }: { account: Account | null }) {
  const offers = useOwn<Offers>(() => '/platform/checkout')
  const value = offers.value.value
  const shown = value?.orders.find(({ number }) => number === params.value.get('order'))
  // Where nothing is sold and nothing ever was there is nothing to say.
  if (value && value.provider === null && value.orders.length === 0) return null
  return (
    <section>
      <div class="screen">
        <h2>Top up</h2>
        <TroubleNote trouble={offers.trouble.value} again={offers.reload} />
        {value?.provider && account?.manages && <Choice offers={value} />}
        {value?.provider && account?.why_not && <p class="note">{account.why_not}</p>}
        {value && (
          <Table caption="Orders" columns={COLUMNS} rows={value.orders} csv="orders" empty="Nothing was ordered yet." />
        )}
      </div>
      {shown && <OneOrder order={shown} instructions={value?.instructions ?? ''} />}
    </section>
  )
}

interface Wanted {
  readonly order: { readonly package: string } | { readonly credits: string }
  readonly words: string
}

function Choice({ offers }: { offers: Offers }) {
  const { provider, currency, packages, lots } = offers
  const id = useId()
  const count = useSignal('1')
  const wanted = useSignal<Wanted | null>(null)
  const send = () =>
    change<Answers['checkout']>('POST', '/platform/checkout', wanted.value?.order, (value) => {
      const { url, number } = value.order
      wanted.value = null
      if (url !== null) location.assign(url)
      else {
        askAgain()
        go(addressWith({ order: number }))
      }
    })
  const buyLots = (event: Event) => {
    event.preventDefault()
    if (lots === null) return
    const credits = microText(BigInt(Number(count.value)) * microOf(lots.credits))
    const words = `${credits} credits: ${count.value} × ${priceText(lots.amount, currency)}`
    wanted.value = { order: { credits: plainText(credits) }, words }
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
          <button
            type="button"
            key={name}
            onClick={() => {
              const words = `${groupedText(credits)} credits: ${priceText(amount, currency)}`
              wanted.value = { order: { package: name }, words }
            }}
          >
            {groupedText(credits)} credits for {priceText(amount, currency)}
          </button>
        ))}
      </p>
      {lots && (
        <form onSubmit={buyLots}>
          <label for={id}>
            Lots of {groupedText(lots.credits)} credits, {priceText(lots.amount, currency)} each, at most {lots.most}
          </label>
          <p class="beside">
            <input id={id} class="short" type="number" required min={1} max={lots.most} step={1} {...typed(count)} />
            <button type="submit">Order</button>
          </p>
        </form>
      )}
      {wanted.value && (
        <Dialog title="Order credits" act="Order and pay" onSend={send} onClose={() => (wanted.value = null)}>
          <p>{wanted.value.words}.</p>
        </Dialog>
      )}
    </>
  )
}

/** An order as an invoice. */
function OneOrder({ order, instructions }: { order: Order; instructions: string }) {
  const { number, account, credits, amount, currency, created, provider, state, url } = order
  const isToPay = state === 'open'
  return (
    <article class="invoice" aria-label={`Order ${number}`}>
      <h2>
        Invoice {number}: {account}
      </h2>
      <Sums
        of={[
          ['Ordered, UTC', timeText(created)],
          ['Credits', groupedText(credits)],
          ['Amount', priceText(amount, currency)],
          ['State', orderStateText(order)],
        ]}
      />
      {isToPay && provider === 'manual' && (
        <p class="note">
          {instructions || 'Whoever runs this gateway tells how it is paid.'} Name <b>{number}</b> with the payment.
        </p>
      )}
      <p class="beside">
        {isToPay && url && <a href={url}>Pay</a>}
        <button type="button" onClick={() => print()}>
          Print, or save as PDF
        </button>
        <Link to={addressWith({ order: null })}>Close</Link>
      </p>
    </article>
  )
}
