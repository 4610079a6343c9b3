// The step with filter and SQL, and a preview of the rows that they leave.

import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { request } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { Select } from '../ui/form.tsx'
import { groupedText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { Reserved } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'
import { refreshAll } from './account-data.dom.ts'
import { cellText, errorAt, previewColumns, rowsBody, type TopicOption } from './pipeline-draft.ts'
import { StepButtons, TextArea } from './pipeline-step-parts.tsx'
import type { Wizard } from './pipeline-wizard-state.dom.ts'
import * as strings from './pipeline-wizard-strings.ts'

type StepProps = Wizard & { readonly topic: TopicOption }

export function RowsStep(wizard: StepProps) {
  const { draft, topic, errors, change, failAt, go } = wizard
  const submit = (event: Event) => {
    event.preventDefault()
    const read = rowsBody(draft.value)
    if (read.ok) go('destination')
    else failAt(read.errors)
  }
  return (
    <form onSubmit={submit}>
      <section class="card">
        <h2>{strings.filterLabel}</h2>
        <FilterFields {...wizard} />
        {topic.topic === 'evm_logs' && (
          <>
            <TextArea
              label={strings.contractsLabel}
              hint={strings.contractsHint}
              value={draft.value.contracts}
              error={errorAt(errors.value, 'abi_contract_addresses')}
              onText={(contracts) => change({ contracts })}
            />
            <TextArea
              label={strings.abiLabel}
              hint={strings.abiHint}
              value={draft.value.abi}
              error={errorAt(errors.value, 'abi_file')}
              onText={(abi) => change({ abi })}
            />
            <p>
              <Select
                label={strings.unmatchedLabel}
                value={draft.value.unmatched}
                options={strings.unmatchedOptions}
                onSelect={(unmatched) => change({ unmatched })}
              />
            </p>
          </>
        )}
      </section>
      <SqlFields {...wizard} />
      <Preview {...wizard} />
      <StepButtons onBack={() => go('topic')} submitLabel={strings.next} />
    </form>
  )
}

/** The filter of a new choice is an example that is valid as it is. */
function FilterFields({ draft, topic, errors, change }: StepProps) {
  const { filter } = draft.value
  const type = topic.filters.find((each) => filter.includes(JSON.stringify(each.type)))?.type ?? ''
  const types = Object.fromEntries(topic.filters.map((each) => [each.type, each.type]))
  const choose = (next: string) => {
    const { example } = topic.filters.find((each) => each.type === next) ?? {}
    change({ filter: example === undefined ? '' : JSON.stringify(example, null, 2) })
  }
  const error = errorAt(errors.value, 'filter')
  return (
    <>
      <p class="beside">
        <Select
          label={strings.filterLabel}
          value={type}
          options={{ '': strings.filterAll, ...types }}
          onSelect={choose}
        />
        <a href="/docs/pipelines#topics" target="_blank" rel="noreferrer">
          {strings.filterDocs}
        </a>
      </p>
      {filter === '' ? (
        error && <p class="wrong">{error}</p>
      ) : (
        <TextArea
          label={strings.filterJson}
          hint={strings.filterHint}
          value={filter}
          error={error}
          onText={(text) => change({ filter: text })}
        />
      )}
    </>
  )
}

function SqlFields({ draft, topic, errors, change }: StepProps) {
  const { sql } = draft.value
  const set = (at: number, fields: Partial<(typeof sql)[number]>) =>
    change({ sql: sql.map((each, i) => (i === at ? { ...each, ...fields } : each)) })
  const add = () => {
    const source = sql.at(-1)?.name ?? topic.topic
    const name = sql.length === 0 ? 'result' : `result_${sql.length + 1}`
    change({ sql: [...sql, { name, text: `SELECT * FROM ${source}` }] })
  }
  const shared = errorAt(errors.value, 'transforms')
  const isPlaced = sql.some(({ name }) => errors.value[`transforms.${name}`] !== undefined)
  return (
    <section class="card">
      <h2>{strings.sqlTitle}</h2>
      <p>{strings.sqlText}</p>
      <p class="soft">
        {strings.sqlColumns}: <code>{topic.columns.join(', ')}</code>
      </p>
      {sql.map(({ name, text }, at) => (
        <div class="statement" key={at}>
          <SqlName value={name} onText={(next) => set(at, { name: next })} />
          <Button
            text={strings.sqlRemoveShort}
            class="plain"
            aria-label={strings.sqlRemove(name)}
            onClick={() => change({ sql: sql.filter((_, i) => i !== at) })}
          />
          <TextArea
            label={strings.sqlStatement(name)}
            value={text}
            error={errorAt(errors.value, `transforms.${name}`)}
            onText={(next) => set(at, { text: next })}
          />
        </div>
      ))}
      {shared && !isPlaced && <p class="wrong">{shared}</p>}
      <Button text={strings.sqlAdd} onClick={add} />
    </section>
  )
}

function SqlName({ value, onText }: { readonly value: string; readonly onText: (text: string) => void }) {
  const id = useId()
  return (
    <p>
      <label for={id}>{strings.sqlName}</label>
      <input
        id={id}
        value={value}
        required
        pattern="[A-Za-z]\w{0,62}"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    </p>
  )
}

function Preview(wizard: StepProps) {
  const { draft, preview, errors, fail, failAt } = wizard
  const isBusy = useSignal(false)
  const read = rowsBody(draft.value)
  const current = read.ok ? JSON.stringify(read.body) : ''
  const load = async () => {
    if (isBusy.value) return
    if (!read.ok) return failAt(read.errors)
    isBusy.value = true
    const result = await request<Responses['previewPipeline']>('POST', '/platform/pipeline-api/preview/', read.body)
    isBusy.value = false
    if (!result.ok) {
      preview.value = null
      return fail(result.error)
    }
    errors.value = {}
    preview.value = { of: current, value: result.value }
    refreshAll()
  }
  const shown = preview.value
  return (
    <section class="card">
      <div class="title">
        <h2>{strings.previewTitle}</h2>
        <Button text={strings.previewButton} disabled={isBusy.value} onClick={load} />
      </div>
      <p class="soft" role="status">
        {isBusy.value ? strings.previewBusy : shown === null ? strings.previewText : previewSummary(shown.value)}
        {shown !== null && shown.of !== current && <b> {strings.previewStale}</b>}
      </p>
      <Reserved height={shown === null && !isBusy.value ? 0 : 380} isLoading={isBusy.value && shown === null}>
        {shown !== null && shown.value.rows.length > 0 && (
          <Table
            caption={strings.previewTitle}
            columns={previewColumns(shown.value.rows).map((name) => ({
              name,
              text: (row) => cellText((row as Readonly<Record<string, unknown>>)[name]),
            }))}
            rows={[...shown.value.rows].reverse()}
            empty=""
          />
        )}
      </Reserved>
    </section>
  )
}

function previewSummary({ rows, read, from, to }: Responses['previewPipeline']): string {
  if (from === null || to === null) return strings.previewNoBlocks
  const [count, first, last] = [read, from, to].map((value) => groupedText(String(value))) as [string, string, string]
  return rows.length === 0
    ? strings.previewNone(count, first, last)
    : strings.previewSummary(rows.length, count, first, last)
}
