// Where the account is told that its credits run low, and what came of it.

import { useSignal } from '@preact/signals'
import type { Answers } from '../answers.ts'
import { ask, change } from '../ask.dom.ts'
import { Act, Dialog, Field } from '../ui/dialog.tsx'
import { Curl, TroubleNote } from '../ui/parts.tsx'
import { type Column, numberColumn, Table } from '../ui/table.tsx'
import { timeText } from '../ui/text.ts'
import type { Account, Webhook } from './answers.ts'
import { useOwn } from './own.dom.ts'

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
          {account?.manages && (
            <button type="button" onClick={begin}>
              Set a webhook
            </button>
          )}
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
              <button type="button" onClick={test}>
                Send a test
              </button>
              <button type="button" onClick={begin}>
                Change
              </button>
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
