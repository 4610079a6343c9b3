// The page /status for browsers. Other clients get JSON at the same address.

import { render } from 'preact'
import { timeText } from '../ui/format.ts'
import { Header } from '../ui/frame.tsx'
import { Figures, QueryView } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { type Column, Table } from '../ui/table.tsx'
import { archiveFigure, BlockAges, Gaps, heightFigure, type Source, StateNote, useStatus } from './status-parts.tsx'
import { STATUS } from './strings.ts'

const SOURCE_COLUMNS: readonly Column<Source>[] = [
  { name: STATUS.columns.source, text: ({ name }) => name },
  { name: STATUS.columns.state, text: ({ state, late }) => `${labelOf(state)}${late ? STATUS.late : ''}` },
  {
    name: STATUS.columns.lastSuccess,
    text: ({ lastSuccessMs: at }) => (at === null ? STATUS.never : timeText(at)),
  },
]

function StatusPage() {
  return (
    <>
      <Header home="/live" current="/status" links={['/live', '/console', '/docs', '/status']} />
      <main id="main">
        <h1>{STATUS.title}</h1>
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
                    note: STATUS.epoch(now.epoch ?? '–'),
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
      </main>
    </>
  )
}

render(<StatusPage />, document.getElementById('app') ?? document.body)
