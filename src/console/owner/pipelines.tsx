// The pipelines of the account: their state and lag, the page of one pipeline, and the steps that create or edit one.

import { navigate, pageUrl, params, useParam } from '../address.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { durationText, timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { Lazy } from '../ui/lazy.tsx'
import { QueryView, Reserved } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { useAccountQuery } from './account-data.dom.ts'
import { PipelinePage } from './pipeline-page.tsx'
import { phaseTone } from './pipeline-state.ts'
import './pipelines.css'
import { nameOf } from './pipeline-wizard-strings.ts'
import * as pipelinesStrings from './pipelines-strings.ts'
import type { SectionProps } from './section.ts'
import * as strings from './strings.ts'

type Pipeline = Responses['listPipelines']['items'][number]

export function Pipelines({ owner }: SectionProps) {
  const id = useParam('id').value
  const isNew = params.value.has('new')
  const isWizard = isNew || (id !== '' && params.value.has('edit'))
  if (owner.kind !== 'service')
    return (
      <>
        <h1>{strings.pagesPipelines}</h1>
        <p class="note">{pipelinesStrings.pipelinesNeedService}</p>
      </>
    )
  if (isWizard)
    return (
      <Lazy
        key={isNew ? '' : id}
        load={loadWizard}
        props={{ owner, id: isNew ? '' : id }}
        fallback={<Reserved height={640} isLoading />}
      />
    )
  return id === '' ? <PipelineList /> : <PipelinePage id={id} key={id} />
}

const loadWizard = async () => (await import('./pipeline-wizard.tsx')).PipelineWizard

/** An account has at most this many pipelines. */
const PAGE_SIZE = 50

function PipelineList() {
  const pipelines = useAccountQuery<Responses['listPipelines']>(
    () => `/platform/pipeline-api/?page_number=0&page_size=${PAGE_SIZE}`,
  )
  return (
    <>
      <div class="title">
        <h1>{strings.pagesPipelines}</h1>
        <span class="beside">
          <a href="/docs/guides/pipelines">{pipelinesStrings.pipelinesGuide}</a>
          <Button
            text={pipelinesStrings.pipelinesNew}
            class="main"
            onClick={() => navigate(pageUrl('pipelines', { new: 'topic' }))}
          />
        </span>
      </div>
      <QueryView query={pipelines} height={240}>
        {({ items }) => (
          <Table
            caption={strings.pagesPipelines}
            columns={COLUMNS}
            rows={items}
            rowKey={({ id }) => id}
            csv="pipelines"
            empty={
              <p>
                {pipelinesStrings.pipelinesEmpty}{' '}
                <Link to={pageUrl('pipelines', { new: 'topic' })}>{pipelinesStrings.pipelinesFirst}</Link>
              </p>
            }
          />
        )}
      </QueryView>
    </>
  )
}

const COLUMNS: readonly Column<Pipeline>[] = [
  {
    name: pipelinesStrings.pipelinesColumnsName,
    text: ({ name }) => name,
    render: ({ id, name }) => <Link to={pageUrl('pipelines', { id })}>{name}</Link>,
  },
  {
    name: pipelinesStrings.pipelinesColumnsState,
    text: ({ status }) => labelOf(status),
    render: ({ id }) => <PipelineState id={id} />,
  },
  { name: pipelinesStrings.pipelinesColumnsTopic, text: ({ topic }) => nameOf(topic), isMinor: true },
  {
    name: pipelinesStrings.pipelinesColumnsDestination,
    text: ({ destination_type: type }) => labelOf(type),
    isMinor: true,
  },
  {
    name: pipelinesStrings.pipelinesColumnsCreated,
    text: ({ created_at: created }) => timeText(Date.parse(created)),
    render: ({ created_at: created }) => <Time atMs={Date.parse(created)} />,
    isMinor: true,
  },
]

/** The list has only desired states, so each row asks for its actual state and lag. */
function PipelineState({ id }: { readonly id: string }) {
  const status = useAccountQuery<Responses['pipelineStatus']>(() => `/platform/pipeline-api/${id}/status/`)
  const value = status.value.value
  if (value === null) return <span class="soft">{pipelinesStrings.pipelinesLoading}</span>
  return (
    <>
      <span class={`dot ${phaseTone(value.phase)}`} aria-hidden="true" />
      {labelOf(value.phase)}
      {value.lag_ms !== null && <span class="soft">{pipelinesStrings.pipelinesLag(durationText(value.lag_ms))}</span>}
      {value.last_error && (
        <p class="failing" title={value.last_error.message}>
          {value.last_error.message}
        </p>
      )}
    </>
  )
}
