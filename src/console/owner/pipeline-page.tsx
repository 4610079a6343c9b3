// One pipeline: status, rows per minute, log, and the actions that need no form.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { navigate, pageUrl } from '../address.dom.ts'
import { nowMs } from '../clock.dom.ts'
import type { Query } from '../queries.dom.ts'
import { requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { detailName } from '../shell.tsx'
import { Chart, type ChartPoint, HEIGHT, WIDTH } from '../ui/chart.tsx'
import { axisSteps } from '../ui/chart-scale.ts'
import { ConfirmButton, Dialog } from '../ui/dialog.tsx'
import { compactText, durationText, groupedText, sizeText, timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { Figures, QueryView, SummaryList } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { heartbeat, useAccountQuery } from './account-data.dom.ts'
import { BackfillSection } from './pipeline-backfill.tsx'
import { minuteColumns, phaseTone } from './pipeline-state.ts'
import { nameOf } from './pipeline-wizard-strings.ts'
import * as pipelinesStrings from './pipelines-strings.ts'

type Pipeline = Responses['showPipeline']
type Status = Responses['pipelineStatus']

const MINUTES = 60

export function PipelinePage({ id }: { readonly id: string }) {
  const path = `/platform/pipeline-api/${encodeURIComponent(id)}/`
  const pipeline = useAccountQuery<Pipeline>(() => path)
  const status = useAccountQuery<Status>(() => {
    void heartbeat.value
    return `${path}status/`
  })
  const metrics = useAccountQuery<Responses['pipelineMetrics']>(() => `${path}metrics/?minutes=${MINUTES}`)
  const logs = useAccountQuery<Responses['pipelineLogs']>(() => `${path}logs/?limit=100`)
  const known = pipeline.value.value
  const name = known?.name
  useEffect(() => {
    if (name !== undefined) detailName.value = { of: id, text: name }
  }, [id, name])
  const reload = () => {
    for (const query of [pipeline, status, metrics, logs]) query.reload()
  }
  return (
    <>
      <div class="title">
        <h1>{name ?? id}</h1>
        {known && <Actions pipeline={known} status={status} path={path} onDone={reload} />}
      </div>
      <QueryView query={status} height={102}>
        {(value) => <StatusFigures status={value} />}
      </QueryView>
      <section class="card">
        <div class="title">
          <h2>{pipelinesStrings.pipelinesRows}</h2>
          <Button text={pipelinesStrings.pipelinesRefresh} class="plain" onClick={reload} />
        </div>
        <QueryView query={metrics} height={216}>
          {({ items }) => <RowsChart items={items} />}
        </QueryView>
      </section>
      <h2>{pipelinesStrings.pipelinesLog}</h2>
      <QueryView query={logs} height={200}>
        {({ items }) => (
          <Table
            caption={pipelinesStrings.pipelinesLog}
            columns={LOG_COLUMNS}
            rows={items}
            rowKey={(line) => String(line.id)}
            csv={`${id}-log`}
            empty={pipelinesStrings.pipelinesNoLog}
          />
        )}
      </QueryView>
      <QueryView query={pipeline} height={120}>
        {(value) => <Definition pipeline={value} />}
      </QueryView>
      <BackfillSection path={path} />
    </>
  )
}

function StatusFigures({ status }: { readonly status: Status }) {
  const { phase, height, lag_ms: lagMs, rows, bytes, dead_letters: dead, pause_reason: reason } = status
  const { last_error: error, last_incident: incident, next_try: next } = status
  const count = (value: number | null) => (value === null ? '–' : groupedText(String(value)))
  return (
    <>
      <Figures
        figures={[
          {
            name: pipelinesStrings.pipelinesColumnsState,
            value: (
              <>
                <span class={`dot ${phaseTone(phase)}`} aria-hidden="true" />
                {labelOf(phase)}
              </>
            ),
            note: status.in_step ? undefined : pipelinesStrings.pipelinesSyncing,
          },
          {
            name: pipelinesStrings.pipelinesLagTitle,
            value: lagMs === null ? '–' : durationText(lagMs),
            note: height === null ? undefined : pipelinesStrings.pipelinesHeight(groupedText(String(height))),
          },
          {
            name: pipelinesStrings.pipelinesRowsTotal,
            value: count(rows),
            note: bytes === null ? undefined : sizeText(bytes),
          },
          { name: pipelinesStrings.pipelinesDead, value: count(dead) },
        ]}
      />
      {reason && <p class="note trouble">{reason}</p>}
      {error && (
        <p class="note trouble" role="status">
          {pipelinesStrings.pipelinesFailing(error.message, timeText(Date.parse(error.since)))}
          {next && pipelinesStrings.pipelinesNextTry(timeText(Date.parse(next)))}
        </p>
      )}
      {!error && incident && (
        <p class="note">
          {pipelinesStrings.pipelinesRecovered(timeText(Date.parse(incident.recovered)), incident.message)}
        </p>
      )}
    </>
  )
}

function RowsChart({ items }: { readonly items: Responses['pipelineMetrics']['items'] }) {
  const columns = minuteColumns(items, MINUTES, nowMs())
  if (columns.every(({ rows, failures }) => rows + failures === 0))
    return <p class="soft">{pipelinesStrings.pipelinesNoRows}</p>
  const steps = axisSteps(Math.max(...columns.map(({ rows }) => rows)))
  const top = steps.at(-1) ?? 1
  const step = WIDTH / columns.length
  const middleOf = (i: number) => (i + 0.5) / columns.length
  const points: ChartPoint[] = columns.map(({ name, rows, failures, lagMs }, i) => ({
    at: middleOf(i),
    title: pipelinesStrings.pipelinesMinute(name),
    rows: [
      { name: pipelinesStrings.pipelinesRowsTotal, text: groupedText(String(rows)) },
      { name: pipelinesStrings.pipelinesFailures, text: String(failures) },
      ...(lagMs === null ? [] : [{ name: pipelinesStrings.pipelinesLagTitle, text: durationText(lagMs) }]),
    ],
  }))
  const marks = columns.flatMap(({ name }, i) => (i % 10 === 0 ? [{ at: middleOf(i), text: name }] : []))
  return (
    <Chart label={pipelinesStrings.pipelinesRows} steps={steps} stepText={compactText} marks={marks} points={points}>
      {columns.map(({ atMs, rows, failures }, i) => {
        const height = (rows / top) * HEIGHT
        return (
          <rect
            key={atMs}
            class={failures > 0 ? 'bar failed' : 'bar'}
            x={i * step + 1}
            y={HEIGHT - height}
            width={step - 2}
            height={height}
          />
        )
      })}
    </Chart>
  )
}

function Definition({ pipeline }: { readonly pipeline: Pipeline }) {
  const { topic, destination_type: type, destination_config: config, filter, transforms, charged_to: payer } = pipeline
  const { url, bucket, table, topic: queue } = config as Readonly<Record<string, string | undefined>>
  const target = [url, bucket, table, queue].filter(Boolean).join(' · ')
  return (
    <section class="card">
      <h2>{pipelinesStrings.pipelinesDefinition}</h2>
      <SummaryList
        of={[
          [pipelinesStrings.pipelinesColumnsTopic, nameOf(topic)],
          [pipelinesStrings.pipelinesColumnsDestination, [labelOf(type), target].filter(Boolean).join(': ')],
          [
            pipelinesStrings.pipelinesFilter,
            filter === null ? pipelinesStrings.pipelinesNoFilter : JSON.stringify(filter),
          ],
          [pipelinesStrings.pipelinesTransforms, Object.keys(transforms).join(', ') || '–'],
          [pipelinesStrings.pipelinesPayer, payer.display_name || payer.id],
        ]}
      />
    </section>
  )
}

type LogLine = Responses['pipelineLogs']['items'][number]

const LEVELS = { info: '', warn: 'near', error: 'high' } as const

const LOG_COLUMNS: readonly Column<LogLine>[] = [
  {
    name: pipelinesStrings.pipelinesLogTime,
    text: ({ time }) => timeText(Date.parse(time)),
    render: ({ time }) => <Time atMs={Date.parse(time)} />,
  },
  {
    name: pipelinesStrings.pipelinesLogLevel,
    text: ({ level }) => labelOf(level),
    render: ({ level }) => (
      <>
        <span class={`dot ${LEVELS[level]}`} aria-hidden="true" />
        {labelOf(level)}
      </>
    ),
  },
  {
    name: pipelinesStrings.pipelinesLogMessage,
    text: ({ message }) => message,
    render: ({ message }) => <span class="wrap">{message}</span>,
  },
  { name: pipelinesStrings.pipelinesLogBatch, text: ({ batch }) => batch ?? '' },
]

interface ActionsProps {
  readonly pipeline: Pipeline
  readonly status: Query<Status>
  readonly path: string
  readonly onDone: () => void
}

function Actions({ pipeline, status, path, onDone }: ActionsProps) {
  const pending = useSignal<'switch' | 'redeliver' | null>(null)
  const isRunning = pipeline.status === 'running'
  const label = isRunning ? pipelinesStrings.pipelinesPause : pipelinesStrings.pipelinesResume
  const dead = status.value.value?.dead_letters ?? 0
  const close = () => {
    pending.value = null
  }
  const done = () => {
    close()
    onDone()
  }
  const toggle = () => requestChange('PUT', path, { status: isRunning ? 'paused' : 'running' }, done)
  const redeliver = () => requestChange('POST', `${path}dead-letters/redeliver/`, undefined, done)
  const remove = () => requestChange('DELETE', path, undefined, () => navigate(pageUrl('pipelines')))
  return (
    <span class="beside">
      <Button text={label} onClick={() => (pending.value = 'switch')} />
      <Button
        text={pipelinesStrings.pipelinesEdit}
        onClick={() => navigate(pageUrl('pipelines', { id: pipeline.id, edit: 'rows' }))}
      />
      {dead > 0 && <Button text={pipelinesStrings.pipelinesRedeliver} onClick={() => (pending.value = 'redeliver')} />}
      <ConfirmButton
        buttonLabel={pipelinesStrings.pipelinesDelete}
        kind="danger"
        action={pipelinesStrings.pipelinesDelete}
        name={pipeline.name}
        onConfirm={remove}
      >
        <p>{pipelinesStrings.pipelinesDeleteText}</p>
      </ConfirmButton>
      {pending.value === 'switch' && (
        <Dialog title={`${label}: ${pipeline.name}`} submitLabel={label} onSend={toggle} onClose={close}>
          <p>{isRunning ? pipelinesStrings.pipelinesPauseText : pipelinesStrings.pipelinesResumeText}</p>
        </Dialog>
      )}
      {pending.value === 'redeliver' && (
        <Dialog
          title={pipelinesStrings.pipelinesRedeliver}
          submitLabel={pipelinesStrings.pipelinesRedeliver}
          onSend={redeliver}
          onClose={close}
        >
          <p>{pipelinesStrings.pipelinesRedeliverText(dead)}</p>
        </Dialog>
      )}
    </span>
  )
}
