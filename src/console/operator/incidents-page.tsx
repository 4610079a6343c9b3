// Incidents and planned maintenance: what the status page shows, and dialogs to post and update them.

import { type Signal, useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { hasRole, type StaffRole } from '../../accounts/staff.ts'
import { type IncidentKind, STATES_OF } from '../../monitor/incident-states.ts'
import type { Incident } from '../../monitor/incidents.ts'
import { usePagedQuery } from '../queries.dom.ts'
import { requestChange } from '../request.dom.ts'
import { COMPONENT_NAMES, INCIDENT_KIND_NAMES } from '../status/strings.ts'
import { ConfirmButton, Dialog, Field } from '../ui/dialog.tsx'
import { Select } from '../ui/form.tsx'
import { timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { DoneNote } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import type { Column } from '../ui/table.tsx'
import * as incidentStrings from './incident-strings.ts'
import { Rows } from './parts.tsx'
import * as strings from './strings.ts'

const PATH = '/admin/incidents'

const componentsText = ({ components }: Incident) => components.map((name) => COMPONENT_NAMES[name]).join(', ')

const COLUMNS: readonly Column<Incident>[] = [
  {
    name: incidentStrings.incidentsTitleColumn,
    text: ({ title }) => title,
    render: ({ id, title }) => <a href={`/status#incident-${id}`}>{title}</a>,
  },
  { name: incidentStrings.incidentsKind, text: ({ kind }) => INCIDENT_KIND_NAMES[kind] },
  { name: strings.commonState, text: ({ state }) => labelOf(state) },
  { name: incidentStrings.incidentsComponents, text: componentsText },
  {
    name: strings.commonUtc(incidentStrings.incidentsUpdated),
    text: ({ updates: [newest] }) => (newest === undefined ? '' : timeText(newest.at)),
  },
  { name: incidentStrings.incidentsMessage, text: ({ updates: [newest] }) => newest?.message ?? '' },
]

/** Subject of the dialog: a new incident of a kind, or an update of one. */
type Subject = { readonly kind: IncidentKind; readonly incident: Incident | null }

export function IncidentsPage({ role }: { role: StaffRole }) {
  const paged = usePagedQuery<Incident>('incidents', 'before', () => `${PATH}?limit=50`)
  const subject = useSignal<Subject | null>(null)
  const done = useSignal('')
  const changed = (text: string) => {
    done.value = text
    subject.value = null
    paged.reload()
  }
  const isOwner = hasRole(role, 'owner')
  const actions: Column<Incident> = {
    name: strings.commonActions,
    render: (incident) => (
      <>
        <Button
          text={incidentStrings.incidentsUpdate}
          class="plain"
          aria-label={incidentStrings.incidentsUpdateLabel(incident.title)}
          onClick={() => (subject.value = { kind: incident.kind, incident })}
        />
        <Remove incident={incident} onDone={changed} />
      </>
    ),
  }
  return (
    <>
      <div class="title">
        <h1>{strings.pagesIncidents}</h1>
        {isOwner && (
          <p class="beside">
            <Button
              text={incidentStrings.incidentsPlan}
              onClick={() => (subject.value = { kind: 'maintenance', incident: null })}
            />
            <Button
              text={incidentStrings.incidentsNew}
              class="main"
              onClick={() => (subject.value = { kind: 'incident', incident: null })}
            />
          </p>
        )}
      </div>
      <p>
        {incidentStrings.incidentsText}
        <a href="/status">{incidentStrings.incidentsStatusPage}</a>.
      </p>
      <DoneNote text={done} />
      <Rows
        caption={strings.pagesIncidents}
        paged={paged}
        columns={isOwner ? [...COLUMNS, actions] : COLUMNS}
        rowKey={({ id }) => String(id)}
        csv="incidents"
        empty={incidentStrings.incidentsEmpty}
      />
      {subject.value && <IncidentDialog {...subject.value} onDone={changed} onClose={() => (subject.value = null)} />}
    </>
  )
}

interface RemoveProps {
  readonly incident: Incident
  readonly onDone: (text: string) => void
}

function Remove({ incident: { id, title }, onDone }: RemoveProps) {
  return (
    <ConfirmButton
      buttonLabel={incidentStrings.incidentsRemove}
      label={incidentStrings.incidentsRemoveLabel(title)}
      action={incidentStrings.incidentsRemoveSubmit}
      name={String(id)}
      onConfirm={() =>
        requestChange('DELETE', `${PATH}/${id}`, undefined, () => onDone(incidentStrings.incidentsRemoved(title)))
      }
    >
      <p>{incidentStrings.incidentsRemoveText(title)}</p>
    </ConfirmButton>
  )
}

/** `2026-11-25T22:40` in UTC */
const fieldTime = (unixMs: number | null | undefined) => (unixMs ? new Date(unixMs).toISOString().slice(0, 16) : '')
const unixMs = (field: string) => (field === '' ? undefined : Date.parse(`${field}Z`))

/** The state that usually comes next. */
function nextState({ kind, incident }: Subject): string {
  const states: readonly string[] = STATES_OF[kind]
  if (incident === null) return states[0] ?? ''
  return states[Math.min(states.indexOf(incident.state) + 1, states.length - 1)] ?? ''
}

interface IncidentDialogProps extends Subject {
  readonly onDone: (text: string) => void
  readonly onClose: () => void
}

function IncidentDialog({ kind, incident, onDone, onClose }: IncidentDialogProps) {
  const title = useSignal('')
  const message = useSignal('')
  const state = useSignal(nextState({ kind, incident }))
  const components = useSignal<readonly string[]>([])
  const starts = useSignal(fieldTime(incident?.starts))
  const ends = useSignal(fieldTime(incident?.ends))
  const send = () => {
    const update = {
      state: state.value,
      message: message.value,
      starts: unixMs(starts.value),
      ends: unixMs(ends.value),
    }
    if (incident !== null)
      return requestChange('POST', `${PATH}/${incident.id}/updates`, update, () =>
        onDone(incidentStrings.incidentsUpdateDone(incident.title)),
      )
    const body = { kind, title: title.value, components: components.value, ...update }
    return requestChange('POST', PATH, body, () => onDone(incidentStrings.incidentsPosted(title.value)))
  }
  const isIncomplete = message.value.trim() === '' || (incident === null && title.value.trim() === '')
  return (
    <Dialog
      title={
        incident === null
          ? incidentStrings.incidentsNewTitles[kind]
          : incidentStrings.incidentsUpdateTitle(incident.title)
      }
      submitLabel={incidentStrings.incidentsPost}
      isIncomplete={isIncomplete}
      onSend={send}
      onClose={onClose}
    >
      {incident === null && (
        <>
          <Field
            label={incidentStrings.incidentsTitleField}
            value={title.value}
            onText={(text) => (title.value = text)}
          />
          <ComponentChecks chosen={components} />
        </>
      )}
      {kind === 'maintenance' && (
        <div class="window">
          <TimeField label={incidentStrings.incidentsStarts} value={starts} />
          <TimeField label={incidentStrings.incidentsEnds} value={ends} />
        </div>
      )}
      <p>
        <Select
          label={strings.commonState}
          value={state.value}
          options={Object.fromEntries(STATES_OF[kind].map((each) => [each, labelOf(each)]))}
          onSelect={(value) => (state.value = value)}
        />
      </p>
      <Message text={message} />
      <p class="soft">{incidentStrings.incidentsPublic}</p>
    </Dialog>
  )
}

function Message({ text }: { text: Signal<string> }) {
  const id = useId()
  return (
    <>
      <label for={id}>{incidentStrings.incidentsMessageField}</label>
      <textarea
        id={id}
        rows={5}
        maxLength={2_000}
        value={text.value}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      />
    </>
  )
}

/** Browsers show local times here, so the label says that the field is UTC. */
function TimeField({ label, value }: { label: string; value: Signal<string> }) {
  const id = useId()
  return (
    <p>
      <label for={id}>{label}</label>
      <input
        id={id}
        type="datetime-local"
        required
        value={value.value}
        onInput={({ currentTarget }) => (value.value = currentTarget.value)}
      />
    </p>
  )
}

function ComponentChecks({ chosen }: { chosen: Signal<readonly string[]> }) {
  return (
    <fieldset>
      <legend>{incidentStrings.incidentsComponents}</legend>
      {Object.entries(COMPONENT_NAMES).map(([name, text]) => (
        <label class="inline" key={name}>
          <input
            type="checkbox"
            checked={chosen.value.includes(name)}
            onChange={({ currentTarget }) => {
              const others = chosen.value.filter((each) => each !== name)
              chosen.value = currentTarget.checked ? [...others, name] : others
            }}
          />{' '}
          {text}
        </label>
      ))}
    </fieldset>
  )
}
