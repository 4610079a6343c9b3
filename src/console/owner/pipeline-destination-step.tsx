// The step with the destination. Its fields are those of the schema that the API validates with.

import { useSignal } from '@preact/signals'
import { Select } from '../ui/form.tsx'
import { Button } from '../ui/frame.tsx'
import { CopyButton } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { type DestinationField, errorAt, type TopicOption } from './pipeline-draft.ts'
import { StepButtons, TextInput } from './pipeline-step-parts.tsx'
import type { Wizard } from './pipeline-wizard-state.dom.ts'
import * as strings from './pipeline-wizard-strings.ts'

export function DestinationStep(wizard: Wizard & { readonly topic: TopicOption }) {
  const { draft, secret, errors, options, topic, isEdit, change, go } = wizard
  const { name, type, onFailure } = draft.value
  const fields = options.destinations.find((each) => each.type === type)?.fields ?? []
  const submit = (event: Event) => {
    event.preventDefault()
    // Choices show their first value from the beginning.
    const config = fields.flatMap((field) => (field.options ? [[field.name, field.options[0] ?? '']] : []))
    change({ config: { ...Object.fromEntries(config), ...draft.value.config } })
    errors.value = {}
    go('test')
  }
  const choose = (next: string) => () => {
    secret.value = ''
    change({ type: next, config: {}, hasSecret: false })
  }
  const shared = errorAt({ destination_config: errors.value.destination_config ?? '' }, 'destination_config')
  return (
    <form onSubmit={submit}>
      <TextInput
        label={strings.nameLabel}
        hint={strings.nameHint}
        value={name}
        error={errorAt(errors.value, 'name')}
        isRequired
        maxLength={100}
        onText={(next) => change({ name: next })}
      />
      <fieldset class="options">
        <legend>{strings.typeLegend}</legend>
        {options.destinations.map((each) => (
          <label class="option" key={each.type}>
            <input
              type="radio"
              name="type"
              value={each.type}
              checked={each.type === type}
              onChange={choose(each.type)}
            />
            <b>{labelOf(each.type)}</b>
            <span>{strings.typeTexts[each.type]}</span>
          </label>
        ))}
      </fieldset>
      <section class="card">
        <h2>{strings.connection}</h2>
        {shared && <p class="wrong">{shared}</p>}
        {fields.map((field) => (
          <ConfigField key={`${type} ${field.name}`} field={field} {...wizard} />
        ))}
      </section>
      <section class="card">
        <h2>{strings.delivery}</h2>
        {topic.has_past && (
          <Position
            label={strings.startLabel}
            options={strings.startOptions}
            textLabel={strings.startAt}
            value={draft.value.start}
            error={errorAt(errors.value, 'execution_start_from')}
            onText={(start) => change({ start })}
          />
        )}
        {isEdit && topic.has_past && <p class="soft">{strings.restarts}</p>}
        <Position
          label={strings.stopLabel}
          options={strings.stopOptions}
          textLabel={strings.stopAt}
          value={draft.value.stop}
          error={errorAt(errors.value, 'execution_stop_from') ?? errorAt(errors.value, 'execution_mode')}
          onText={(stop) => change({ stop })}
        />
        <p>
          <Select
            label={strings.failureLabel}
            value={onFailure}
            options={strings.failureOptions}
            onSelect={(next) => change({ onFailure: next })}
          />
        </p>
      </section>
      <StepButtons onBack={() => go('rows')} submitLabel={strings.next} />
    </form>
  )
}

type ConfigFieldProps = Wizard & { readonly field: DestinationField }

function ConfigField({ field, draft, secret, errors, change }: ConfigFieldProps) {
  const { name, kind, description, required, options } = field
  const value = draft.value.config[name] ?? ''
  const error = errorAt(errors.value, `destination_config.${name}`)
  const set = (text: string) => change({ config: { ...draft.value.config, [name]: text } })
  const label = strings.nameOf(name)
  if (options !== null)
    return (
      <p>
        <Select
          label={label}
          value={value || (options[0] ?? '')}
          options={Object.fromEntries(options.map((option) => [option, labelOf(option)]))}
          onSelect={set}
        />
      </p>
    )
  if (kind === 'switch')
    return (
      <p>
        <label class="inline check">
          <input
            type="checkbox"
            checked={value === 'true'}
            onChange={(event) => set(String(event.currentTarget.checked))}
          />{' '}
          {label}
        </label>{' '}
        <small>{plainText(description)}</small>
      </p>
    )
  const hint = [required ? null : strings.optional, plainText(description)].filter(Boolean).join(' · ')
  if (kind === 'secret')
    return <SecretField field={field} draft={draft} secret={secret} error={error} label={label} hint={hint} />
  return (
    <TextInput
      label={label}
      hint={hint}
      value={value}
      error={error}
      isRequired={required}
      onText={set}
      maxLength={2_048}
    />
  )
}

interface SecretFieldProps extends Pick<Wizard, 'draft' | 'secret'> {
  readonly field: DestinationField
  readonly error: string | null
  readonly label: string
  readonly hint: string
}

/** Signing secrets can be generated here. A generated one is shown until the step is left, because the server needs it. */
function SecretField({ field, draft, secret, error, label, hint }: SecretFieldProps) {
  const isGenerated = useSignal(false)
  const isStored = draft.value.hasSecret
  const generate = () => {
    const bytes = crypto.getRandomValues(new Uint8Array(32))
    secret.value = `whsec_${btoa(String.fromCharCode(...bytes))}`
    isGenerated.value = true
  }
  return (
    <>
      <TextInput
        label={label}
        hint={isStored ? strings.secretKept : hint.replace(/\. Returned as .*$/s, '')}
        type={isGenerated.value ? 'text' : 'password'}
        value={secret.value}
        error={error}
        isRequired={field.required && !isStored}
        maxLength={1_024}
        onText={(text) => {
          secret.value = text
        }}
      />
      {draft.value.type === 'webhook' && (
        <p class="beside">
          <Button text={strings.secretGenerate} onClick={generate} />
          {isGenerated.value && (
            <>
              <CopyButton text={secret.value} />
              <span class="soft">{strings.secretCopy}</span>
            </>
          )}
        </p>
      )}
    </>
  )
}

const plainText = (markdown: string) => markdown.replaceAll('`', '')

interface PositionProps {
  readonly label: string
  readonly options: Readonly<Record<string, string>>
  readonly textLabel: string
  readonly value: string
  readonly error: string | null
  readonly onText: (text: string) => void
}

/** A named position, or the text of another one. */
function Position({ label, options, textLabel, value, error, onText }: PositionProps) {
  const isText = useSignal(!(value in options))
  const choose = (next: string) => {
    isText.value = next === 'at'
    onText(next === 'at' ? '' : next)
  }
  return (
    <>
      <p>
        <Select label={label} value={isText.value ? 'at' : value} options={options} onSelect={choose} />
      </p>
      {isText.value && (
        <TextInput
          label={textLabel}
          hint={strings.positionHint}
          value={value}
          error={error}
          isRequired
          maxLength={40}
          onText={(text) => onText(text.trim())}
        />
      )}
      {!isText.value && error && <p class="wrong">{error}</p>}
    </>
  )
}
