// The page /status for whoever opens it in a browser: programs get the JSON at the same address.

import { render } from 'preact'
import { timeText } from '../ui/format.ts'
import { Header } from '../ui/frame.tsx'
import { Figures, QueryView } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { archiveFigure, BlockAges, Gaps, heightFigure, type Source, StateNote, useStatus } from './status-parts.tsx'

const SOURCE_COLUMNS: readonly Column<Source>[] = [
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
      <Header home="/live" current="/status" links={['/live', '/console', '/docs', '/status']} />
      <main id="main">
        <h1>Status</h1>
        <QueryView query={useStatus()}>
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
              <BlockAges regions={now.regions} />
              <Gaps gaps={now.gaps} />
              <h2>Sources of what the gateway does not hold</h2>
              <Table
                caption="Sources"
                columns={SOURCE_COLUMNS}
                rows={now.sources}
                empty="There are none."
                csv="sources"
              />
              <p class="soft">
                Asked again every five seconds. The same as JSON, and more of it:{' '}
                <code>curl {location.origin}/status</code>, <a href="/docs/rest/status">what it says</a>.
              </p>
            </>
          )}
        </QueryView>
      </main>
    </>
  )
}

render(<StatusPage />, document.getElementById('app') ?? document.body)
