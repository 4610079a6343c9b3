// The page /status for whoever opens it in a browser: programs get the JSON at the same address.

import { render } from 'preact'
import { Header } from '../ui/frame.tsx'
import { Answered, Figures } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { timeText } from '../ui/text.ts'
import { Ages, archiveFigure, Gaps, heightFigure, type Source, StateNote, useStatus } from './status-parts.tsx'

const SOURCES: readonly Column<Source>[] = [
  { name: 'Source', text: ({ name }) => name },
  { name: 'State', text: ({ state, late }) => `${state}${late ? ', late' : ''}` },
  {
    name: 'Last answer (UTC)',
    text: ({ lastSuccessMs: at }) => (at === null ? 'not yet' : timeText(at)),
  },
]

function StatusPage() {
  return (
    <>
      <Header home="/live" here="/status" links={['/live', '/console', '/docs', '/status']} />
      <main id="main">
        <h1>Status</h1>
        <Answered of={useStatus()}>
          {(now) => (
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
              <Table caption="Sources" columns={SOURCES} rows={now.sources} empty="There are none." csv="sources" />
              <p class="soft">
                Asked again every five seconds. The same as JSON, and more of it:{' '}
                <code>curl {location.origin}/status</code>, <a href="/docs/rest/status">what it says</a>.
              </p>
            </>
          )}
        </Answered>
      </main>
    </>
  )
}

render(<StatusPage />, document.getElementById('app') ?? document.body)
