// Parts of `GET /status` that the public status page and the operator pages share.

import type * as z from 'zod'
import type { StatusShape } from '../../protocol/feed/status-shape.ts'
import { usePolling } from '../polling.dom.ts'
import { useQuery } from '../queries.dom.ts'
import { groupedText, timeText } from '../ui/format.ts'
import type { Figure } from '../ui/parts.tsx'
import { amountColumn, type Column, numberColumn, Table } from '../ui/table.tsx'
import { FEED, STATUS } from './strings.ts'

const REGION_COLUMNS: readonly Column<Region>[] = [
  { name: FEED.regionColumns.region, text: ({ region }) => region },
  numberColumn(FEED.regionColumns.relays, ({ relays }) => relays),
  numberColumn(FEED.regionColumns.sockets, ({ sockets }) => sockets),
  numberColumn(FEED.regionColumns.p50, ({ p50Ms }) => p50Ms),
  numberColumn(FEED.regionColumns.p99, ({ p99Ms }) => p99Ms),
]
const GAP_COLUMNS: readonly Column<Gap>[] = [
  amountColumn(FEED.gapColumns.from, ({ from }) => from),
  amountColumn(FEED.gapColumns.to, ({ to }) => to),
  amountColumn(FEED.gapColumns.blocks, ({ from, to }) => to - from + 1),
  { name: FEED.gapColumns.reason, text: ({ why }) => why ?? '' },
  { name: FEED.gapColumns.recorded, text: ({ atMs }) => (atMs === null ? '' : timeText(atMs)) },
  {
    name: FEED.gapColumns.archive,
    text: ({ repair, repairedFrom }) => (repair === null ? '' : FEED.repair(repair.replaceAll('_', ' '), repairedFrom)),
  },
]

const countText = (count: number) => groupedText(String(count))

export function StateNote({ now }: { now: Status }) {
  return (
    <p class={now.state === 'live' ? 'note' : 'note trouble'} role="status">
      {STATUS.feed(now.chain)}
      <b>{now.state.replaceAll('_', ' ')}</b>. {now.advice}
    </p>
  )
}

export const heightFigure = ({ height, durable }: Status): Figure => ({
  name: FEED.height,
  value: height === null ? '–' : countText(height),
  note: FEED.stored(durable === null ? '–' : countText(durable)),
})

export const archiveFigure = ({ archive }: Status): Figure => ({
  name: FEED.archived,
  value: archive === null ? '–' : archive.height === null ? FEED.notArchived : countText(archive.height),
  note: archive === null ? FEED.noArchive : archive.behind === null ? null : FEED.behind(countText(archive.behind)),
})

export function BlockAges({ regions }: { regions: readonly Region[] }) {
  return (
    <>
      <h2>{FEED.ages}</h2>
      <Table caption={FEED.agesTable} columns={REGION_COLUMNS} rows={regions} empty={FEED.agesEmpty} csv="regions" />
    </>
  )
}

export function Gaps({ gaps }: { gaps: readonly Gap[] }) {
  return (
    <>
      <h2>{FEED.gaps}</h2>
      <Table caption={FEED.gapsTable} columns={GAP_COLUMNS} rows={gaps} empty={FEED.gapsEmpty} csv="gaps" />
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

export function useStatus() {
  const status = useQuery<Status>(() => '/status')
  usePolling(status, REFRESH_MS)
  return status
}
