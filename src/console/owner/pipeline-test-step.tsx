// The last step: a test of the destination, and the start. A new pipeline is stored as paused before its first test; the
// changes of an existing one are tested before they are saved.

import { useSignal } from '@preact/signals'
import { request } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { groupedText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { Reserved, SummaryList } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { refreshAll } from './account-data.dom.ts'
import { type Draft, pipelineBody } from './pipeline-draft.ts'
import type { Wizard } from './pipeline-wizard-state.dom.ts'
import * as strings from './pipeline-wizard-strings.ts'

type Result = Responses['testPipeline']

export function TestStep(wizard: Wizard) {
  const { draft, secret, options, isEdit, go } = wizard
  const { busy, result, test, finish } = useActions(wizard)
  const { id, type, hasSecret } = draft.value
  const isSecretNeeded = options.destinations
    .find((each) => each.type === type)
    ?.fields.some(({ kind, required }) => kind === 'secret' && required)
  const isSecretLost = isSecretNeeded === true && secret.value === '' && !hasSecret
  const isOff = busy.value !== null || isSecretLost
  return (
    <>
      <section class="card">
        <h2>{strings.summary}</h2>
        <Summary {...draft.value} />
        {isSecretLost && (
          <p class="note trouble">
            {strings.secretMissing}{' '}
            <Button text={strings.stepNames.destination} class="plain" onClick={() => go('destination')} />
          </p>
        )}
      </section>
      <section class="card">
        <div class="title">
          <h2>{strings.testTitle}</h2>
          <Button text={strings.testButton} disabled={isOff} onClick={test} />
        </div>
        <p>
          {strings.testText} {!isEdit && id === null && strings.testNewText}
        </p>
        <Reserved height={56} isLoading={busy.value === 'test'}>
          <div role="status">
            {busy.value === 'test' && <span class="unseen">{strings.testBusy}</span>}
            {result.value && <TestResult {...result.value} />}
          </div>
        </Reserved>
      </section>
      <p class="beside">
        <Button text={isEdit ? strings.save : strings.start} class="main" disabled={isOff} onClick={finish(!isEdit)} />
        {!isEdit && <Button text={strings.saveOnly} disabled={isOff} onClick={finish(false)} />}
        <Button text={strings.back} onClick={() => go('destination')} />
      </p>
    </>
  )
}

/** The requests of the step, one at a time. */
function useActions({ draft, secret, errors, options, isEdit, change, fail, failAt, leave }: Wizard) {
  const busy = useSignal<'test' | 'save' | null>(null)
  const result = useSignal<Result | null>(null)
  const body = () => {
    const destination = options.destinations.find(({ type }) => type === draft.value.type)
    const made = destination ? pipelineBody(draft.value, destination, secret.value) : null
    if (made?.ok) return made.body
    failAt(made?.errors ?? {})
    return null
  }
  /** Stores a new pipeline as paused, or its changes. Null: it was refused. */
  const store = async (): Promise<string | null> => {
    const fields = body()
    if (fields === null) return null
    const { id } = draft.value
    const answer =
      id === null
        ? await request<Responses['createPipeline']>('POST', '/platform/pipeline-api/', { ...fields, status: 'paused' })
        : await request<Responses['createPipeline']>('PATCH', `/platform/pipeline-api/${id}/`, fields)
    if (!answer.ok) {
      fail(answer.error)
      return null
    }
    change({ id: answer.value.id, hasSecret: draft.value.hasSecret || secret.value !== '' })
    refreshAll()
    return answer.value.id
  }
  const during = (what: 'test' | 'save', work: () => Promise<void>) => async () => {
    if (busy.value !== null) return
    busy.value = what
    errors.value = {}
    await work()
    busy.value = null
  }
  const test = during('test', async () => {
    result.value = null
    const changes = isEdit ? body() : {}
    const id = isEdit ? draft.value.id : await store()
    if (changes === null || id === null) return
    const answer = await request<Result>('POST', `/platform/pipeline-api/${id}/test/`, changes)
    if (answer.ok) result.value = answer.value
    else fail(answer.error)
    refreshAll()
  })
  const finish = (isStarted: boolean) =>
    during('save', async () => {
      const id = await store()
      if (id === null) return
      const path = `/platform/pipeline-api/${id}/`
      const answer = isStarted ? await request('PUT', path, { status: 'running' }) : null
      if (answer?.ok === false) fail(answer.error)
      else leave(id)
    })
  return { busy, result, test, finish }
}

function Summary({ name, topic, filter, sql, type, config }: Draft) {
  const target = [config.url, config.bucket, config.prefix, config.table, config.topic].filter(Boolean).join(' · ')
  return (
    <SummaryList
      of={[
        [strings.nameLabel, name],
        [strings.stepNames.topic, strings.nameOf(topic)],
        [strings.filterLabel, filter === '' ? strings.filterAll : filter.replaceAll(/\s+/g, ' ')],
        [strings.sqlTitle, strings.sqlCount(sql.length)],
        [strings.stepNames.destination, [labelOf(type), target].filter(Boolean).join(': ')],
      ]}
    />
  )
}

function TestResult({ ok, rows, ms, message }: Result) {
  const time = groupedText(String(Math.round(ms)))
  return (
    <p class={ok ? 'note' : 'note trouble'}>
      <span class={`dot ${ok ? 'fine' : 'high'}`} aria-hidden="true" />
      {ok ? strings.testOk(groupedText(String(rows)), time) : `${strings.testFailed(time)}. ${message}`}
    </p>
  )
}
