// The page /status for whoever opens it in a browser: programs get the JSON at the same address.

import { render } from 'preact'
import { Figures, TroubleNote } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { timeText } from '../ui/text.ts'
import { type Source, useStatus } from './status.dom.ts'
import { Ages, archiveFigure, Gaps, heightFigure, StateNote } from './status-parts.tsx'

const SOURCES: readonly Column<Source>[] = [
  { name: 'Source', text: ({ name }) => name },
  { name: 'State', text: ({ state, late }) => `${state}${late ? ', late' : ''}` },
  {
    name: 'Last answer (UTC)',
    text: ({ lastSuccessMs: at }) => (at === null ? 'not yet' : timeText(at)),
  },
]

function StatusPage() {
  const status = useStatus()
  const now = status.value.value
  return (
    <>
      <header>
        <a class="brand" href="/live">
          Weir
        </a>
        <nav aria-label="Pages">
          <a href="/live">Live</a>
          <a href="/console">Console</a>
          <a href="/docs">Docs</a>
          <a href="/status" aria-current="page">
            Status
          </a>
        </nav>
      </header>
      <main id="main">
        <h1>Status</h1>
        <TroubleNote trouble={status.trouble.value} again={status.reload} />
        {now && (
          <>
            <StateNote now={now} />
            <Figures
              figures={[
                heightFigure(now),
                { name: 'Late by, ms', value: now.lagMs ?? '–', note: 'behind the clock' },
                { name: 'Books', value: now.booksKnown ? 'known' : 'not known', note: `epoch ${now.epoch ?? '–'}` },
                archiveFigure(now),
              ]}
            />
            <Ages regions={now.regions} />
            <Gaps gaps={now.gaps} />
            <h2>Sources of what the gateway does not hold</h2>
            <Table
              caption="Sources"
              columns={SOURCES}
              rows={now.sources}
              rowKey={({ name }) => name}
              empty="There are none."
              csv="sources"
            />
            <p class="soft">
              Asked again every five seconds. The same as JSON, and more of it:{' '}
              <code>curl {location.origin}/status</code>, <a href="/docs/rest/status">what it says</a>.
            </p>
          </>
        )}
      </main>
    </>
  )
}

render(<StatusPage />, document.getElementById('app')!)
