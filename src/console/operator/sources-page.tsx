// Sources of info types and nodes of chains: health, lag, budget.

import { type ChainNode, type Source, useStatus } from '../status/status.dom.ts'
import { Table } from '../ui/table.tsx'
import { TroubleNote } from '../ui/trouble.tsx'
import { spanText, timeText } from '../ui/when.ts'

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
