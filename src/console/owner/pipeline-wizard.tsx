// Creates or edits a pipeline in steps. The step is in the address, and the draft outlives a reload. Invariants: a secret
// is only in memory, and no response shows it; errors of the API are shown at the field that they name.

import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { navigate, pageUrl, useParam } from '../address.dom.ts'
import { useQuery } from '../queries.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { Button } from '../ui/frame.tsx'
import { QueryView } from '../ui/parts.tsx'
import { DestinationStep } from './pipeline-destination-step.tsx'
import { draftSignal, dropDraft } from './pipeline-draft.dom.ts'
import {
  type Draft,
  draftOf,
  EMPTY_DRAFT,
  errorAt,
  type FieldErrors,
  fieldErrors,
  STEPS,
  type Step,
  stepOf,
  type TopicOption,
} from './pipeline-draft.ts'
import { RowsStep } from './pipeline-rows-step.tsx'
import { TestStep } from './pipeline-test-step.tsx'
import type { Wizard } from './pipeline-wizard-state.dom.ts'
import * as strings from './pipeline-wizard-strings.ts'
import type { Owner } from './section.ts'

interface WizardPageProps {
  readonly owner: Owner
  /** The pipeline to edit; empty: a new one. */
  readonly id: string
}

export function PipelineWizard({ owner, id }: WizardPageProps) {
  const options = useQuery<Responses['pipelineOptions']>(() => '/platform/pipeline-api/options/')
  const path = `/platform/pipeline-api/${encodeURIComponent(id)}/`
  const stored = useQuery<Responses['showPipeline']>(() => (id === '' ? null : path))
  return (
    <QueryView query={options} height={640}>
      {(known) =>
        id === '' ? (
          <Steps owner={owner} id="" start={EMPTY_DRAFT} options={known} title={strings.newTitle} />
        ) : (
          <QueryView query={stored} height={640}>
            {(pipeline) => (
              <Steps
                owner={owner}
                id={id}
                start={draftOf(pipeline)}
                options={known}
                title={strings.editTitle(pipeline.name)}
              />
            )}
          </QueryView>
        )
      }
    </QueryView>
  )
}

interface StepsProps extends WizardPageProps {
  readonly start: Draft
  readonly options: Responses['pipelineOptions']
  readonly title: string
}

function Steps({ owner, id, start, options, title }: StepsProps) {
  const isEdit = id !== ''
  const draft = useMemo(() => draftSignal(owner.account, id, start), [owner.account, id])
  const param = useParam(isEdit ? 'edit' : 'new').value
  const chosen = STEPS.find((each) => each === param) ?? 'topic'
  const topic = options.topics.find((each) => each.topic === draft.value.topic)
  const step = topic === undefined ? 'topic' : chosen
  const secret = useSignal('')
  const errors = useSignal<FieldErrors>({})
  const preview = useSignal<Wizard['preview']['value']>(null)
  const urlOf = (to: Step) => pageUrl('pipelines', isEdit ? { id, edit: to } : { new: to })
  const go = (to: Step) => {
    navigate(urlOf(to))
    scrollTo(0, 0)
  }
  const failAt = (found: FieldErrors) => {
    errors.value = found
    const at = stepOf(found)
    if (at !== null && at !== step) go(at)
  }
  const wizard: Wizard = {
    draft,
    secret,
    errors,
    options,
    preview,
    isEdit,
    change: (fields) => {
      draft.value = { ...draft.value, ...fields }
    },
    go,
    failAt,
    fail: ({ message, status }) => failAt(status === 400 ? fieldErrors(message) : { '': message }),
    leave: (to) => {
      dropDraft(owner.account, id)
      navigate(pageUrl('pipelines', to === null ? {} : { id: to }))
    },
  }
  return (
    <div class="wizard">
      <div class="title">
        <h1>{title}</h1>
        <Button text={strings.cancel} class="plain" onClick={() => wizard.leave(draft.value.id)} />
      </div>
      <nav aria-label={strings.stepsLabel}>
        <ol class="progress">
          {STEPS.map((each) => (
            <li key={each} aria-current={each === step ? 'step' : undefined}>
              {topic === undefined ? stepName(each, isEdit) : <Link to={urlOf(each)}>{stepName(each, isEdit)}</Link>}
            </li>
          ))}
        </ol>
      </nav>
      {errors.value[''] && (
        <p class="note trouble" role="alert">
          {errors.value['']}
        </p>
      )}
      {step === 'topic' && <TopicStep {...wizard} />}
      {step === 'rows' && topic && <RowsStep {...wizard} topic={topic} />}
      {step === 'destination' && topic && <DestinationStep {...wizard} topic={topic} />}
      {step === 'test' && topic && <TestStep {...wizard} />}
    </div>
  )
}

const stepName = (step: Step, isEdit: boolean) =>
  isEdit && step === 'test' ? strings.editLastStep : strings.stepNames[step]

function TopicStep({ draft, options, errors, isEdit, change, go }: Wizard) {
  const { topics, row_credits: row, minute_credits: minute } = options
  const groups = [...new Set(topics.map(({ group }) => group))]
  const error = errorAt(errors.value, 'topic')
  const submit = (event: Event) => {
    event.preventDefault()
    go('rows')
  }
  const choose =
    ({ topic }: TopicOption) =>
    () => {
      errors.value = {}
      change({ topic, filter: '', sql: [], ...(topic === draft.value.topic ? draft.value : {}) })
    }
  return (
    <form onSubmit={submit}>
      {isEdit && <p class="note">{strings.topicFixed}</p>}
      {error && <p class="note trouble">{error}</p>}
      <p class="lead">{strings.topicLegend}</p>
      {groups.map((group) => (
        <fieldset class="options" key={group} disabled={isEdit}>
          <legend>{strings.topicGroups[group]}</legend>
          {topics
            .filter((each) => each.group === group)
            .map((each) => (
              <label class="option" key={each.topic}>
                <input
                  type="radio"
                  name="topic"
                  value={each.topic}
                  required
                  checked={each.topic === draft.value.topic}
                  onChange={choose(each)}
                />
                <b>{strings.nameOf(each.topic)}</b>
                <span>{each.description}</span>
                <small>
                  {[
                    row && strings.topicPrice(row),
                    each.filter_required && strings.topicNeedsFilter,
                    !each.has_past && strings.topicNoPast,
                  ]
                    .filter(Boolean)
                    .join(' · ')}
                </small>
              </label>
            ))}
        </fieldset>
      ))}
      {row && minute && <p class="soft">{strings.prices(row, minute)}</p>}
      <p class="beside">
        <button type="submit" class="main">
          {strings.next}
        </button>
      </p>
    </form>
  )
}
