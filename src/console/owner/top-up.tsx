// Credits for sale: packages and custom amounts, automatic top-ups and billing details.

import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { navigate, urlWith } from '../address.dom.ts'
import type { Query } from '../queries.dom.ts'
import { requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { Dialog } from '../ui/dialog.tsx'
import { creditsText, groupedText, plainText, priceText } from '../ui/format.ts'
import { Button, bindInput } from '../ui/frame.tsx'
import { QueryView } from '../ui/parts.tsx'
import { refreshAll } from './account-data.dom.ts'
import { microOf, scaledPrice } from './account-view.ts'
import { AutoTopUp, NoAutoTopUp } from './auto-top-up.tsx'
import { BillingDetails } from './billing-details.tsx'
import * as billingStrings from './billing-strings.ts'
import { TAX } from './order-invoice-strings.ts'
import type { Account } from './responses.ts'

type Offers = Responses['showCheckout']

interface TopUpProps {
  readonly account: Account | null
  readonly offers: Query<Offers>
}

export const TopUp = ({ account, offers }: TopUpProps) => (
  <QueryView query={offers}>{(known) => <Purchases offers={known} account={account} />}</QueryView>
)

function Purchases({ offers, account }: { offers: Offers; account: Account | null }) {
  const isStripe = offers.provider === 'stripe'
  return (
    <>
      {offers.provider && (
        <section class="card">
          <h2>{billingStrings.topUpTitle}</h2>
          {account?.manages && <PurchaseOptions offers={offers} />}
          {account?.manages && !isStripe && <NoAutoTopUp />}
          {account?.why_not && <p>{account.why_not}</p>}
        </section>
      )}
      {account?.manages && (
        <div class="cards">
          {isStripe && <AutoTopUp offers={offers} />}
          <BillingDetails />
        </div>
      )}
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

/** Name of the package with the most credits for its price. */
const bestValue = (packages: Offers['packages']) =>
  packages.toSorted((one, other) => creditsForPrice(other) - creditsForPrice(one))[0]?.name
const creditsForPrice = ({ credits, amount }: Offers['packages'][number]) => Number(credits) / Number(amount)

interface PendingOrder {
  readonly order: { readonly package: string } | { readonly credits: string }
  readonly summary: string
}

function PurchaseOptions({ offers }: { offers: Offers }) {
  const { provider, currency, packages, lots, tax } = offers
  const isStripe = provider === 'stripe'
  const taxText = tax && TAX[tax.included ? 'included' : 'added'](tax.name, tax.rate)
  const best = bestValue(packages)
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
              class={name === best ? 'main' : undefined}
              onClick={() => {
                const summary = billingStrings.topUpPackageSummary(groupedText(credits), priceText(amount, currency))
                pending.value = { order: { package: name }, summary }
              }}
            />
            <small class="soft">
              {billingStrings.topUpUnitPrice(
                priceText(scaledPrice(amount, 10_000_000_000n, microOf(credits)), currency),
              )}
              {packages.length > 1 && name === best && billingStrings.topUpBest}
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
