// Alerts: their state, the last value against the threshold, and the history of events with their delivery.

import { useSignal } from '@preact/signals'
import { hasRole, type StaffRole } from '../../accounts/staff.ts'
import { usePolling } from '../polling.dom.ts'
import { useQuery } from '../queries.dom.ts'
import { type RequestError, request } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { durationText, timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { DoneNote, ErrorNote, QueryView } from '../ui/parts.tsx'
import { type Column, numberColumn, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import * as alertStrings from './alert-strings.ts'
import * as strings from './strings.ts'
import './alerts.css'

type Alerts = Responses['listAlerts']
type AlertNow = Alerts['alerts'][number]
type Entry = Alerts['history'][number]
const POLL_MS = 15_000

const valueText = (value: number | null, unit: AlertNow['unit']) => {
  if (value === null || unit === null) return '–'
  return unit === 'percent' ? alertStrings.alertsPercent(String(Number(value.toFixed(1)))) : durationText(value)
}

const stateOf = ({ since, message }: AlertNow) => (since !== null ? 'active' : message === null ? 'fine' : 'pending')
const STATE_TEXTS = {
  active: alertStrings.alertsActive,
  pending: alertStrings.alertsPending,
  fine: alertStrings.alertsFine,
} as const
const STATE_DOTS = { active: 'dot high', pending: 'dot near', fine: 'dot fine' } as const

function AlertState({ of }: { readonly of: AlertNow }) {
  const state = stateOf(of)
  return (
    <>
      <span class={STATE_DOTS[state]} aria-hidden="true" />
      {STATE_TEXTS[state]}
      {of.since !== null && <Time atMs={of.since} />}
      {of.message && <p class="soft">{of.message}</p>}
    </>
  )
}

const RULE_COLUMNS: readonly Column<AlertNow>[] = [
  {
    name: alertStrings.alertsAlert,
    text: ({ alert }) => alertStrings.ALERT_WORDS[alert].name,
    render: ({ alert }) => (
      <>
        <b title={alert}>{alertStrings.ALERT_WORDS[alert].name}</b>
        <p class="soft">{alertStrings.ALERT_WORDS[alert].condition}</p>
      </>
    ),
  },
  {
    name: alertStrings.alertsState,
    text: (of) => `${STATE_TEXTS[stateOf(of)]}${of.since === null ? '' : timeText(of.since)}`,
    render: (of) => <AlertState of={of} />,
  },
  numberColumn(alertStrings.alertsValue, ({ value, unit }) => valueText(value, unit)),
  numberColumn(alertStrings.alertsThreshold, ({ threshold, unit }) => valueText(threshold, unit)),
  {
    name: alertStrings.alertsRunbook,
    render: ({ alert }) => (
      <a
        href={alertStrings.ALERT_WORDS[alert].page}
        aria-label={alertStrings.alertsRunbookOf(alertStrings.ALERT_WORDS[alert].name)}
      >
        {alertStrings.alertsRunbook}
      </a>
    ),
  },
]

function deliveryText({ delivery, attempts, answer }: Entry): string {
  const text = alertStrings.alertsDeliveries[delivery]
  return answer === null ? text : alertStrings.alertsAttempts(text, attempts, answer)
}

const messageText = ({ type, message, at, started }: Entry) =>
  type === 'alert.ended' ? alertStrings.alertsLasted(durationText(at - started)) : message

const HISTORY_COLUMNS: readonly Column<Entry>[] = [
  {
    name: strings.commonUtc(alertStrings.alertsTime),
    text: ({ at }) => timeText(at),
  },
  {
    name: alertStrings.alertsAlert,
    text: ({ alert }) => (alert === 'test' ? alertStrings.alertsTestName : alertStrings.ALERT_WORDS[alert].name),
  },
  { name: alertStrings.alertsEvent, text: ({ type }) => alertStrings.alertsEvents[type] },
  { name: alertStrings.alertsMessage, text: messageText },
  { name: alertStrings.alertsDelivery, text: deliveryText },
]

function ReceiverNote({ receiver, signed }: Pick<Alerts, 'receiver' | 'signed'>) {
  if (receiver !== null && signed) return <p>{alertStrings.alertsReceiver(receiver)}</p>
  return (
    <p class="note">
      {receiver === null ? alertStrings.alertsNoReceiver : alertStrings.alertsNoSecret}
      <a href={alertStrings.alertsGuidePage}>{alertStrings.alertsGuide}</a>.
    </p>
  )
}

function TestButton({ onDone }: { readonly onDone: () => void }) {
  const done = useSignal('')
  const error = useSignal<RequestError | null>(null)
  const isBusy = useSignal(false)
  const send = async () => {
    isBusy.value = true
    const result = await request<Responses['testAlert']>('POST', '/admin/alerts/test')
    isBusy.value = false
    error.value = result.ok ? null : result.error
    if (!result.ok) return
    const { delivered, answer } = result.value
    done.value = delivered ? alertStrings.alertsTestDelivered(answer) : alertStrings.alertsTestFailed(answer)
    onDone()
  }
  return (
    <>
      <p class="beside">
        <Button text={alertStrings.alertsTest} disabled={isBusy.value} onClick={() => void send()} />
      </p>
      <ErrorNote error={error.value} />
      <DoneNote text={done} />
    </>
  )
}

export function AlertsPage({ role }: { readonly role: StaffRole }) {
  const alerts = useQuery<Alerts>(() => '/admin/alerts')
  usePolling(alerts, POLL_MS)
  return (
    <>
      <h1>{strings.pagesAlerts}</h1>
      <p>{alertStrings.alertsText}</p>
      <QueryView query={alerts} height={640}>
        {({ receiver, signed, at, alerts: rules, history }) => (
          <>
            <ReceiverNote receiver={receiver} signed={signed} />
            {receiver !== null && signed && hasRole(role, 'owner') && <TestButton onDone={alerts.reload} />}
            <div class="alert-rules">
              <Table caption={alertStrings.alertsRules} columns={RULE_COLUMNS} rows={rules} empty="" csv="alerts" />
            </div>
            <p class="soft">
              {alertStrings.alertsUpdated} <Time atMs={at} />
            </p>
            <h2>{alertStrings.alertsHistory}</h2>
            <p class="soft">{alertStrings.alertsHistoryText}</p>
            <div class="alert-history">
              <Table
                caption={alertStrings.alertsHistory}
                columns={HISTORY_COLUMNS}
                rows={history}
                rowKey={({ number }) => String(number)}
                empty={alertStrings.alertsNoHistory}
                csv="alert-history"
              />
            </div>
          </>
        )}
      </QueryView>
    </>
  )
}
