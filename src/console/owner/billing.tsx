// Credits for sale, orders, payments and monthly statements. Printing leaves only the order or statement that is open.

import { useParam } from '../address.dom.ts'
import type { Responses } from '../responses.ts'
import { Reserved } from '../ui/parts.tsx'
import { useAccountQuery } from './account-data.dom.ts'
import type { SectionProps } from './section.ts'
import { Statements, StatementView } from './statements.tsx'
import * as strings from './strings.ts'
import { TopUp } from './top-up.tsx'

/** The lists have any length, so they appear together. */
export function Billing({ account }: SectionProps) {
  const offers = useAccountQuery<Responses['showCheckout']>(() => '/platform/checkout')
  const month = useParam('month').value
  const months = useAccountQuery<Responses['ownInvoices']>(() => '/platform/invoices/')
  const isLoading = [offers, months].some(({ value, error }) => value.value === null && error.value === null)
  return (
    <>
      <h1 class="screen">{strings.pagesBilling}</h1>
      {month ? (
        <StatementView month={month} key={month} />
      ) : isLoading ? (
        <Reserved height={560} isLoading />
      ) : (
        <>
          <TopUp account={account} offers={offers} />
          <Statements months={months} />
        </>
      )}
    </>
  )
}
