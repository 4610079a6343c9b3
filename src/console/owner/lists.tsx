// What is open now, with what a minute of it costs; and the last refusals of the account's keys.

import { addressWith, go, useParam } from '../address.dom.ts'
import { Choice } from '../ui/form.tsx'
import { Answered, Curl, infoLine } from '../ui/parts.tsx'
import { amountColumn, type Column, Table } from '../ui/table.tsx'
import { groupedText, timeText } from '../ui/text.ts'
import type { Refusals, Streams } from './answers.ts'
import { useOwn } from './own.dom.ts'

type Stream = Streams['streams'][number]

const STREAMS: readonly Column<Stream>[] = [
  { name: 'Channel', text: ({ type }) => type },
  { name: 'Body', text: ({ body }) => body, draw: ({ body }) => <code>{body}</code> },
  { name: 'Key', text: ({ prefix }) => prefix ?? '' },
  { name: 'Since, UTC', text: ({ since }) => timeText(since) },
  amountColumn('Credits a minute', ({ credits_a_minute: price }) => price),
]

export function StreamList() {
  const streams = useOwn<Streams>(() => '/platform/streams/')
  return (
    <section>
      <h2>Open sockets and subscriptions</h2>
      <Answered of={streams}>
        {(value) => (
          <>
            <p class="beside">
              <span>
                {value.sockets} sockets, {value.subscriptions} subscriptions, {groupedText(value.credits_a_minute)}{' '}
                credits a minute
              </span>
              <button type="button" class="plain" onClick={streams.reload}>
                Look again
              </button>
            </p>
            <Table
              caption="Subscriptions that run, those that cost most first"
              columns={STREAMS}
              rows={value.streams}
              csv="streams"
              empty={
                <>
                  <p>Nothing is open. A book in a terminal:</p>
                  <Curl line={`npm run watch -- BTC --url ${location.origin} --key $WEIR_KEY`} />
                </>
              }
            />
          </>
        )}
      </Answered>
    </section>
  )
}

type Refusal = Refusals['refusals'][number]

const REFUSALS: readonly Column<Refusal>[] = [
  { name: 'Time, UTC', text: ({ at }) => timeText(at) },
  { name: 'Key', text: ({ prefix }) => prefix },
  { name: 'Product', text: ({ product }) => product },
  { name: 'Type', text: ({ type }) => type },
  { name: 'Code', text: ({ code }) => code },
  { name: 'Reason', text: ({ message }) => message, draw: ({ message }) => <span class="wrap">{message}</span> },
  { name: 'Request', text: ({ request_id: id }) => id, draw: ({ request_id: id }) => <code>{id}</code> },
]

export function RefusalList() {
  const refusals = useOwn<Refusals>(() => '/platform/refusals/')
  const code = useParam('code').value
  return (
    <section>
      <h2>Refusals</h2>
      <Answered of={refusals}>
        {(value) => (
          <>
            <div class="beside">
              <Choice
                label="Code"
                value={code}
                options={[
                  ['', 'all'],
                  ...value.counts.map(
                    (each) => [each.code, `${each.code} (${groupedText(String(each.count))} in 24 h)`] as const,
                  ),
                ]}
                onChoose={(chosen) => go(addressWith({ code: chosen }))}
              />
              <button type="button" class="plain" onClick={refusals.reload}>
                Look again
              </button>
            </div>
            <Table
              caption="The last fifty refusals"
              columns={REFUSALS}
              rows={value.refusals.filter((each) => code === '' || each.code === code)}
              csv="refusals"
              empty={
                <>
                  <p>There are none. One to see how it looks, some seconds later:</p>
                  <Curl line={infoLine('{"type":"noSuchType"}')} />
                </>
              }
            />
          </>
        )}
      </Answered>
    </section>
  )
}
