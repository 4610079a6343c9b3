// The webhook of an account, and the events that were delivered to it.

import { useSignal } from '@preact/signals'
import { request, requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { ConfirmButton, Dialog, Field } from '../ui/dialog.tsx'
import { timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { QueryView, Snippet } from '../ui/parts.tsx'
import { SecretDialog } from '../ui/secret-dialog.tsx'
import { labelOf } from '../ui/strings.ts'
import { type Column, numberColumn, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { refreshAll, useAccountQuery } from './account-data.dom.ts'
import * as strings from './alert-strings.ts'
import type { Webhook } from './responses.ts'

type WebhookEvent = Webhook['events'][number]

const EVENT_COLUMNS: readonly Column<WebhookEvent>[] = [
  {
    name: strings.webhookColumnsTime,
    text: ({ created }) => timeText(created),
    render: ({ created }) => <Time atMs={created} />,
  },
  {
    name: strings.webhookColumnsThreshold,
    text: ({ type, threshold }) => (threshold === null ? labelOf(type) : strings.webhookCreditsBelow(threshold)),
  },
  { name: strings.webhookColumnsState, text: ({ state }) => labelOf(state) },
  numberColumn(strings.webhookColumnsAttempts, ({ attempts }) => attempts),
  { name: strings.webhookColumnsResponse, text: ({ last }) => last ?? '' },
  { name: strings.webhookColumnsEvent, text: ({ id }) => id, render: ({ id }) => <code>{id}</code> },
]

export function WebhookCard() {
  const webhook = useAccountQuery<Responses['ownWebhook']>(() => '/platform/webhook/')
  const isEditing = useSignal(false)
  const secret = useSignal<string | null>(null)
  const value = webhook.value.value?.webhook ?? null
  const edit = () => {
    isEditing.value = true
  }
  const close = () => {
    isEditing.value = false
  }
  const saved = (newSecret: string | null) => {
    secret.value = newSecret
    close()
    refreshAll()
  }
  return (
    <section class="card">
      <h2>{strings.webhookTitle}</h2>
      <QueryView query={webhook} height={160}>
        {({ webhook: known }) =>
          known === null ? (
            <div class="empty">
              <p>{strings.webhookNone}</p>
              <p>
                <Button text={strings.webhookAdd} onClick={edit} />
              </p>
              <details>
                <summary>{strings.webhookCurl}</summary>
                <Snippet
                  line={`curl -s -X PUT ${location.origin}/platform/webhook/ -H "Authorization: Bearer $WEIR_SERVICE_KEY" -H 'Content-Type: application/json' -d '{"url":"https://example.com/hook"}'`}
                />
              </details>
            </div>
          ) : (
            <KnownWebhook known={known} onEdit={edit} onRemoved={refreshAll} />
          )
        }
      </QueryView>
      {isEditing.value && <WebhookForm known={value} onDone={saved} onClose={close} />}
      {secret.value && (
        <SecretDialog
          title={strings.webhookSecretTitle}
          text={strings.webhookSecretText}
          secret={secret.value}
          onClose={() => (secret.value = null)}
        />
      )}
    </section>
  )
}

/** Whether some thresholds were passed, so that the next event is not at the first one. */
const isPartlyArmed = ({ armed, thresholds }: Webhook) => armed.length > 0 && armed.length < thresholds.length

interface KnownWebhookProps {
  readonly known: Webhook
  readonly onEdit: () => void
  readonly onRemoved: () => void
}

function KnownWebhook({ known, onEdit, onRemoved }: KnownWebhookProps) {
  const testOutcome = useSignal<string | null>(null)
  const test = async () => {
    const result = await request<Responses['testOwnWebhook']>('POST', '/platform/webhook/test')
    if (!result.ok) testOutcome.value = result.error.message
    else
      testOutcome.value = result.value.delivered
        ? strings.webhookDelivered(result.value.answer)
        : strings.webhookNotDelivered(result.value.answer)
  }
  const clear = () => requestChange('DELETE', '/platform/webhook/', undefined, onRemoved)
  return (
    <>
      <p>
        <code>{known.url}</code>
        {strings.webhookNotified(known.thresholds.join(', '))}
        {isPartlyArmed(known) && strings.webhookNext(known.armed.join(', '))}.
      </p>
      <p class="beside">
        <Button text={strings.webhookTest} onClick={test} />
        <Button text={strings.webhookEdit} onClick={onEdit} />
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
      <Table
        caption={strings.webhookTable}
        columns={EVENT_COLUMNS}
        rows={known.events}
        csv="webhook-events"
        empty={strings.webhookEmpty}
      />
    </>
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
    <Dialog title={strings.webhookFormTitle} submitLabel={strings.webhookSave} onSend={send} onClose={onClose}>
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
