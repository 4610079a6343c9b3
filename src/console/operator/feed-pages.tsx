// Feeders, where they disagree, and heights that never came; sources of info types and nodes of chains: health, lag, budget.

import { useSignal } from '@preact/signals'
import { change } from '../ask.dom.ts'
import { type ChainNode, type Feeder, type Source, useStatus, type WrongBook } from '../status/status.dom.ts'
import { Gaps } from '../status/status-parts.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Curl, Figures, TroubleNote } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'
import { spanText, timeText } from '../ui/text.ts'
import { may, type StaffRole, timeColumn } from './parts.tsx'

const FEEDERS = [
  { name: 'Feeder', text: ({ name }: Feeder) => name },
  {
    name: 'State',
    text: ({ connected, state, why, conflict }: Feeder) =>
      conflict ?? (connected ? (state ?? 'connected') : `left: ${why}`),
  },
  { name: 'Head', isNumber: true, text: ({ head }: Feeder) => String(head ?? '') },
  { name: 'Lag, ms', isNumber: true, text: ({ lagMs }: Feeder) => String(lagMs ?? '') },
  { name: 'Unacked', isNumber: true, text: ({ counters }: Feeder) => String(counters?.unacked ?? '') },
  { name: 'Reconnects', isNumber: true, text: ({ counters }: Feeder) => String(counters?.reconnects ?? '') },
  { name: 'Misfits', isNumber: true, text: ({ counters }: Feeder) => String(counters?.misfits ?? '') },
  { name: 'Drifted', isNumber: true, text: ({ counters }: Feeder) => String(counters?.drifted ?? '') },
  timeColumn('Heard', 'heardMs'),
]
const WRONG = [
  { name: 'Feeder', text: ({ feeder }: WrongBook) => feeder },
  { name: 'Coin', text: ({ coin }: WrongBook) => coin },
  { name: 'Found', text: ({ why }: WrongBook) => why },
  { name: 'Height', isNumber: true, text: ({ height }: WrongBook) => String(height) },
  { name: 'Times', isNumber: true, text: ({ count }: WrongBook) => String(count) },
  timeColumn('Last', 'atMs'),
]
export function FeedPage({ role }: { role: StaffRole }) {
  const status = useStatus()
  const isResetting = useSignal(false)
  const now = status.value.value
  const reset = () => change('POST', '/admin/feed/reset', undefined, status.reload)
  return (
    <>
      <h1>Feed</h1>
      <TroubleNote trouble={status.trouble.value} again={status.reload} />
      {now && (
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
            columns={FEEDERS}
            rows={now.feeders}
            rowKey={({ name }) => name}
            csv="feeders"
            empty={
              <>
                <p>No feeder is connected. Start one beside the node:</p>
                <Curl line="npm run feeder -- --gateway https://… --name tokyo-1" />
              </>
            }
          />
          <h2>Books that feeders sent otherwise than they are</h2>
          <Table
            caption="Wrong books"
            columns={WRONG}
            rows={now.wrongBooks}
            rowKey={({ feeder, coin, why }) => `${feeder} ${coin} ${why}`}
            empty="None."
            csv="wrong-books"
          />
          <Gaps gaps={now.gaps} />
          {may(role, 'owner') && (
            <>
              <h2>Begin a new log</h2>
              <p>For a node that started over: books and heights begin anew, and clients bootstrap again.</p>
              <button type="button" class="danger" onClick={() => (isResetting.value = true)}>
                Reset the feed
              </button>
            </>
          )}
          {isResetting.value && (
            <Confirm
              act="Reset the feed"
              name={now.chain}
              onConfirm={reset}
              onClose={() => (isResetting.value = false)}
            >
              <p>The log of {now.chain} is emptied. Accounts, keys and the archive stay.</p>
            </Confirm>
          )}
        </>
      )}
    </>
  )
}

const failureText = (failure: { readonly atMs: number; readonly reason: string; readonly type?: string } | null) =>
  failure === null ? 'none' : `${failure.reason}${failure.type ? ` at ${failure.type}` : ''}, ${timeText(failure.atMs)}`
const restText = (state: string, retryInMs: number) => (state === 'ok' ? 'ok' : `resting, ${spanText(retryInMs)} more`)
const lastText = (ms: number | null) => (ms === null ? 'not yet' : timeText(ms))

const SOURCES = [
  { name: 'Source', text: ({ name }: Source) => name },
  {
    name: 'State',
    text: ({ state, retryInMs, late }: Source) => `${restText(state, retryInMs)}${late ? ', late' : ''}`,
  },
  {
    name: 'Lag, ms',
    isNumber: true,
    text: ({ lagMs }: Source) => (lagMs === null ? 'not told' : String(Math.round(lagMs))),
  },
  {
    name: 'Median, ms',
    isNumber: true,
    text: ({ medianMs }: Source) => (medianMs === null ? '' : String(Math.round(medianMs))),
  },
  {
    name: 'Budget left',
    isNumber: true,
    text: ({ budget }: Source) =>
      budget === null ? 'none set' : `${budget.left ?? '?'} of ${budget.perMinute} a minute`,
  },
  { name: 'Last answer (UTC)', text: ({ lastSuccessMs }: Source) => lastText(lastSuccessMs) },
  { name: 'Last failure (UTC)', text: ({ lastFailure }: Source) => failureText(lastFailure) },
  { name: 'Fails for', text: ({ failingTypes }: Source) => failingTypes.join(' ') },
]

type Node = ChainNode & { readonly chain: string; readonly height: number | null; readonly place: number }
const NODES = [
  { name: 'Chain', text: ({ chain }: Node) => chain },
  { name: 'Node', isNumber: true, text: ({ place }: Node) => String(place) },
  { name: 'State', text: ({ state }: Node) => state },
  { name: 'Told height', isNumber: true, text: ({ height }: Node) => String(height ?? '') },
  { name: 'Last answer (UTC)', text: ({ lastSuccessMs }: Node) => lastText(lastSuccessMs) },
  { name: 'Last failure (UTC)', text: ({ lastFailure }: Node) => failureText(lastFailure) },
]

export function SourcesPage() {
  const status = useStatus()
  const now = status.value.value
  const nodes = now?.chains.flatMap(({ name, height, nodes }) =>
    nodes.map((node, i): Node => ({ ...node, chain: name, height, place: i + 1 })),
  )
  return (
    <>
      <h1>Sources</h1>
      <TroubleNote trouble={status.trouble.value} again={status.reload} />
      {now && nodes && (
        <>
          <p>As the machine that answered this page sees them; budgets are shared by all.</p>
          <Table
            caption="Sources of info types"
            columns={SOURCES}
            rows={now.sources}
            rowKey={({ name }) => name}
            empty="No source is set: UPSTREAMS in wrangler.toml."
            csv="sources"
          />
          <h2>Nodes of JSON-RPC</h2>
          <Table
            caption="Nodes of chains"
            columns={NODES}
            rows={nodes}
            rowKey={({ chain, place }) => `${chain} ${place}`}
            empty="No chain is set: RPC_CHAINS in wrangler.toml."
            csv="nodes"
          />
        </>
      )}
    </>
  )
}
