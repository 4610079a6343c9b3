// Open connections of the account, and its rejected requests.

import { navigate, pageUrl, urlWith, useParam } from '../address.dom.ts'
import type { Query } from '../queries.dom.ts'
import { Link } from '../shell.tsx'
import { Select } from '../ui/form.tsx'
import { groupedText, timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { infoCurl, QueryView, Reserved, Snippet, streamCommand } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { amountColumn, type Column, minorColumns, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { useAccountQuery } from './account-data.dom.ts'
import * as activityStrings from './activity-strings.ts'
import { type RefusalGroup, refusalGroups } from './refusal-groups.ts'
import type { Refusals, Streams } from './responses.ts'
import * as strings from './strings.ts'

/** Both lists have any length, so they appear together. */
export function ActivitySection() {
  const streams = useAccountQuery<Streams>(() => '/platform/streams/')
  const refusals = useAccountQuery<Refusals>(() => '/platform/refusals/')
  const isLoading = [streams, refusals].some(({ value, error }) => value.value === null && error.value === null)
  const reload = () => {
    streams.reload()
    refusals.reload()
  }
  return (
    <>
      <div class="title">
        <h1>{strings.pagesActivity}</h1>
        <Button text={activityStrings.refresh} class="plain" onClick={reload} />
      </div>
      {isLoading ? (
        <Reserved height={480} isLoading />
      ) : (
        <>
          <StreamList streams={streams} />
          <RefusalList refusals={refusals} />
        </>
      )}
    </>
  )
}

type Stream = Streams['streams'][number]

const STREAM_COLUMNS: readonly Column<Stream>[] = [
  { name: activityStrings.streamsColumnsChannel, text: ({ type }) => type },
  { name: activityStrings.streamsColumnsBody, text: ({ body }) => body, render: ({ body }) => <code>{body}</code> },
  { name: activityStrings.streamsColumnsKey, text: ({ prefix }) => prefix ?? '' },
  {
    name: activityStrings.streamsColumnsSince,
    text: ({ since }) => timeText(since),
    render: ({ since }) => <Time atMs={since} />,
  },
  amountColumn(activityStrings.streamsColumnsCredits, ({ credits_a_minute: price }) => price),
]

function StreamList({ streams }: { readonly streams: Query<Streams> }) {
  return (
    <section>
      <h2>{activityStrings.streamsTitle}</h2>
      <QueryView query={streams}>
        {(value) => (
          <>
            <p>
              {activityStrings.streamsSummary(value.sockets, value.subscriptions, groupedText(value.credits_a_minute))}
            </p>
            <Table
              caption={activityStrings.streamsTable}
              columns={STREAM_COLUMNS}
              rows={value.streams}
              csv="streams"
              empty={
                <>
                  <p>{activityStrings.streamsEmpty}</p>
                  <Snippet line={streamCommand()} />
                </>
              }
            />
          </>
        )}
      </QueryView>
    </section>
  )
}

const REFUSAL_COLUMNS: readonly Column<RefusalGroup>[] = [
  amountColumn(activityStrings.refusalsColumnsCount, ({ count }) => count),
  {
    name: activityStrings.refusalsColumnsCode,
    text: ({ last }) => last.code,
    render: ({ last: { code, type, message } }) => (
      <>
        <Link to={pageUrl('logs', { log_code: code, log_type: type })}>{labelOf(code)}</Link>
        <div class="minor soft">
          <span class="wrap">{message}</span>
        </div>
      </>
    ),
  },
  {
    name: activityStrings.refusalsColumnsLast,
    text: ({ last }) => timeText(last.at),
    render: ({ last }) => <Time atMs={last.at} />,
  },
  ...minorColumns<RefusalGroup>(
    { name: activityStrings.refusalsColumnsKey, text: ({ last }) => last.prefix },
    { name: activityStrings.refusalsColumnsProduct, text: ({ last }) => labelOf(last.product) },
    { name: activityStrings.refusalsColumnsType, text: ({ last }) => last.type },
  ),
  { name: activityStrings.refusalsColumnsReason, text: ({ last }) => last.message, isHidden: true },
  { name: activityStrings.refusalsColumnsRequest, text: ({ last }) => last.request_id, isHidden: true },
]

function RefusalList({ refusals }: { readonly refusals: Query<Refusals> }) {
  const code = useParam('code').value
  return (
    <section>
      <h2>{activityStrings.refusalsTitle}</h2>
      <QueryView query={refusals}>
        {(value) => (
          <>
            <p class="beside">
              <Select
                label={activityStrings.refusalsCode}
                value={code}
                options={{
                  '': activityStrings.refusalsAllCodes,
                  ...Object.fromEntries(
                    value.counts.map((each) => [
                      each.code,
                      activityStrings.refusalsCodeCount(labelOf(each.code), groupedText(String(each.count))),
                    ]),
                  ),
                }}
                onSelect={(chosen) => navigate(urlWith({ code: chosen }))}
              />
              <Link to={pageUrl('logs', { log_status: '4xx' })}>{activityStrings.refusalsLogs}</Link>
            </p>
            <Table
              caption={activityStrings.refusalsTable}
              columns={REFUSAL_COLUMNS}
              rows={refusalGroups(value.refusals.filter((each) => code === '' || each.code === code))}
              csv="refusals"
              empty={
                <>
                  <p>{activityStrings.refusalsEmpty}</p>
                  <Snippet line={infoCurl('{"type":"noSuchType"}')} />
                </>
              }
            />
          </>
        )}
      </QueryView>
    </section>
  )
}
