// The page /status for browsers: availability and incidents for customers, and below a fold what operators look for. Other
// clients get JSON at the same address.

import { useSignal } from '@preact/signals'
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import type { StatusHistory } from '../../monitor/history.ts'
import { useQuery } from '../queries.dom.ts'
import { timeText } from '../ui/format.ts'
import { Footer, Header } from '../ui/frame.tsx'
import { ErrorNote, Figures, QueryView } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { type Column, Table } from '../ui/table.tsx'
import { ComponentCard } from './component-history.tsx'
import { HISTORY } from './history-strings.ts'
import { type DayLevel, overallOf } from './history-view.ts'
import { IncidentCard } from './incident-list.tsx'
import { archiveFigure, BlockAges, Gaps, heightFigure, type Source, StateNote, useStatus } from './status-parts.tsx'
import { STATUS } from './strings.ts'

const REFRESH_MS = 60_000

function useHistory() {
  const history = useQuery<StatusHistory>(() => '/status/history.json')
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') history.reload()
    }, REFRESH_MS)
    return () => clearInterval(timer)
  }, [])
  return history
}

function StatusPage() {
  const history = useHistory()
  const value = history.value.value
  return (
    <>
      <Header home="/live" current="/status" links={['/live', '/console', '/docs', '/status']} />
      <main id="main" class="status">
        <h1>{STATUS.title}</h1>
        <ErrorNote error={history.error.value} onRetry={history.reload} />
        {value ? <Availability history={value} /> : <div class="waiting" />}
        <TechnicalDetails />
      </main>
      <Footer />
    </>
  )
}

function Availability({ history }: { history: StatusHistory }) {
  const { components, incidents } = history
  const overall = overallOf(history)
  const open = incidents.filter(({ closed }) => closed === null)
  const past = incidents.filter(({ closed }) => closed !== null)
  return (
    <>
      <p class={`overall ${overall.level}`} role="status">
        <b>{overall.text}</b> <span class="soft">{HISTORY.checked}</span>
      </p>
      {open.length > 0 && (
        <>
          <h2>{HISTORY.current}</h2>
          {open.map((incident) => (
            <IncidentCard key={incident.id} incident={incident} />
          ))}
        </>
      )}
      <h2>{HISTORY.uptimeTitle}</h2>
      {components.length === 0 ? (
        <p class="empty">{HISTORY.noHistory}</p>
      ) : (
        <>
          <div class="components">
            {components.map((component) => (
              <ComponentCard key={component.name} component={component} incidents={incidents} />
            ))}
          </div>
          <Legend />
        </>
      )}
      <h2>{HISTORY.past}</h2>
      {past.length === 0 ? (
        <p class="empty">{HISTORY.noPast}</p>
      ) : (
        past.map((incident) => <IncidentCard key={incident.id} incident={incident} />)
      )}
      <Sources history={history} />
    </>
  )
}

const LEVELS: readonly DayLevel[] = ['up', 'partial', 'outage', 'none']

function Legend() {
  return (
    <ul class="legend">
      {LEVELS.map((level) => (
        <li key={level}>
          <span class="days">
            <svg viewBox="0 0 10 10" aria-hidden="true">
              <rect class={level} width="10" height="10" />
            </svg>
          </span>
          {HISTORY.legend[level]}
        </li>
      ))}
    </ul>
  )
}

/** Where to subscribe, and how to check the figures. */
function Sources({ history: { bundle } }: { history: StatusHistory }) {
  return (
    <div class="sources soft">
      <p>
        <a href="/status/incidents.rss">{HISTORY.rss}</a> · <a href="/status/history.json">{HISTORY.json}</a>
        {bundle && (
          <>
            {' · '}
            <a href={bundle.path}>{HISTORY.bundle}</a>
          </>
        )}
        {' · '}
        <a href="/docs/rest/status">{HISTORY.recheck}</a>
      </p>
      {bundle && bundle.rows > 0 && (
        <p>
          {HISTORY.digest} <code>{bundle.sha256}</code>
        </p>
      )}
    </div>
  )
}

/** Asks for the status only while it is open. */
function TechnicalDetails() {
  const isOpen = useSignal(false)
  return (
    <details onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
      <summary>{HISTORY.details}</summary>
      {isOpen.value && <FeedStatus />}
    </details>
  )
}

const SOURCE_COLUMNS: readonly Column<Source>[] = [
  { name: STATUS.columns.source, text: ({ name }) => name },
  { name: STATUS.columns.state, text: ({ state, late }) => `${labelOf(state)}${late ? STATUS.late : ''}` },
  {
    name: STATUS.columns.lastSuccess,
    text: ({ lastSuccessMs: at }) => (at === null ? STATUS.never : timeText(at)),
  },
]

function FeedStatus() {
  return (
    <QueryView query={useStatus()}>
      {(now) => (
        <>
          <StateNote now={now} />
          <Figures
            figures={[
              heightFigure(now),
              {
                name: STATUS.delay,
                value: now.lagMs === null ? '–' : STATUS.ms(now.lagMs),
                note: STATUS.delayNote,
              },
              {
                name: STATUS.books,
                value: now.booksKnown ? STATUS.booksKnown : STATUS.booksUnknown,
              },
              archiveFigure(now),
            ]}
          />
          <BlockAges regions={now.regions} />
          <Gaps gaps={now.gaps} />
          <h2>{STATUS.sources}</h2>
          <Table
            caption={STATUS.sources}
            columns={SOURCE_COLUMNS}
            rows={now.sources}
            empty={STATUS.noSources}
            csv="sources"
          />
          <p class="soft">
            {STATUS.refresh}
            <code>curl {location.origin}/status</code> (<a href="/docs/rest/status">{STATUS.reference}</a>).
          </p>
        </>
      )}
    </QueryView>
  )
}

render(<StatusPage />, document.getElementById('app') ?? document.body)
