// The dialog that creates or edits a rule of an alert, with the rule as a sentence.

import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { nowMs } from '../clock.dom.ts'
import { requestChange } from '../request.dom.ts'
import { Dialog, Field } from '../ui/dialog.tsx'
import { Select } from '../ui/form.tsx'
import { useAccountQuery } from './account-data.dom.ts'
import { isActive } from './account-view.ts'
import {
  type ConditionFields,
  conditionFields,
  conditionInput,
  fieldsOf,
  ruleSentence,
  sentenceCase,
} from './alert-rule.ts'
import * as alertStrings from './alert-strings.ts'
import type { AlertRule, Alerts, Key, KeysPage } from './responses.ts'

interface RuleDialogProps {
  /** Null: a new rule. */
  readonly known: AlertRule | null
  readonly alerts: Alerts
  readonly onDone: () => void
  readonly onClose: () => void
}

const KEYS_SHOWN = 200
const TYPE_OPTIONS = Object.fromEntries(
  Object.entries(alertStrings.TYPES).map(([type, text]) => [type, sentenceCase(text)]),
)

/** State of the form: of a new rule, the first channel is chosen. */
function useRuleForm(known: AlertRule | null, alerts: Alerts) {
  return {
    name: useSignal(known?.name ?? ''),
    fields: useSignal(conditionFields(known?.condition)),
    isEnabled: useSignal(known?.enabled ?? true),
    webhook: useSignal(known?.webhook ?? (alerts.has_webhook && alerts.addresses.length === 0)),
    addresses: useSignal<readonly string[]>(known?.addresses ?? alerts.addresses.map(({ id }) => id).slice(0, 1)),
    cooldown: useSignal(String(known?.cooldown_minutes ?? 1_440)),
  }
}
type RuleForm = ReturnType<typeof useRuleForm>

const ruleInput = ({ name, fields, isEnabled, webhook, addresses, cooldown }: RuleForm) => ({
  name: name.value.trim() || sentenceCase(alertStrings.TYPES[fields.value.type] ?? ''),
  enabled: isEnabled.value,
  condition: conditionInput(fields.value),
  webhook: webhook.value,
  addresses: addresses.value,
  cooldown_minutes: Number(cooldown.value),
})

const channelNames = ({ webhook, addresses }: RuleForm, alerts: Alerts): readonly string[] => [
  ...alerts.addresses.flatMap(({ id, email }) => (addresses.value.includes(id) ? [email ?? id] : [])),
  ...(webhook.value ? [alertStrings.theWebhook] : []),
]

export function RuleDialog({ known, alerts, onDone, onClose }: RuleDialogProps) {
  const form = useRuleForm(known, alerts)
  const { name, fields, cooldown } = form
  const keys = useAccountQuery<KeysPage>(() => `/platform/keys/?limit=${KEYS_SHOWN}`)
  const set = (field: keyof ConditionFields) => (text: string) => {
    fields.value = { ...fields.value, [field]: text }
  }
  const send = () => {
    const path = '/platform/alerts/rules/'
    return known
      ? requestChange('PUT', `${path}${known.id}`, ruleInput(form), onDone)
      : requestChange('POST', path, ruleInput(form), onDone)
  }
  const channels = channelNames(form, alerts)
  const keyOptions = keyNames(keys.value.value?.keys ?? [], fields.value.key)
  return (
    <Dialog
      title={known ? alertStrings.formEdit(known.name) : alertStrings.formNew}
      submitLabel={known ? alertStrings.formSave : alertStrings.formCreate}
      isIncomplete={channels.length === 0}
      onSend={send}
      onClose={onClose}
    >
      <Field
        label={alertStrings.formName}
        hint={alertStrings.formNameHint}
        value={name.value}
        onText={(text) => (name.value = text)}
      />
      <p>
        <Select label={alertStrings.formType} value={fields.value.type} options={TYPE_OPTIONS} onSelect={set('type')} />
      </p>
      <div class="beside">
        {fieldsOf(fields.value.type).map((field) => (
          <ConditionField key={field} field={field} value={fields.value[field]} keys={keyOptions} onText={set(field)} />
        ))}
      </div>
      <Channels alerts={alerts} {...form} />
      <p>
        <Select
          label={alertStrings.formCooldown}
          value={cooldown.value}
          options={cooldownOptions(cooldown.value)}
          onSelect={(minutes) => (cooldown.value = minutes)}
        />
      </p>
      {known && <EnabledBox isEnabled={form.isEnabled} />}
      <p class="note" role="status">
        {channels.length === 0
          ? alertStrings.rulesNoChannelLeft
          : ruleSentence(fields.value, channels, keyOptions[fields.value.key] ?? fields.value.key.slice(0, 12))}
      </p>
    </Dialog>
  )
}

const EnabledBox = ({ isEnabled }: Pick<RuleForm, 'isEnabled'>) => (
  <label class="inline">
    <input
      type="checkbox"
      checked={isEnabled.value}
      onChange={(event) => (isEnabled.value = event.currentTarget.checked)}
    />{' '}
    {alertStrings.formEnabled}
  </label>
)

/** Names of active keys by hash, and of the key that the rule already has. */
function keyNames(keys: readonly Key[], chosen: string): Record<string, string> {
  const shown = keys.filter((key) => key.hash === chosen || isActive(key, nowMs()))
  const named = shown.map(({ hash, label, prefix }) => [hash, label === '' ? `${prefix}…` : `${label} (${prefix}…)`])
  return { '': alertStrings.allKeys, ...(chosen && { [chosen]: chosen.slice(0, 12) }), ...Object.fromEntries(named) }
}

const cooldownOptions = (chosen: string) =>
  Object.hasOwn(alertStrings.COOLDOWNS, chosen)
    ? alertStrings.COOLDOWNS
    : { ...alertStrings.COOLDOWNS, [chosen]: alertStrings.cooldownMinutes(Number(chosen)) }

interface ConditionFieldProps {
  readonly field: Exclude<keyof ConditionFields, 'type'>
  readonly value: string
  readonly keys: Readonly<Record<string, string>>
  readonly onText: (text: string) => void
}

function ConditionField({ field, value, keys, onText }: ConditionFieldProps) {
  const id = useId()
  const options = { statuses: alertStrings.STATUSES, minutes: alertStrings.WINDOWS, key: keys }
  const label = alertStrings.FIELD_LABELS[field]
  if (field === 'statuses' || field === 'minutes' || field === 'key')
    return <Select label={label} value={value} options={options[field]} onSelect={onText} />
  return (
    <span class="choice">
      <label for={id}>{label}</label>
      <input
        id={id}
        class="short"
        value={value}
        inputMode={field === 'threshold' ? 'text' : 'numeric'}
        autocomplete="off"
        onInput={(event) => onText(event.currentTarget.value)}
      />
      {field === 'threshold' && <small class="soft">{alertStrings.thresholdHint}</small>}
    </span>
  )
}

interface ChannelsProps extends Pick<RuleForm, 'webhook' | 'addresses'> {
  readonly alerts: Alerts
}

function Channels({ alerts, webhook, addresses }: ChannelsProps) {
  const toggle = (id: string) => () => {
    const { value } = addresses
    addresses.value = value.includes(id) ? value.filter((each) => each !== id) : [...value, id]
  }
  return (
    <fieldset>
      <legend>{alertStrings.formChannels}</legend>
      {alerts.addresses.map(({ id, email, state }) => (
        <label class="inline" key={id}>
          <input type="checkbox" checked={addresses.value.includes(id)} onChange={toggle(id)} /> {email ?? id}
          {state !== 'confirmed' && alertStrings.formPending}
        </label>
      ))}
      <label class="inline">
        <input
          type="checkbox"
          checked={webhook.value}
          disabled={!alerts.has_webhook && !webhook.value}
          onChange={(event) => (webhook.value = event.currentTarget.checked)}
        />{' '}
        {alertStrings.formWebhook}
        {!alerts.has_webhook && alertStrings.formNoWebhook}
      </label>
    </fieldset>
  )
}
