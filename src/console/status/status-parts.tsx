// What `GET /status` answers, and parts of it that its public page and the operator's pages both show.

import { useEffect } from 'preact/hooks'
import type * as z from 'zod'
import type { StatusShape } from '../../protocol/feed/status-shape.ts'
import { useQuery } from '../queries.dom.ts'
import { timeText } from '../ui/format.ts'
import type { Figure } from '../ui/parts.tsx'
import { type Column, numberColumn, Table } from '../ui/table.tsx'

const REGION_COLUMNS: readonly Column<Region>[] = [
  { name: 'Region', text: ({ region }) => region },
  numberColumn('Relays', ({ relays }) => relays),
  numberColumn('Sockets', ({ sockets }) => sockets),
  numberColumn('Age p50, ms', ({ p50Ms }) => p50Ms),
  numberColumn('Age p99, ms', ({ p99Ms }) => p99Ms),
]
const GAP_COLUMNS: readonly Column<Gap>[] = [
  numberColumn('From', ({ from }) => from),
  numberColumn('To', ({ to }) => to),
  numberColumn('Blocks', ({ from, to }) => to - from + 1),
  { name: 'Why', text: ({ why }) => why ?? '' },
  { name: 'Recorded (UTC)', text: ({ atMs }) => (atMs === null ? '' : timeText(atMs)) },
]

export function StateNote({ now }: { now: Status }) {
  return (
    <p class={now.state === 'live' ? 'note' : 'note trouble'} role="status">
      The feed of {now.chain} is <b>{now.state}</b>. {now.advice}
    </p>
  )
}

export const heightFigure = ({ height, durable }: Status): Figure => ({
  name: 'Height',
  value: height ?? '–',
  note: `stored up to ${durable ?? '–'}`,
})

export const archiveFigure = ({ archive }: Status): Figure => ({
  name: 'Archived up to',
  value: archive?.height ?? '–',
  note: archive === null ? 'there is no archive' : `${archive.behind ?? '?'} blocks behind`,
})

export function BlockAges({ regions }: { regions: readonly Region[] }) {
  return (
    <>
      <h2>Age of blocks when they are sent, by region, last minute</h2>
      <Table
        caption="Ages by region"
        columns={REGION_COLUMNS}
        rows={regions}
        empty="No relay sends blocks now: it begins with the first subscription."
        csv="regions"
      />
    </>
  )
}

export function Gaps({ gaps }: { gaps: readonly Gap[] }) {
  return (
    <>
      <h2>Gaps: heights that never came, the last 20</h2>
      <Table caption="Gaps" columns={GAP_COLUMNS} rows={gaps} empty="None." csv="gaps" />
    </>
  )
}

export type Status = z.infer<typeof StatusShape>
export type Feeder = Status['feeders'][number]
export type Region = Status['regions'][number]
export type Gap = Status['gaps'][number]
export type WrongBook = Status['wrongBooks'][number]
export type Source = Status['sources'][number]
export type ChainNode = Status['chains'][number]['nodes'][number]

const REFRESH_MS = 5_000

/** Asked again every few seconds while the page is looked at. */
export function useStatus() {
  const status = useQuery<Status>(() => '/status')
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') status.reload()
    }, REFRESH_MS)
    return () => clearInterval(timer)
  }, [])
  return status
}
