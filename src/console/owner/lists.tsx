// Active streams of an account, its rejected requests, and its low-balance webhook with the delivered events.

import { useSignal } from '@preact/signals'
import { navigate, urlWith, useParam } from '../address.dom.ts'
import { request, requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { ConfirmButton, Dialog, Field } from '../ui/dialog.tsx'
import { Select } from '../ui/form.tsx'
import { groupedText, timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { ErrorNote, infoCurl, QueryView, Snippet } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { amountColumn, type Column, numberColumn, Table } from '../ui/table.tsx'
import { useAccountQuery } from './account-data.dom.ts'
import type { Account, Refusals, Streams, Webhook } from './responses.ts'
import * as strings from './strings.ts'

type Stream = Streams['streams'][number]

const STREAM_COLUMNS: readonly Column<Stream>[] = [
  { name: strings.streamsColumnsChannel, text: ({ type }) => type },
  { name: strings.streamsColumnsBody, text: ({ body }) => body, render: ({ body }) => <code>{body}</code> },
  { name: strings.streamsColumnsKey, text: ({ prefix }) => prefix ?? '' },
  { name: strings.streamsColumnsSince, text: ({ since }) => timeText(since) },
  amountColumn(strings.streamsColumnsCredits, ({ credits_a_minute: price }) => price),
]

export function StreamList() {
  const streams = useAccountQuery<Streams>(() => '/platform/streams/')
  return (
    <section>
      <h2>{strings.streamsTitle}</h2>
      <QueryView query={streams}>
        {(value) => (
          <>
            <p class="beside">
              <span>
                {strings.streamsSummary(value.sockets, value.subscriptions, groupedText(value.credits_a_minute))}
              </span>
              <Button text={strings.streamsRefresh} class="plain" onClick={streams.reload} />
            </p>
            <Table
              caption={strings.streamsTable}
              columns={STREAM_COLUMNS}
              rows={value.streams}
              csv="streams"
              empty={
                <>
                  <p>{strings.streamsEmpty}</p>
                  <Snippet line={`npm run watch -- BTC --url ${location.origin} --key $WEIR_KEY`} />
                </>
              }
            />
          </>
        )}
      </QueryView>
    </section>
  )
}

type Refusal = Refusals['refusals'][number]

const REFUSAL_COLUMNS: readonly Column<Refusal>[] = [
  { name: strings.refusalsColumnsTime, text: ({ at }) => timeText(at) },
  { name: strings.refusalsColumnsKey, text: ({ prefix }) => prefix },
  { name: strings.refusalsColumnsProduct, text: ({ product }) => labelOf(product) },
  { name: strings.refusalsColumnsType, text: ({ type }) => type },
  {
    name: strings.refusalsColumnsCode,
    text: ({ code }) => code,
    render: ({ code }) => <span title={code}>{labelOf(code)}</span>,
  },
  {
    name: strings.refusalsColumnsReason,
    text: ({ message }) => message,
    render: ({ message }) => <span class="wrap">{message}</span>,
  },
  {
    name: strings.refusalsColumnsRequest,
    text: ({ request_id: id }) => id,
    render: ({ request_id: id }) => <code>{id}</code>,
  },
]

export function RefusalList() {
  const refusals = useAccountQuery<Refusals>(() => '/platform/refusals/')
  const code = useParam('code').value
  return (
    <section>
      <h2>{strings.refusalsTitle}</h2>
      <QueryView query={refusals}>
        {(value) => (
          <>
            <div class="beside">
              <Select
                label={strings.refusalsCode}
                value={code}
                options={{
                  '': strings.refusalsAllCodes,
                  ...Object.fromEntries(
                    value.counts.map((each) => [
                      each.code,
                      strings.refusalsCodeCount(labelOf(each.code), groupedText(String(each.count))),
                    ]),
                  ),
                }}
                onSelect={(chosen) => navigate(urlWith({ code: chosen }))}
              />
              <Button text={strings.refusalsRefresh} class="plain" onClick={refusals.reload} />
            </div>
            <Table
              caption={strings.refusalsTable}
              columns={REFUSAL_COLUMNS}
              rows={value.refusals.filter((each) => code === '' || each.code === code)}
              csv="refusals"
              empty={
                <>
                  <p>{strings.refusalsEmpty}</p>
                  <Snippet line={infoCurl('{"type":"noSuchType"}')} />
                </>
              }
            />
          </>
        )}
      </QueryView>
    </section>
  )
}

type WebhookEvent = Webhook['events'][number]

const EVENT_COLUMNS: readonly Column<WebhookEvent>[] = [
  { name: strings.webhookColumnsTime, text: ({ created }) => timeText(created) },
  {
    name: strings.webhookColumnsThreshold,
    text: ({ type, threshold }) => (threshold === null ? labelOf(type) : strings.webhookCreditsBelow(threshold)),
  },
  { name: strings.webhookColumnsState, text: ({ state }) => labelOf(state) },
  numberColumn(strings.webhookColumnsAttempts, ({ attempts }) => attempts),
  { name: strings.webhookColumnsResponse, text: ({ last }) => last ?? '' },
  { name: strings.webhookColumnsEvent, text: ({ id }) => id, render: ({ id }) => <code>{id}</code> },
]

export function WebhookSection({ account }: { account: Account | null }) {
  const webhook = useAccountQuery<Responses['ownWebhook']>(() => '/platform/webhook/')
  const isEditing = useSignal(false)
  const testOutcome = useSignal<string | null>(null)
  const secret = useSignal<string | null>(null)
  const isNone = webhook.value.value?.webhook === null
  const value = webhook.value.value?.webhook ?? null
  const test = async () => {
    const result = await request<Responses['testOwnWebhook']>('POST', '/platform/webhook/test')
    if (!result.ok) testOutcome.value = result.error.message
    else
      testOutcome.value = result.value.delivered
        ? strings.webhookDelivered(result.value.answer)
        : strings.webhookNotDelivered(result.value.answer)
  }
  const clear = () => requestChange('DELETE', '/platform/webhook/', undefined, webhook.reload)
  const edit = () => {
    isEditing.value = true
  }
  const close = () => {
    isEditing.value = false
  }
  const saved = (newSecret: string | null) => {
    secret.value = newSecret
    close()
    webhook.reload()
  }
  return (
    <section>
      <h2>{strings.webhookTitle}</h2>
      <ErrorNote error={webhook.error.value} onRetry={webhook.reload} />
      {isNone && (
        <div class="empty">
          <p>{strings.webhookNone}</p>
          {account?.manages && <Button text={strings.webhookAdd} onClick={edit} />}
          <Snippet
            line={`curl -s -X PUT ${location.origin}/platform/webhook/ -H "Authorization: Bearer $WEIR_SERVICE_KEY" -H 'Content-Type: application/json' -d '{"url":"https://example.com/hook"}'`}
          />
        </div>
      )}
      {value && (
        <>
          <p>
            <code>{value.url}</code>
            {strings.webhookNotified(value.thresholds.join(', '))}
            {value.armed.length > 0 && strings.webhookNext(value.armed.join(', '))}.
          </p>
          {account?.manages && (
            <p class="beside">
              <Button text={strings.webhookTest} onClick={test} />
              <Button text={strings.webhookEdit} onClick={edit} />
              <ConfirmButton
                buttonLabel={strings.webhookRemove}
                kind="danger"
                action={strings.webhookRemove}
                name={strings.webhookRemoveName}
                onConfirm={clear}
              >
                <p>{strings.webhookRemoveText}</p>
              </ConfirmButton>
              <span role="status">{testOutcome.value}</span>
            </p>
          )}
          <Table
            caption={strings.webhookTable}
            columns={EVENT_COLUMNS}
            rows={value.events}
            csv="webhook-events"
            empty={strings.webhookEmpty}
          />
        </>
      )}
      {isEditing.value && <WebhookForm known={value} onDone={saved} onClose={close} />}
      {secret.value && (
        <Dialog title={strings.webhookSecretTitle} onClose={() => (secret.value = null)}>
          <p>{strings.webhookSecretText}</p>
          <Snippet line={secret.value} />
        </Dialog>
      )}
    </section>
  )
}

interface FormProps {
  readonly known: Webhook | null
  readonly onDone: (secret: string | null) => void
  readonly onClose: () => void
}

function WebhookForm({ known, onDone, onClose }: FormProps) {
  const url = useSignal(known?.url ?? '')
  const thresholds = useSignal(known?.thresholds.join(' ') ?? '20% 5%')
  const isNew = useSignal(false)
  const send = () => {
    const list = thresholds.value.split(/[\s,]+/).filter((each) => each !== '')
    const body = { url: url.value.trim(), thresholds: list, new_secret: isNew.value }
    return requestChange<Responses['setOwnWebhook']>('PUT', '/platform/webhook/', body, ({ secret }) => onDone(secret))
  }
  return (
    <Dialog title={strings.webhookTitle} submitLabel={strings.webhookSave} onSend={send} onClose={onClose}>
      <Field
        label={strings.webhookUrl}
        hint={strings.webhookUrlHint}
        value={url.value}
        onText={(text) => (url.value = text)}
      />
      <Field
        label={strings.webhookThresholds}
        hint={strings.webhookThresholdsHint}
        value={thresholds.value}
        onText={(text) => (thresholds.value = text)}
      />
      {known && (
        <label class="inline">
          <input
            type="checkbox"
            checked={isNew.value}
            onChange={(event) => (isNew.value = event.currentTarget.checked)}
          />{' '}
          {strings.webhookNewSecret}
        </label>
      )}
    </Dialog>
  )
}
