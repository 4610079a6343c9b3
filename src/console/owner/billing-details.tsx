// The account's billing details, which appear on its invoices, and a dialog to change them.

import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { COUNTRIES } from '../../billing/checkout/countries.ts'
import { requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { BillingAddress } from '../ui/billing-address.tsx'
import { countryName } from '../ui/country-name.ts'
import { Dialog, Field } from '../ui/dialog.tsx'
import { Button } from '../ui/frame.tsx'
import { QueryView } from '../ui/parts.tsx'
import { useAccountQuery } from './account-data.dom.ts'
import { DETAILS } from './order-invoice-strings.ts'

type Billing = Responses['ownBilling']

const PATH = '/platform/billing/'

/** For keys that manage the account; others may not read the details. */
export function BillingDetails() {
  const billing = useAccountQuery<Billing>(() => PATH)
  const isEditing = useSignal(false)
  return (
    <section class="card">
      <h2>{DETAILS.title}</h2>
      <QueryView query={billing} height={96}>
        {({ details }) => (
          <>
            {details === null ? <p>{DETAILS.none}</p> : <BillingAddress details={details} />}
            <p>
              <Button text={DETAILS.edit} onClick={() => (isEditing.value = true)} />
            </p>
            {isEditing.value && (
              <DetailsForm
                known={details}
                onDone={(changed) => {
                  billing.value.value = changed
                  isEditing.value = false
                }}
                onClose={() => (isEditing.value = false)}
              />
            )}
          </>
        )}
      </QueryView>
    </section>
  )
}

interface FormProps {
  readonly known: Billing['details']
  readonly onDone: (changed: Billing) => void
  readonly onClose: () => void
}

function DetailsForm({ known, onDone, onClose }: FormProps) {
  const id = useId()
  const name = useSignal(known?.name ?? '')
  const address = useSignal(known?.address.join('\n') ?? '')
  const country = useSignal(known?.country ?? '')
  const taxId = useSignal(known?.tax_id ?? '')
  const email = useSignal(known?.email ?? '')
  const send = () => {
    const body = {
      name: name.value,
      address: address.value.split('\n').filter((line) => line.trim() !== ''),
      country: country.value,
      tax_id: taxId.value.trim() || null,
      email: email.value.trim() || null,
    }
    return requestChange<Billing>('PUT', PATH, body, onDone)
  }
  const isIncomplete = [name, address, country].some(({ value }) => value.trim() === '')
  return (
    <Dialog
      title={DETAILS.title}
      submitLabel={DETAILS.save}
      isIncomplete={isIncomplete}
      onSend={send}
      onClose={onClose}
    >
      <p>{DETAILS.hint}</p>
      <Field label={DETAILS.name} value={name.value} onText={(text) => (name.value = text)} />
      <label for={`${id}address`}>
        {DETAILS.address} <small>{DETAILS.addressHint}</small>
      </label>
      <textarea
        id={`${id}address`}
        rows={3}
        value={address.value}
        onInput={({ currentTarget }) => (address.value = currentTarget.value)}
      />
      <label for={`${id}country`}>{DETAILS.country}</label>
      <select
        id={`${id}country`}
        value={country.value}
        onChange={({ currentTarget }) => (country.value = currentTarget.value)}
      >
        <option value="">{DETAILS.chooseCountry}</option>
        {COUNTRIES.map((code) => [countryName(code), code] as const)
          .sort(([one], [other]) => one.localeCompare(other))
          .map(([text, code]) => (
            <option key={code} value={code}>
              {text}
            </option>
          ))}
      </select>
      <Field
        label={DETAILS.taxId}
        hint={DETAILS.optional}
        value={taxId.value}
        onText={(text) => (taxId.value = text)}
      />
      <Field
        label={DETAILS.email}
        hint={DETAILS.optional}
        value={email.value}
        onText={(text) => (email.value = text)}
      />
    </Dialog>
  )
}
