// The alerts of an account: rules, the addresses and the webhook that get them, and the last alerts.

import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { request, requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { ConfirmButton, Dialog, Field } from '../ui/dialog.tsx'
import { timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { DoneNote, QueryView, Reserved } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { refreshAll, useAccountQuery } from './account-data.dom.ts'
import { conditionFields, conditionText, sentenceCase } from './alert-rule.ts'
import { RuleDialog } from './alert-rule-dialog.tsx'
import * as alertStrings from './alert-strings.ts'
import type { AlertRule, Alerts as AlertsResponse } from './responses.ts'
import type { SectionProps } from './section.ts'
import * as strings from './strings.ts'
import { WebhookCard } from './webhook-card.tsx'

type Address = AlertsResponse['addresses'][number]
type Alert = AlertsResponse['history'][number]

const HEIGHT = 640

export function Alerts({ account, owner }: SectionProps) {
  return (
    <>
      <div class="title">
        <h1>{strings.pagesAlerts}</h1>
        <a href="/docs/guides/alerts">{alertStrings.guide}</a>
      </div>
      <Reserved height={HEIGHT} isLoading={account === null}>
        {account?.manages && <AccountAlerts isBilling={owner.member_role === 'billing'} />}
        {account && !account.manages && <p class="note">{alertStrings.needsService}</p>}
      </Reserved>
    </>
  )
}

function AccountAlerts({ isBilling }: { readonly isBilling: boolean }) {
  const alerts = useAccountQuery<AlertsResponse>(() => '/platform/alerts/')
  return (
    <QueryView query={alerts} height={HEIGHT}>
      {(value) => <AlertParts alerts={value} isBilling={isBilling} />}
    </QueryView>
  )
}

const hasChannel = ({ has_webhook: hasWebhook, addresses }: AlertsResponse) => hasWebhook || addresses.length > 0

interface AlertPartsProps {
  readonly alerts: AlertsResponse
  readonly isBilling: boolean
}

/**
 * Without a channel, the places where alerts can go are first. The order stays while the page is open, because a dialog that moves
 * is closed. Billing members see no webhook, whose events are for programs.
 */
function AlertParts({ alerts, isBilling }: AlertPartsProps) {
  const isFirstVisit = useRef(!hasChannel(alerts)).current
  const rules = <Rules alerts={alerts} onChange={refreshAll} />
  const channels = (
    <>
      <Addresses alerts={alerts} onChange={refreshAll} />
      {!isBilling && <WebhookCard />}
    </>
  )
  return (
    <>
      {isFirstVisit ? <div class="cards">{channels}</div> : rules}
      {isFirstVisit ? rules : channels}
      <section class="card">
        <h2>{alertStrings.historyTitle}</h2>
        <Table
          caption={alertStrings.historyTable}
          columns={historyColumns(alerts.addresses)}
          rows={alerts.history}
          rowKey={({ id }) => id}
          csv="alerts"
          empty={alertStrings.historyEmpty}
        />
      </section>
    </>
  )
}

interface PartProps {
  readonly alerts: AlertsResponse
  readonly onChange: () => void
}

function Rules({ alerts, onChange }: PartProps) {
  const open = useSignal<{ readonly known: AlertRule | null } | null>(null)
  const tested = useSignal('')
  const { rules, addresses } = alerts
  const canAdd = hasChannel(alerts)
  const done = () => {
    open.value = null
    onChange()
  }
  const test = async ({ id }: AlertRule) => {
    const result = await request<Responses['testAlertRule']>('POST', `/platform/alerts/rules/${id}/test`)
    tested.value = result.ok ? alertStrings.testSent(deliveriesText(result.value, addresses)) : result.error.message
    if (result.ok) onChange()
  }
  const create = () => {
    open.value = { known: null }
  }
  const remove = (rule: AlertRule) => requestChange('DELETE', `/platform/alerts/rules/${rule.id}`, undefined, onChange)
  const columns: readonly Column<AlertRule>[] = [
    ...ruleColumns(addresses),
    {
      name: alertStrings.columnsActions,
      render: (rule) => (
        <>
          <Button
            text={alertStrings.rulesTest}
            class="plain"
            aria-label={alertStrings.rulesActionOf(alertStrings.rulesTest, rule.name)}
            onClick={() => test(rule)}
          />
          <Button
            text={alertStrings.rulesEdit}
            class="plain"
            aria-label={alertStrings.rulesActionOf(alertStrings.rulesEdit, rule.name)}
            onClick={() => (open.value = { known: rule })}
          />
          <ConfirmButton
            buttonLabel={alertStrings.rulesDelete}
            label={alertStrings.rulesActionOf(alertStrings.rulesDelete, rule.name)}
            action={alertStrings.rulesDelete}
            name={alertStrings.rulesDeleteName}
            onConfirm={() => remove(rule)}
          >
            <p>{alertStrings.rulesDeleteText(rule.name)}</p>
          </ConfirmButton>
        </>
      ),
    },
  ]
  return (
    <section class="card">
      <div class="title">
        <h2>{alertStrings.rulesTitle}</h2>
        {canAdd && <Button text={alertStrings.rulesNew} class="main" onClick={create} />}
      </div>
      <DoneNote text={tested} />
      <Table
        caption={alertStrings.rulesTable}
        columns={columns}
        rows={rules}
        rowKey={({ id }) => id}
        empty={<p>{canAdd ? alertStrings.rulesEmpty : alertStrings.rulesNoChannel}</p>}
      />
      {open.value && (
        <RuleDialog known={open.value.known} alerts={alerts} onDone={done} onClose={() => (open.value = null)} />
      )}
    </section>
  )
}

function stateOf({ enabled, firing }: AlertRule): keyof typeof alertStrings.STATES {
  return enabled ? (firing ? 'firing' : 'ok') : 'off'
}

const TONES = { off: '', ok: 'fine', firing: 'high' } as const

function ruleColumns(addresses: readonly Address[]): readonly Column<AlertRule>[] {
  const { name, condition, channels, state, fired } = alertStrings.rulesColumns
  return [
    { name, text: (rule) => rule.name },
    {
      name: condition,
      text: conditionOf,
      render: (rule) => <span class="wrap">{conditionOf(rule)}</span>,
      isMinor: true,
    },
    { name: channels, text: (rule) => channelsText(rule, addresses), isMinor: true },
    {
      name: state,
      text: (rule) => alertStrings.STATES[stateOf(rule)],
      render: (rule) => (
        <>
          <span class={`dot ${TONES[stateOf(rule)]}`} aria-hidden="true" />
          {alertStrings.STATES[stateOf(rule)]}
        </>
      ),
    },
    {
      name: fired,
      text: (rule) => (rule.fired === null ? alertStrings.rulesNever : timeText(rule.fired)),
      render: (rule) => (rule.fired === null ? alertStrings.rulesNever : <Time atMs={rule.fired} />),
      isMinor: true,
    },
  ]
}

const conditionOf = (rule: AlertRule) => sentenceCase(conditionText(conditionFields(rule.condition), keyOf(rule)))
const keyOf = ({ condition }: AlertRule) => (('key' in condition && condition.key) || '').slice(0, 12)
const emailOf = (id: string, addresses: readonly Address[]) => {
  const known = addresses.find((each) => each.id === id)
  return known === undefined ? alertStrings.removedAddress : (known.email ?? id)
}

function channelsText(rule: AlertRule, addresses: readonly Address[]): string {
  const emails = rule.addresses.map((id) => emailOf(id, addresses))
  return [...emails, ...(rule.webhook ? [alertStrings.webhook] : [])].join(', ') || alertStrings.none
}

function deliveriesText({ deliveries }: Alert, addresses: readonly Address[]): string {
  const texts = deliveries.map(({ address, state, last }) => {
    const to = address === null ? alertStrings.webhook : emailOf(address, addresses)
    return alertStrings.delivery(to, alertStrings.DELIVERY_STATES[state], state === 'delivered' ? null : last)
  })
  return texts.join('; ') || alertStrings.none
}

function historyColumns(addresses: readonly Address[]): readonly Column<Alert>[] {
  const { time, rule, type, message, deliveries } = alertStrings.historyColumns
  return [
    { name: time, text: ({ created }) => timeText(created), render: ({ created }) => <Time atMs={created} /> },
    { name: rule, text: (alert) => alert.name },
    { name: type, text: (alert) => alertStrings.HISTORY_TYPES[alert.type] },
    { name: message, text: (alert) => alert.message, render: (alert) => <span class="wrap">{alert.message}</span> },
    {
      name: deliveries,
      text: (alert) => deliveriesText(alert, addresses),
      render: (alert) => <span class="wrap">{deliveriesText(alert, addresses)}</span>,
    },
  ]
}

function Addresses({ alerts, onChange }: PartProps) {
  const isAdding = useSignal(false)
  const email = useSignal('')
  const done = useSignal('')
  const sent = (value: { readonly email: string | null }) => {
    done.value = alertStrings.addressesSent(value.email ?? '')
    isAdding.value = false
    email.value = ''
    onChange()
  }
  const add = () => requestChange('POST', '/platform/alerts/addresses/', { email: email.value.trim() }, sent)
  const resend = async ({ id }: Address) => {
    const path = `/platform/alerts/addresses/${id}/confirmation`
    const result = await request<Responses['sendAlertConfirmation']>('POST', path)
    if (result.ok) sent(result.value)
    else done.value = result.error.message
  }
  const remove = ({ id }: Address) => requestChange('DELETE', `/platform/alerts/addresses/${id}`, undefined, onChange)
  const columns: readonly Column<Address>[] = [
    ...ADDRESS_COLUMNS,
    {
      name: alertStrings.columnsActions,
      render: (address) => (
        <>
          {address.state === 'pending' && (
            <Button
              text={alertStrings.addressesResend}
              class="plain"
              aria-label={alertStrings.rulesActionOf(alertStrings.addressesResend, address.email ?? address.id)}
              onClick={() => resend(address)}
            />
          )}
          <ConfirmButton
            buttonLabel={alertStrings.addressesDelete}
            label={alertStrings.rulesActionOf(alertStrings.addressesDelete, address.email ?? address.id)}
            action={alertStrings.addressesDelete}
            name={alertStrings.addressesDeleteName}
            onConfirm={() => remove(address)}
          >
            <p>{alertStrings.addressesDeleteText(address.email ?? address.id)}</p>
          </ConfirmButton>
        </>
      ),
    },
  ]
  return (
    <section class="card">
      <div class="title">
        <h2>{alertStrings.addressesTitle}</h2>
        {alerts.sends_email && <Button text={alertStrings.addressesAdd} onClick={() => (isAdding.value = true)} />}
      </div>
      <p class="soft">{alerts.sends_email ? alertStrings.addressesText : alertStrings.addressesOff}</p>
      <DoneNote text={done} />
      {alerts.addresses.length > 0 && (
        <Table
          caption={alertStrings.addressesTable}
          columns={columns}
          rows={alerts.addresses}
          rowKey={({ id }) => id}
          empty=""
        />
      )}
      {isAdding.value && (
        <Dialog
          title={alertStrings.addressesAdd}
          submitLabel={alertStrings.addressesAdd}
          isIncomplete={email.value.trim() === ''}
          onSend={add}
          onClose={() => (isAdding.value = false)}
        >
          <Field
            label={alertStrings.addressesEmail}
            hint={alertStrings.addressesEmailHint}
            value={email.value}
            onText={(text) => (email.value = text)}
          />
        </Dialog>
      )}
    </section>
  )
}

const ADDRESS_COLUMNS: readonly Column<Address>[] = [
  {
    name: alertStrings.addressesColumns.email,
    text: ({ email }) => email ?? alertStrings.addressesLost,
  },
  {
    name: alertStrings.addressesColumns.state,
    text: ({ state }) => alertStrings.ADDRESS_STATES[state],
  },
  {
    name: alertStrings.addressesColumns.requested,
    text: ({ requested }) => timeText(requested),
    render: ({ requested }) => <Time atMs={requested} />,
  },
]
