// The feed page with feeders, mismatches and missing blocks, and the sources page with upstream sources and RPC nodes.

import { hasRole, type StaffRole } from '../../accounts/staff.ts'
import { requestChange } from '../request.dom.ts'
import {
  type ChainNode,
  type Feeder,
  Gaps,
  heightFigure,
  type Source,
  useStatus,
  type WrongBook,
} from '../status/status-parts.tsx'
import { STATUS } from '../status/strings.ts'
import { ConfirmButton } from '../ui/dialog.tsx'
import { durationText, groupedText, timeText } from '../ui/format.ts'
import { Figures, QueryView, Snippet } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { amountColumn, type Column, numberColumn, Table } from '../ui/table.tsx'
import * as feedStrings from './feed-strings.ts'
import { timeColumn } from './parts.tsx'

const FEEDER_COLUMNS: readonly Column<Feeder>[] = [
  { name: feedStrings.feedColumnsFeeder, text: ({ name }) => name },
  {
    name: feedStrings.feedColumnsState,
    text: ({ connected, state, why, conflict }) =>
      conflict ??
      (connected
        ? state === null
          ? feedStrings.feedConnected
          : labelOf(state)
        : feedStrings.feedDisconnected(why ?? '?')),
  },
  amountColumn(feedStrings.feedColumnsHead, ({ head }) => head),
  amountColumn(feedStrings.feedColumnsLag, ({ lagMs }) => lagMs),
  amountColumn(feedStrings.feedColumnsUnacked, ({ counters }) => counters?.unacked),
  amountColumn(feedStrings.feedColumnsReconnects, ({ counters }) => counters?.reconnects),
  amountColumn(feedStrings.feedColumnsMisfits, ({ counters }) => counters?.misfits),
  amountColumn(feedStrings.feedColumnsDrifted, ({ counters }) => counters?.drifted),
  timeColumn(feedStrings.feedColumnsLastSeen, 'heardMs'),
]
const WRONG_BOOK_COLUMNS: readonly Column<WrongBook>[] = [
  { name: feedStrings.feedWrongColumnsFeeder, text: ({ feeder }) => feeder },
  { name: feedStrings.feedWrongColumnsCoin, text: ({ coin }) => coin },
  { name: feedStrings.feedWrongColumnsReason, text: ({ why }) => why },
  amountColumn(feedStrings.feedWrongColumnsHeight, ({ height }) => height),
  amountColumn(feedStrings.feedWrongColumnsCount, ({ count }) => count),
  timeColumn(feedStrings.feedWrongColumnsLast, 'atMs'),
]
export function FeedPage({ role }: { role: StaffRole }) {
  const status = useStatus()
  const reset = () => requestChange('POST', '/admin/feed/reset', undefined, status.reload)
  return (
    <>
      <h1>{feedStrings.feedTitle}</h1>
      <QueryView query={status}>
        {(now) => (
          <>
            <p class={now.state === 'live' ? 'note' : 'note trouble'} role="status">
              <b>{labelOf(now.state)}</b>. {now.advice}
            </p>
            <Figures
              figures={[
                { name: feedStrings.feedChain, value: now.chain, note: STATUS.epoch(now.epoch ?? '–') },
                heightFigure(now),
                { name: STATUS.books, value: now.booksKnown ? STATUS.booksKnown : STATUS.booksUnknown },
                {
                  name: feedStrings.feedDisagreements,
                  value: now.disagreements,
                  note: feedStrings.feedDisagreementsNote,
                },
                { name: feedStrings.feedReaders, value: now.readers.length, note: feedStrings.feedReadersNote },
              ]}
            />
            <h2>{feedStrings.feedFeeders}</h2>
            <Table
              caption={feedStrings.feedFeedersTable}
              columns={FEEDER_COLUMNS}
              rows={now.feeders}
              csv="feeders"
              empty={
                <>
                  <p>{feedStrings.feedNoFeeder}</p>
                  <Snippet line="npm run feeder -- --gateway https://… --name tokyo-1" />
                </>
              }
            />
            <h2>{feedStrings.feedWrongBooks}</h2>
            <Table
              caption={feedStrings.feedWrongBooks}
              columns={WRONG_BOOK_COLUMNS}
              rows={now.wrongBooks}
              empty={feedStrings.feedNoWrongBooks}
              csv="wrong-books"
            />
            <Gaps gaps={now.gaps} />
            {hasRole(role, 'owner') && (
              <details class="card">
                <summary>{feedStrings.feedReset}</summary>
                <p>{feedStrings.feedResetText}</p>
                <ConfirmButton
                  buttonLabel={feedStrings.feedResetSubmit}
                  kind="danger"
                  action={feedStrings.feedResetSubmit}
                  name={now.chain}
                  onConfirm={reset}
                >
                  <p>{feedStrings.feedResetConfirm(now.chain)}</p>
                </ConfirmButton>
              </details>
            )}
          </>
        )}
      </QueryView>
    </>
  )
}

const failureText = (failure: { readonly atMs: number; readonly reason: string; readonly type?: string } | null) =>
  failure === null
    ? feedStrings.sourcesUnknown
    : feedStrings.sourcesFailure(failure.reason, failure.type ?? '', timeText(failure.atMs))
const restText = (state: string, retryInMs: number) =>
  state === 'ok' ? feedStrings.sourcesOk : feedStrings.sourcesBackingOff(durationText(retryInMs))
const lastText = (ms: number | null) => (ms === null ? feedStrings.sourcesNever : timeText(ms))

const sourceStateText = ({ state, retryInMs, late }: Source) =>
  `${restText(state, retryInMs)}${late ? feedStrings.sourcesLate : ''}`
const stateDot = (isFine: boolean, text: string) => (
  <>
    <span class={isFine ? 'dot fine' : 'dot near'} aria-hidden="true" />
    {text}
  </>
)

const SOURCE_COLUMNS: readonly Column<Source>[] = [
  { name: feedStrings.sourcesColumnsSource, text: ({ name }) => name },
  {
    name: feedStrings.sourcesColumnsState,
    text: sourceStateText,
    render: (source) => stateDot(source.state === 'ok' && !source.late, sourceStateText(source)),
  },
  numberColumn(feedStrings.sourcesColumnsLag, ({ lagMs }) =>
    lagMs === null ? feedStrings.sourcesUnknown : Math.round(lagMs),
  ),
  numberColumn(feedStrings.sourcesColumnsMedian, ({ medianMs }) =>
    medianMs === null ? feedStrings.sourcesUnknown : Math.round(medianMs),
  ),
  {
    name: feedStrings.sourcesColumnsBudget,
    text: ({ budget }) =>
      budget === null
        ? feedStrings.sourcesNoBudget
        : feedStrings.sourcesBudget(groupedText(String(budget.left ?? '?')), groupedText(String(budget.perMinute))),
  },
  { name: feedStrings.sourcesColumnsLastSuccess, text: ({ lastSuccessMs }) => lastText(lastSuccessMs) },
  { name: feedStrings.sourcesColumnsLastFailure, text: ({ lastFailure }) => failureText(lastFailure) },
  {
    name: feedStrings.sourcesColumnsFailing,
    text: ({ failingTypes }) => failingTypes.join(', ') || feedStrings.sourcesUnknown,
  },
]

type Node = ChainNode & { readonly chain: string; readonly height: number | null; readonly position: number }
const NODE_COLUMNS: readonly Column<Node>[] = [
  { name: feedStrings.sourcesColumnsChain, text: ({ chain }) => chain },
  numberColumn(feedStrings.sourcesColumnsNode, ({ position }) => position),
  {
    name: feedStrings.sourcesColumnsState,
    text: ({ state }) => labelOf(state),
    render: ({ state }) => stateDot(state === 'ok', labelOf(state)),
  },
  amountColumn(feedStrings.sourcesColumnsHeight, ({ height }) => height ?? feedStrings.sourcesUnknown),
  { name: feedStrings.sourcesColumnsLastSuccess, text: ({ lastSuccessMs }) => lastText(lastSuccessMs) },
  { name: feedStrings.sourcesColumnsLastFailure, text: ({ lastFailure }) => failureText(lastFailure) },
]

export function SourcesPage() {
  return (
    <>
      <h1>{feedStrings.sourcesTitle}</h1>
      <QueryView query={useStatus()}>
        {(now) => (
          <>
            <p>{feedStrings.sourcesScope}</p>
            <Table
              caption={feedStrings.sourcesTable}
              columns={SOURCE_COLUMNS.filter(({ text }) =>
                now.sources.some((source) => text?.(source) !== feedStrings.sourcesUnknown),
              )}
              rows={now.sources}
              empty={feedStrings.sourcesEmpty}
              csv="sources"
            />
            <h2>{feedStrings.sourcesNodes}</h2>
            <Table
              caption={feedStrings.sourcesNodesTable}
              columns={NODE_COLUMNS}
              rows={now.chains.flatMap(({ name, height, nodes }) =>
                nodes.map((node, i): Node => ({ ...node, chain: name, height, position: i + 1 })),
              )}
              empty={feedStrings.sourcesNodesEmpty}
              csv="nodes"
            />
          </>
        )}
      </QueryView>
    </>
  )
}
