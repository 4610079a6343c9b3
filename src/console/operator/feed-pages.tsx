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
import { type Column, numberColumn, Table } from '../ui/table.tsx'
import { timeColumn } from './parts.tsx'
import * as strings from './strings.ts'

const FEEDER_COLUMNS: readonly Column<Feeder>[] = [
  { name: strings.feedColumnsFeeder, text: ({ name }) => name },
  {
    name: strings.feedColumnsState,
    text: ({ connected, state, why, conflict }) =>
      conflict ??
      (connected ? (state === null ? strings.feedConnected : labelOf(state)) : strings.feedDisconnected(why ?? '?')),
  },
  numberColumn(strings.feedColumnsHead, ({ head }) => head),
  numberColumn(strings.feedColumnsLag, ({ lagMs }) => lagMs),
  numberColumn(strings.feedColumnsUnacked, ({ counters }) => counters?.unacked),
  numberColumn(strings.feedColumnsReconnects, ({ counters }) => counters?.reconnects),
  numberColumn(strings.feedColumnsMisfits, ({ counters }) => counters?.misfits),
  numberColumn(strings.feedColumnsDrifted, ({ counters }) => counters?.drifted),
  timeColumn(strings.feedColumnsLastSeen, 'heardMs'),
]
const WRONG_BOOK_COLUMNS: readonly Column<WrongBook>[] = [
  { name: strings.feedWrongColumnsFeeder, text: ({ feeder }) => feeder },
  { name: strings.feedWrongColumnsCoin, text: ({ coin }) => coin },
  { name: strings.feedWrongColumnsReason, text: ({ why }) => why },
  numberColumn(strings.feedWrongColumnsHeight, ({ height }) => height),
  numberColumn(strings.feedWrongColumnsCount, ({ count }) => count),
  timeColumn(strings.feedWrongColumnsLast, 'atMs'),
]
export function FeedPage({ role }: { role: StaffRole }) {
  const status = useStatus()
  const reset = () => requestChange('POST', '/admin/feed/reset', undefined, status.reload)
  return (
    <>
      <h1>{strings.feedTitle}</h1>
      <QueryView query={status}>
        {(now) => (
          <>
            <p class={now.state === 'live' ? 'note' : 'note trouble'} role="status">
              <b>{labelOf(now.state)}</b>. {now.advice}
            </p>
            <Figures
              figures={[
                { name: strings.feedChain, value: now.chain, note: STATUS.epoch(now.epoch ?? '–') },
                heightFigure(now),
                { name: STATUS.books, value: now.booksKnown ? STATUS.booksKnown : STATUS.booksUnknown },
                {
                  name: strings.feedDisagreements,
                  value: now.disagreements,
                  note: strings.feedDisagreementsNote,
                },
                { name: strings.feedReaders, value: now.readers.length, note: strings.feedReadersNote },
              ]}
            />
            <h2>{strings.feedFeeders}</h2>
            <Table
              caption={strings.feedFeedersTable}
              columns={FEEDER_COLUMNS}
              rows={now.feeders}
              csv="feeders"
              empty={
                <>
                  <p>{strings.feedNoFeeder}</p>
                  <Snippet line="npm run feeder -- --gateway https://… --name tokyo-1" />
                </>
              }
            />
            <h2>{strings.feedWrongBooks}</h2>
            <Table
              caption={strings.feedWrongBooks}
              columns={WRONG_BOOK_COLUMNS}
              rows={now.wrongBooks}
              empty={strings.feedNoWrongBooks}
              csv="wrong-books"
            />
            <Gaps gaps={now.gaps} />
            {hasRole(role, 'owner') && (
              <>
                <h2>{strings.feedReset}</h2>
                <p>{strings.feedResetText}</p>
                <ConfirmButton
                  buttonLabel={strings.feedResetSubmit}
                  kind="danger"
                  action={strings.feedResetSubmit}
                  name={now.chain}
                  onConfirm={reset}
                >
                  <p>{strings.feedResetConfirm(now.chain)}</p>
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
  failure === null
    ? strings.sourcesNoFailure
    : strings.sourcesFailure(failure.reason, failure.type ?? '', timeText(failure.atMs))
const restText = (state: string, retryInMs: number) =>
  state === 'ok' ? strings.sourcesOk : strings.sourcesBackingOff(durationText(retryInMs))
const lastText = (ms: number | null) => (ms === null ? strings.sourcesNever : timeText(ms))

const SOURCE_COLUMNS: readonly Column<Source>[] = [
  { name: strings.sourcesColumnsSource, text: ({ name }) => name },
  {
    name: strings.sourcesColumnsState,
    text: ({ state, retryInMs, late }) => `${restText(state, retryInMs)}${late ? strings.sourcesLate : ''}`,
  },
  numberColumn(strings.sourcesColumnsLag, ({ lagMs }) => (lagMs === null ? strings.sourcesUnknown : Math.round(lagMs))),
  numberColumn(strings.sourcesColumnsMedian, ({ medianMs }) => medianMs && Math.round(medianMs)),
  numberColumn(strings.sourcesColumnsBudget, ({ budget }) =>
    budget === null
      ? strings.sourcesNoBudget
      : strings.sourcesBudget(groupedText(String(budget.left ?? '?')), groupedText(String(budget.perMinute))),
  ),
  { name: strings.sourcesColumnsLastSuccess, text: ({ lastSuccessMs }) => lastText(lastSuccessMs) },
  { name: strings.sourcesColumnsLastFailure, text: ({ lastFailure }) => failureText(lastFailure) },
  { name: strings.sourcesColumnsFailing, text: ({ failingTypes }) => failingTypes.join(', ') },
]

type Node = ChainNode & { readonly chain: string; readonly height: number | null; readonly position: number }
const NODE_COLUMNS: readonly Column<Node>[] = [
  { name: strings.sourcesColumnsChain, text: ({ chain }) => chain },
  numberColumn(strings.sourcesColumnsNode, ({ position }) => position),
  { name: strings.sourcesColumnsState, text: ({ state }) => labelOf(state) },
  numberColumn(strings.sourcesColumnsHeight, ({ height }) => height),
  { name: strings.sourcesColumnsLastSuccess, text: ({ lastSuccessMs }) => lastText(lastSuccessMs) },
  { name: strings.sourcesColumnsLastFailure, text: ({ lastFailure }) => failureText(lastFailure) },
]

export function SourcesPage() {
  return (
    <>
      <h1>{strings.sourcesTitle}</h1>
      <QueryView query={useStatus()}>
        {(now) => (
          <>
            <p>{strings.sourcesScope}</p>
            <Table
              caption={strings.sourcesTable}
              columns={SOURCE_COLUMNS}
              rows={now.sources}
              empty={strings.sourcesEmpty}
              csv="sources"
            />
            <h2>{strings.sourcesNodes}</h2>
            <Table
              caption={strings.sourcesNodesTable}
              columns={NODE_COLUMNS}
              rows={now.chains.flatMap(({ name, height, nodes }) =>
                nodes.map((node, i): Node => ({ ...node, chain: name, height, position: i + 1 })),
              )}
              empty={strings.sourcesNodesEmpty}
              csv="nodes"
            />
          </>
        )}
      </QueryView>
    </>
  )
}
