// Feeders, where they disagree, and heights that never came; sources of info types and nodes of chains: health, lag, budget.

import { hasRole, type StaffRole } from '../../accounts/staff.ts'
import { requestChange } from '../request.dom.ts'
import { type ChainNode, type Feeder, Gaps, type Source, useStatus, type WrongBook } from '../status/status-parts.tsx'
import { ConfirmButton } from '../ui/dialog.tsx'
import { durationText, timeText } from '../ui/format.ts'
import { Figures, QueryView, Snippet } from '../ui/parts.tsx'
import { type Column, numberColumn, Table } from '../ui/table.tsx'
import { timeColumn } from './parts.tsx'

const FEEDER_COLUMNS: readonly Column<Feeder>[] = [
  { name: 'Feeder', text: ({ name }) => name },
  {
    name: 'State',
    text: ({ connected, state, why, conflict }) => conflict ?? (connected ? (state ?? 'connected') : `left: ${why}`),
  },
  numberColumn('Head', ({ head }) => head),
  numberColumn('Lag, ms', ({ lagMs }) => lagMs),
  numberColumn('Unacked', ({ counters }) => counters?.unacked),
  numberColumn('Reconnects', ({ counters }) => counters?.reconnects),
  numberColumn('Misfits', ({ counters }) => counters?.misfits),
  numberColumn('Drifted', ({ counters }) => counters?.drifted),
  timeColumn('Heard', 'heardMs'),
]
const WRONG_BOOK_COLUMNS: readonly Column<WrongBook>[] = [
  { name: 'Feeder', text: ({ feeder }) => feeder },
  { name: 'Coin', text: ({ coin }) => coin },
  { name: 'Found', text: ({ why }) => why },
  numberColumn('Height', ({ height }) => height),
  numberColumn('Times', ({ count }) => count),
  timeColumn('Last', 'atMs'),
]
export function FeedPage({ role }: { role: StaffRole }) {
  const status = useStatus()
  const reset = () => requestChange('POST', '/admin/feed/reset', undefined, status.reload)
  return (
    <>
      <h1>Feed</h1>
      <QueryView query={status}>
        {(now) => (
          <>
            <p class={now.state === 'live' ? 'note' : 'note trouble'} role="status">
              <b>{now.state}</b>. {now.advice}
            </p>
            <Figures
              figures={[
                { name: 'Chain', value: now.chain, note: `epoch ${now.epoch ?? '–'}` },
                { name: 'Height', value: now.height ?? '–' },
                { name: 'Books', value: now.booksKnown ? 'known' : 'not known' },
                {
                  name: 'Disagreements',
                  value: now.disagreements,
                  note: 'copies of a height that differed, since the log woke',
                },
                { name: 'Readers', value: now.readers.length, note: 'hubs and relays that follow the log' },
              ]}
            />
            <h2>Feeders, last day</h2>
            <Table
              caption="Feeders"
              columns={FEEDER_COLUMNS}
              rows={now.feeders}
              csv="feeders"
              empty={
                <>
                  <p>No feeder is connected. Start one beside the node:</p>
                  <Snippet line="npm run feeder -- --gateway https://… --name tokyo-1" />
                </>
              }
            />
            <h2>Books that feeders sent otherwise than they are</h2>
            <Table
              caption="Wrong books"
              columns={WRONG_BOOK_COLUMNS}
              rows={now.wrongBooks}
              empty="None."
              csv="wrong-books"
            />
            <Gaps gaps={now.gaps} />
            {hasRole(role, 'owner') && (
              <>
                <h2>Begin a new log</h2>
                <p>For a node that started over: books and heights begin anew, and clients bootstrap again.</p>
                <ConfirmButton
                  buttonLabel="Reset the feed"
                  kind="danger"
                  action="Reset the feed"
                  name={now.chain}
                  onConfirm={reset}
                >
                  <p>The log of {now.chain} is emptied. Accounts, keys and the archive stay.</p>
                </ConfirmButton>
              </>
            )}
          </>
        )}
      </QueryView>
    </>
  )
}

const failureText = (failure: { readonly atMs: number; readonly reason: string; readonly type?: string } | null) =>
  failure === null ? 'none' : `${failure.reason}${failure.type ? ` at ${failure.type}` : ''}, ${timeText(failure.atMs)}`
const restText = (state: string, retryInMs: number) =>
  state === 'ok' ? 'ok' : `resting, ${durationText(retryInMs)} more`
const lastText = (ms: number | null) => (ms === null ? 'not yet' : timeText(ms))

const SOURCE_COLUMNS: readonly Column<Source>[] = [
  { name: 'Source', text: ({ name }) => name },
  {
    name: 'State',
    text: ({ state, retryInMs, late }) => `${restText(state, retryInMs)}${late ? ', late' : ''}`,
  },
  numberColumn('Lag, ms', ({ lagMs }) => (lagMs === null ? 'not told' : Math.round(lagMs))),
  numberColumn('Median, ms', ({ medianMs }) => medianMs && Math.round(medianMs)),
  numberColumn('Budget left', ({ budget }) =>
    budget === null ? 'none set' : `${budget.left ?? '?'} of ${budget.perMinute} a minute`,
  ),
  { name: 'Last answer (UTC)', text: ({ lastSuccessMs }) => lastText(lastSuccessMs) },
  { name: 'Last failure (UTC)', text: ({ lastFailure }) => failureText(lastFailure) },
  { name: 'Fails for', text: ({ failingTypes }) => failingTypes.join(' ') },
]

type Node = ChainNode & { readonly chain: string; readonly height: number | null; readonly position: number }
const NODE_COLUMNS: readonly Column<Node>[] = [
  { name: 'Chain', text: ({ chain }) => chain },
  numberColumn('Node', ({ position }) => position),
  { name: 'State', text: ({ state }) => state },
  numberColumn('Told height', ({ height }) => height),
  { name: 'Last answer (UTC)', text: ({ lastSuccessMs }) => lastText(lastSuccessMs) },
  { name: 'Last failure (UTC)', text: ({ lastFailure }) => failureText(lastFailure) },
]

export function SourcesPage() {
  return (
    <>
      <h1>Sources</h1>
      <QueryView query={useStatus()}>
        {(now) => (
          <>
            <p>As the machine that answered this page sees them; budgets are shared by all.</p>
            <Table
              caption="Sources of info types"
              columns={SOURCE_COLUMNS}
              rows={now.sources}
              empty="No source is set: UPSTREAMS in wrangler.toml."
              csv="sources"
            />
            <h2>Nodes of JSON-RPC</h2>
            <Table
              caption="Nodes of chains"
              columns={NODE_COLUMNS}
              rows={now.chains.flatMap(({ name, height, nodes }) =>
                nodes.map((node, i): Node => ({ ...node, chain: name, height, position: i + 1 })),
              )}
              empty="No chain is set: RPC_CHAINS in wrangler.toml."
              csv="nodes"
            />
          </>
        )}
      </QueryView>
    </>
  )
}
