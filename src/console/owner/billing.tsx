// Credits for sale, orders and monthly statements. An order or a statement has the page to itself, also in print.

import { useParam } from '../address.dom.ts'
import { nowMs } from '../clock.dom.ts'
import type { Responses } from '../responses.ts'
import { dateText, groupedText } from '../ui/format.ts'
import { Figures, Reserved } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { useAccountQuery } from './account-data.dom.ts'
import { forecastText, microOf } from './account-view.ts'
import * as billingStrings from './billing-strings.ts'
import { OrderList } from './order-list.tsx'
import { OrderPage } from './order-page.tsx'
import type { Account } from './responses.ts'
import type { SectionProps } from './section.ts'
import { Statements, StatementView } from './statements.tsx'
import * as strings from './strings.ts'
import { TopUp } from './top-up.tsx'

type Months = Responses['ownInvoices']

/** The lists have any length, so they appear together. */
export function Billing({ account }: SectionProps) {
  const offers = useAccountQuery<Responses['showCheckout']>(() => '/platform/checkout')
  const months = useAccountQuery<Months>(() => '/platform/invoices/')
  const month = useParam('month').value
  const order = useParam('order').value
  if (month !== '') return <StatementView month={month} key={month} />
  const manages = account?.manages === true
  if (order !== '') return <OrderPage number={order} offers={offers} hasInvoices={manages} key={order} />
  const isLoading = [offers, months].some(({ value, error }) => value.value === null && error.value === null)
  return (
    <>
      <h1>{strings.pagesBilling}</h1>
      <Reserved height={116} isLoading={account === null}>
        {account && <BillingFigures account={account} months={months.value.value} />}
      </Reserved>
      {isLoading ? (
        <Reserved height={560} isLoading />
      ) : (
        <>
          <TopUp account={account} offers={offers} />
          {account && <OrderList hasInvoices={manages} />}
          <Statements months={months} />
        </>
      )}
    </>
  )
}

interface FiguresProps {
  readonly account: Account
  readonly months: Months | null
}

function BillingFigures({ account, months }: FiguresProps) {
  const { balance, plan, period } = account
  const isRenewed = period !== null && microOf(period.renews_with) > 0n
  const charged = months?.invoices.find((month) => !month.is_final)?.charged
  return (
    <Figures
      figures={[
        { name: strings.creditsBalance, value: groupedText(balance), note: forecastText(account, nowMs()) },
        {
          name: strings.creditsPlan,
          value: labelOf(plan),
          note: period?.until && billingStrings.planUntil[isRenewed ? 'renewed' : 'ends'](dateText(period.until)),
        },
        { name: billingStrings.usedThisMonth, value: charged === undefined ? '–' : groupedText(charged) },
      ]}
    />
  )
}
