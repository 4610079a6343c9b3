// The billing details of an account as lines.

import type { Responses } from '../responses.ts'
import { countryName } from './country-name.ts'

type Details = NonNullable<Responses['ownBilling']['details']>

export const BillingAddress = ({ details }: { readonly details: Details }) => (
  <address class="lines">
    <strong>{details.name}</strong>
    {[...details.address, countryName(details.country), details.tax_id, details.email].map(
      (line, i) => line && <span key={i}>{line}</span>,
    )}
  </address>
)
