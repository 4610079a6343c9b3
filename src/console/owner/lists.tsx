// Lists of an account: open streams with their price per minute, recent refusals of its keys, and the low-balance webhook with
// its deliveries.

import { useSignal } from '@preact/signals'
import { navigate, urlWith, useParam } from '../address.dom.ts'
import { request, requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { ConfirmButton, Dialog, Field } from '../ui/dialog.tsx'
import { Select } from '../ui/form.tsx'
import { groupedText, timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { ErrorNote, infoCurl, QueryView, Snippet } from '../ui/parts.tsx'
import { amountColumn, type Column, numberColumn, Table } from '../ui/table.tsx'
import { useAccountQuery } from './account-data.dom.ts'
import type { Account, Refusals, Streams, Webhook } from './responses.ts'

type Stream = Streams['streams'][number]

const STREAM_COLUMNS: readonly Column<Stream>[] = [
  { name: 'Channel', text: ({ type }) => type },
  { name: 'Body', text: ({ body }) => body, render: ({ body }) => <code>{body}</code> },
  { name: 'Key', text: ({ prefix }) => prefix ?? '' },
  { name: 'Since, UTC', text: ({ since }) => timeText(since) },
  amountColumn('Credits a minute', ({ credits_a_minute: price }) => price),
]

export function StreamList() {
  const streams = useAccountQuery<Streams>(() => '/platform/streams/')
  return (
    <section>
      <h2>Open sockets and subscriptions</h2>
      <QueryView query={streams}>
        {(value) => (
          <>
            <p class="beside">
              <span>
                {value.sockets} sockets, {value.subscriptions} subscriptions, {groupedText(value.credits_a_minute)}{' '}
                credits a minute
              </span>
              <Button text="Look again" class="plain" onClick={streams.reload} />
            </p>
            <Table
              caption="Subscriptions that run, those that cost most first"
              columns={STREAM_COLUMNS}
              rows={value.streams}
              csv="streams"
              empty={
                <>
                  <p>Nothing is open. A book in a terminal:</p>
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
  { name: 'Time, UTC', text: ({ at }) => timeText(at) },
  { name: 'Key', text: ({ prefix }) => prefix },
  { name: 'Product', text: ({ product }) => product },
  { name: 'Type', text: ({ type }) => type },
  { name: 'Code', text: ({ code }) => code },
  { name: 'Reason', text: ({ message }) => message, render: ({ message }) => <span class="wrap">{message}</span> },
  { name: 'Request', text: ({ request_id: id }) => id, render: ({ request_id: id }) => <code>{id}</code> },
]

export function RefusalList() {
  const refusals = useAccountQuery<Refusals>(() => '/platform/refusals/')
  const code = useParam('code').value
  return (
    <section>
      <h2>Refusals</h2>
      <QueryView query={refusals}>
        {(value) => (
          <>
            <div class="beside">
              <Select
                label="Code"
                value={code}
                options={{
                  '': 'all',
                  ...Object.fromEntries(
                    value.counts.map((each) => [
                      each.code,
                      `${each.code} (${groupedText(String(each.count))} in 24 h)`,
                    ]),
                  ),
                }}
                onSelect={(chosen) => navigate(urlWith({ code: chosen }))}
              />
              <Button text="Look again" class="plain" onClick={refusals.reload} />
            </div>
            <Table
              caption="The last fifty refusals"
              columns={REFUSAL_COLUMNS}
              rows={value.refusals.filter((each) => code === '' || each.code === code)}
              csv="refusals"
              empty={
                <>
                  <p>There are none. One to see how it looks, some seconds later:</p>
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
  { name: 'Time, UTC', text: ({ created }) => timeText(created) },
  { name: 'About', text: ({ type, threshold }) => (threshold === null ? type : `credits below ${threshold}`) },
  { name: 'State', text: ({ state }) => state.replace('_', ' ') },
  numberColumn('Attempts', ({ attempts }) => attempts),
  { name: 'Answer', text: ({ last }) => last ?? '' },
  { name: 'Event', text: ({ id }) => id, render: ({ id }) => <code>{id}</code> },
]

export function WebhookSection({ account }: { account: Account | null }) {
  const webhook = useAccountQuery<Responses['ownWebhook']>(() => '/platform/webhook/')
  const isSetting = useSignal(false)
  const said = useSignal<string | null>(null)
  const secret = useSignal<string | null>(null)
  const isNone = webhook.value.value?.webhook === null
  const value = webhook.value.value?.webhook ?? null
  const test = async () => {
    const answer = await request<Responses['testOwnWebhook']>('POST', '/platform/webhook/test')
    if (!answer.ok) said.value = answer.error.message
    else said.value = `The test ${answer.value.delivered ? 'arrived' : 'did not arrive'}: ${answer.value.answer}.`
  }
  const clear = () => requestChange('DELETE', '/platform/webhook/', undefined, webhook.reload)
  const begin = () => {
    isSetting.value = true
  }
  const close = () => {
    isSetting.value = false
  }
  const set = (drawn: string | null) => {
    secret.value = drawn
    close()
    webhook.reload()
  }
  return (
    <section>
      <h2>Webhook</h2>
      <ErrorNote trouble={webhook.error.value} again={webhook.reload} />
      {isNone && (
        <div class="empty">
          <p>Nobody is told when credits run low.</p>
          {account?.manages && <Button text="Set a webhook" onClick={begin} />}
          <Snippet
            line={`curl -s -X PUT ${location.origin}/platform/webhook/ -H "Authorization: Bearer $WEIR_SERVICE_KEY" -H 'Content-Type: application/json' -d '{"url":"https://example.com/hook"}'`}
          />
        </div>
      )}
      {value && (
        <>
          <p>
            <code>{value.url}</code> is told below {value.thresholds.join(', ')}
            {value.armed.length > 0 && `; next: ${value.armed.join(', ')}`}.
          </p>
          {account?.manages && (
            <p class="beside">
              <Button text="Send a test" onClick={test} />
              <Button text="Change" onClick={begin} />
              <ConfirmButton
                buttonLabel="Clear"
                kind="danger"
                action="Clear the webhook"
                name="webhook"
                onConfirm={clear}
              >
                <p>What was not delivered is dropped, and a new one gets another secret.</p>
              </ConfirmButton>
              <span role="status">{said.value}</span>
            </p>
          )}
          <Table
            caption="The last hundred events"
            columns={EVENT_COLUMNS}
            rows={value.events}
            csv="webhook-events"
            empty="No event was due yet. Send a test."
          />
        </>
      )}
      {isSetting.value && <WebhookForm known={value} onDone={set} onClose={close} />}
      {secret.value && (
        <Dialog title="The secret, this once" onClose={() => (secret.value = null)}>
          <p>It signs the events, as Standard Webhooks has it. Copy it now.</p>
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
    const order = { url: url.value.trim(), thresholds: list, new_secret: isNew.value }
    return requestChange<Responses['setOwnWebhook']>('PUT', '/platform/webhook/', order, ({ secret }) => onDone(secret))
  }
  return (
    <Dialog title="Webhook" submitLabel="Set" onSend={send} onClose={onClose}>
      <Field label="Address" hint="https" value={url.value} onText={(text) => (url.value = text)} />
      <Field
        label="Thresholds"
        hint="credits, or per cent of the most of the period"
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
          draw another secret
        </label>
      )}
    </Dialog>
  )
}
