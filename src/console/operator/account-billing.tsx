// Billing details and auto top-up of an account.

import { hasRole, type StaffRole } from '../../accounts/staff.ts'
import { useQuery } from '../queries.dom.ts'
import { requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { BillingAddress } from '../ui/billing-address.tsx'
import { ConfirmButton } from '../ui/dialog.tsx'
import { groupedText, priceText } from '../ui/format.ts'
import { QueryView } from '../ui/parts.tsx'
import { BILLING } from './billing-strings.ts'

type AutoTopUp = Responses['showAutoTopUp']

interface BillingProps {
  readonly id: string
  readonly role: StaffRole
  /** Gets what was done, in words. */
  readonly onDone: (text: string) => void
}

export function AccountBilling({ id, role, onDone }: BillingProps) {
  const path = `/admin/accounts/${encodeURIComponent(id)}`
  const billing = useQuery<Responses['showBilling']>(() => `${path}/billing`)
  const auto = useQuery<AutoTopUp>(() => `${path}/auto-top-up`)
  const turnOff = () =>
    requestChange<AutoTopUp>('DELETE', `${path}/auto-top-up`, undefined, (changed) => {
      auto.value.value = changed
      onDone(BILLING.done)
    })
  return (
    <>
      <h2 id="billing">{BILLING.title}</h2>
      <QueryView query={billing}>
        {({ details }) => (details === null ? <p>{BILLING.none}</p> : <BillingAddress details={details} />)}
      </QueryView>
      <QueryView query={auto}>
        {(shown) =>
          shown.available && (
            <>
              <p>{textOf(shown)}</p>
              {shown.state === 'on' && hasRole(role, 'billing') && (
                <p>
                  <ConfirmButton buttonLabel={BILLING.turnOff} action={BILLING.turnOff} name={id} onConfirm={turnOff}>
                    <p>{BILLING.turnOffText}</p>
                  </ConfirmButton>
                </p>
              )}
            </>
          )
        }
      </QueryView>
    </>
  )
}

function textOf({ state, settings, charged_this_month: charged }: AutoTopUp): string {
  if (state === 'stopped') return BILLING.autoStopped
  if (state === 'off' || settings === null) return BILLING.autoOff
  const { below, credits, amount, currency, monthly_limit: limit } = settings
  const price = (money: string) => priceText(money, currency)
  const on = BILLING.autoOn(groupedText(below), groupedText(credits), price(amount), price(limit))
  return on + BILLING.charged(price(charged ?? '0'))
}
