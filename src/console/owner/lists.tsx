// Lists of an account: open streams with their price per minute, recent refusals of its keys, and the low-balance webhook with
// its deliveries.

import { useSignal } from '@preact/signals'
import { addressWith, go, useParam } from '../address.dom.ts'
import type { Answers } from '../answers.ts'
import { ask, change } from '../ask.dom.ts'
import { Act, Dialog, Field } from '../ui/dialog.tsx'
import { Choice } from '../ui/form.tsx'
import { Button } from '../ui/frame.tsx'
import { Answered, Curl, infoLine, TroubleNote } from '../ui/parts.tsx'
import { amountColumn, type Column, numberColumn, Table } from '../ui/table.tsx'
import { groupedText, timeText } from '../ui/text.ts'
import type { Account, Refusals, Streams, Webhook } from './answers.ts'
import { useOwn } from './own.dom.ts'

type Stream = Streams['streams'][number]

const STREAMS: readonly Column<Stream>[] = [
  { name: 'Channel', text: ({ type }) => type },
  { name: 'Body', text: ({ body }) => body, draw: ({ body }) => <code>{body}</code> },
  { name: 'Key', text: ({ prefix }) => prefix ?? '' },
  { name: 'Since, UTC', text: ({ since }) => timeText(since) },
  amountColumn('Credits a minute', ({ credits_a_minute: price }) => price),
]

export function StreamList() {
  const streams = useOwn<Streams>(() => '/platform/streams/')
  return (
    <section>
      <h2>Open sockets and subscriptions</h2>
      <Answered of={streams}>
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
              columns={STREAMS}
              rows={value.streams}
              csv="streams"
              empty={
                <>
                  <p>Nothing is open. A book in a terminal:</p>
                  <Curl line={`npm run watch -- BTC --url ${location.origin} --key $WEIR_KEY`} />
                </>
              }
            />
          </>
        )}
      </Answered>
    </section>
  )
}

type Refusal = Refusals['refusals'][number]

const REFUSALS: readonly Column<Refusal>[] = [
  { name: 'Time, UTC', text: ({ at }) => timeText(at) },
  { name: 'Key', text: ({ prefix }) => prefix },
  { name: 'Product', text: ({ product }) => product },
  { name: 'Type', text: ({ type }) => type },
  { name: 'Code', text: ({ code }) => code },
  { name: 'Reason', text: ({ message }) => message, draw: ({ message }) => <span class="wrap">{message}</span> },
  { name: 'Request', text: ({ request_id: id }) => id, draw: ({ request_id: id }) => <code>{id}</code> },
]

export function RefusalList() {
  const refusals = useOwn<Refusals>(() => '/platform/refusals/')
  const code = useParam('code').value
  return (
    <section>
      <h2>Refusals</h2>
      <Answered of={refusals}>
        {(value) => (
          <>
            <div class="beside">
              <Choice
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
                onChoose={(chosen) => go(addressWith({ code: chosen }))}
              />
              <Button text="Look again" class="plain" onClick={refusals.reload} />
            </div>
            <Table
              caption="The last fifty refusals"
              columns={REFUSALS}
              rows={value.refusals.filter((each) => code === '' || each.code === code)}
              csv="refusals"
              empty={
                <>
                  <p>There are none. One to see how it looks, some seconds later:</p>
                  <Curl line={infoLine('{"type":"noSuchType"}')} />
                </>
              }
            />
          </>
        )}
      </Answered>
    </section>
  )
}

type Event = Webhook['events'][number]

const COLUMNS: readonly Column<Event>[] = [
  { name: 'Time, UTC', text: ({ created }) => timeText(created) },
  { name: 'About', text: ({ type, threshold }) => (threshold === null ? type : `credits below ${threshold}`) },
  { name: 'State', text: ({ state }) => state.replace('_', ' ') },
  numberColumn('Attempts', ({ attempts }) => attempts),
  { name: 'Answer', text: ({ last }) => last ?? '' },
  { name: 'Event', text: ({ id }) => id, draw: ({ id }) => <code>{id}</code> },
]

export function WebhookSection({ account }: { account: Account | null }) {
  const webhook = useOwn<Answers['ownWebhook']>(() => '/platform/webhook/')
  const isSetting = useSignal(false)
  const said = useSignal<string | null>(null)
  const secret = useSignal<string | null>(null)
  const isNone = webhook.value.value?.webhook === null
  const value = webhook.value.value?.webhook ?? null
  const test = async () => {
    const answer = await ask<Answers['testOwnWebhook']>('POST', '/platform/webhook/test')
    if (!answer.ok) said.value = answer.error.message
    else said.value = `The test ${answer.value.delivered ? 'arrived' : 'did not arrive'}: ${answer.value.answer}.`
  }
  const clear = () => change('DELETE', '/platform/webhook/', undefined, webhook.reload)
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
      <TroubleNote trouble={webhook.trouble.value} again={webhook.reload} />
      {isNone && (
        <div class="empty">
          <p>Nobody is told when credits run low.</p>
          {account?.manages && <Button text="Set a webhook" onClick={begin} />}
          <Curl
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
              <Act text="Clear" kind="danger" act="Clear the webhook" name="webhook" onConfirm={clear}>
                <p>What was not delivered is dropped, and a new one gets another secret.</p>
              </Act>
              <span role="status">{said.value}</span>
            </p>
          )}
          <Table
            caption="The last hundred events"
            columns={COLUMNS}
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
          <Curl line={secret.value} />
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
    return change<Answers['setOwnWebhook']>('PUT', '/platform/webhook/', order, ({ secret }) => onDone(secret))
  }
  return (
    <Dialog title="Webhook" act="Set" onSend={send} onClose={onClose}>
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
