// The coverage of the archive: a calendar of a year, and what one can do with a chosen day or hour. Invariant: nothing is
// requested before the owner agreed to its price, which this tab remembers.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { navigate, urlWith, useParam } from '../address.dom.ts'
import { nowMs } from '../clock.dom.ts'
import { useQuery, useSharedFailure } from '../queries.dom.ts'
import { type RequestError, request } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { dateText, dayText, groupedText, sizeText, timeText } from '../ui/format.ts'
import { Button, bindInput } from '../ui/frame.tsx'
import { CopyButton, ErrorNote, Figures, QueryView, Reserved } from '../ui/parts.tsx'
import { amountColumn, type Column, Table } from '../ui/table.tsx'
import { Calendar, Hours } from './data-calendar.tsx'
import {
  type Coverage as CoverageValue,
  type CoveredPeriod,
  calendarWeeks,
  coverageWindows,
  coveredDays,
  coveredHours,
  dayOf,
  dayTextOf,
  exportCommands,
  type Gap,
  hourOf,
  hourTextOf,
  mergedCoverage,
  replayAddress,
} from './data-coverage.ts'
import { useExportRange } from './data-range.dom.ts'
import * as strings from './data-strings.ts'

interface ArchiveProps {
  readonly chain: string
  /** Of the history calls. */
  readonly path: string
}

const AGREED = 'weir-coverage'
/** Browsers may deny access to the storage. */
function hasAgreed(): boolean {
  try {
    return sessionStorage.getItem(AGREED) !== null
  } catch {
    return false
  }
}
function rememberAgreement(): void {
  try {
    sessionStorage.setItem(AGREED, '1')
  } catch {
    // Then the next visit asks again.
  }
}

export function Coverage(props: ArchiveProps) {
  const isWanted = useSignal(hasAgreed())
  const show = () => {
    rememberAgreement()
    isWanted.value = true
  }
  return (
    <section class="card">
      <h2>{strings.dataCoverage}</h2>
      {isWanted.value ? (
        <Year {...props} />
      ) : (
        <>
          <p>{strings.dataCoverageText}</p>
          <Button text={strings.dataCoverageShow} onClick={show} />
        </>
      )}
    </section>
  )
}

interface YearValue {
  readonly nowMs: number
  readonly coverage: CoverageValue
  readonly days: readonly CoveredPeriod[]
  readonly gaps: readonly Gap[]
  readonly hasMoreGaps: boolean
}

const CALENDAR_HEIGHT = 300

function Year(props: ArchiveProps) {
  const { value, error, reload } = useYear(props.path)
  const chosen = useParam('day')
  const dayMs = dayOf(chosen.value)
  const choose = (atMs: number) => {
    const day = dayText(atMs)
    navigate(urlWith({ day, from: null, to: null, hour: null }))
  }
  const year = value.value
  const day = year?.days.find(({ startMs }) => startMs === dayMs)
  return (
    <Reserved height={CALENDAR_HEIGHT} isLoading={year === null && error.value === null}>
      <ErrorNote error={error.value} onRetry={reload} />
      {year !== null && (
        <>
          <p class="soft">{strings.dataCoverageHint}</p>
          <Calendar days={year.days} nowMs={year.nowMs} chosenMs={dayMs} onChoose={choose} />
          {year.hasMoreGaps && <p class="note">{strings.dataGapsCut}</p>}
          {day && <Day key={day.startMs} day={day} gaps={year.gaps} {...props} />}
          <Tables {...year} />
        </>
      )}
    </Reserved>
  )
}

const GAPS_MAX = 1_000

/** Requests the newest days first, and older ones only if the archive has them. */
function useYear(path: string) {
  const value = useSignal<YearValue | null>(null)
  const error = useSignal<RequestError | null>(null)
  const version = useSignal(0)
  const reload = () => void version.value++
  const current = version.value
  useEffect(() => {
    const controller = new AbortController()
    loadYear(path, nowMs(), controller.signal).then(
      (result) => {
        if (controller.signal.aborted) return
        if ('error' in result) error.value = result.error
        else value.value = result
        if (!('error' in result)) error.value = null
      },
      () => {},
    )
    return () => controller.abort()
  }, [path, current])
  useSharedFailure(error, reload)
  return { value, error, reload }
}

async function loadYear(
  path: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<YearValue | { readonly error: RequestError }> {
  const days = calendarWeeks(nowMs).flatMap((week) => week.filter((day) => day !== null))
  const [newest, ...older] = coverageWindows(days[0] ?? nowMs, nowMs)
  const load = ({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }) =>
    request<CoverageValue>('GET', `${path}coverage?from=${fromMs}&to=${toMs}`, undefined, signal)
  const first = await load(newest ?? { fromMs: nowMs, toMs: nowMs })
  if (!first.ok) return first
  const beginsMs = first.value.from?.time_ms ?? Number.POSITIVE_INFINITY
  const parts = await Promise.all(older.filter(({ toMs }) => toMs >= beginsMs).map(load))
  const loaded: [CoverageValue, ...CoverageValue[]] = [first.value]
  for (const part of parts) {
    if (!part.ok) return part
    loaded.push(part.value)
  }
  const coverage = mergedCoverage(loaded)
  const after = coverage.days[0] === undefined ? '' : `&after=${Math.max(0, coverage.days[0].from_height - 1)}`
  const gaps = await request<Responses['historyGaps']>(
    'GET',
    `${path}gaps?limit=${GAPS_MAX}${after}`,
    undefined,
    signal,
  )
  if (!gaps.ok) return gaps
  const { gaps: listed, next } = gaps.value
  return { nowMs, coverage, days: coveredDays(days, coverage, listed), gaps: listed, hasMoreGaps: next !== null }
}

interface DayProps extends ArchiveProps {
  readonly day: CoveredPeriod
  readonly gaps: readonly Gap[]
}

/** Its hours cost one request, which choosing the day agreed to. */
function Day({ day, gaps, path, chain }: DayProps) {
  const query = useQuery<CoverageValue>(() => `${path}coverage?day=${dayText(day.startMs)}`)
  const { hour: hourParam, bounds } = useExportRange()
  const hour = hourOf(hourParam.value)
  const choose = (chosen: number) => {
    navigate(urlWith({ hour: String(chosen), from: null, to: null }))
  }
  const hours = query.value.value && coveredHours(day.startMs, query.value.value, gaps)
  const chosen = hour === null ? undefined : hours?.[hour]
  const { from } = query.value.value ?? {}
  const startMs = Math.max(chosen?.startMs ?? day.startMs, from?.time_ms ?? 0)
  const hasBlocks = (chosen ?? day).blocks > 0
  return (
    <section class="day" aria-label={dateText(day.startMs)}>
      <p class="beside">
        <b role="status">{dayTextOf(day)}</b>
        <Button
          text={strings.dayClose}
          class="plain"
          onClick={() => navigate(urlWith({ day: null, hour: null, from: null, to: null }))}
        />
      </p>
      <QueryView query={query} height={40}>
        {() => hours && <Hours day={day.startMs} hours={hours} chosen={hour} onChoose={choose} />}
      </QueryView>
      <p role="status">{chosen === undefined ? strings.hoursHint : hourTextOf(chosen)}</p>
      {hasBlocks && <ReplayLink startMs={startMs} />}
      {hasBlocks && <Commands text={exportCommands(location.origin, chain, bounds())} />}
    </section>
  )
}

function ReplayLink({ startMs }: { readonly startMs: number }) {
  const coin = useSignal('')
  return (
    <p class="beside">
      <label class="inline" for="replay-market">
        {strings.dayReplayMarket}
      </label>
      <input
        id="replay-market"
        class="short"
        placeholder={strings.dayReplayAny}
        maxLength={64}
        spellcheck={false}
        {...bindInput(coin)}
      />
      <a class="button" href={replayAddress(coin.value.trim(), startMs)}>
        {strings.dayReplay}
      </a>
    </p>
  )
}

function Commands({ text }: { readonly text: string }) {
  return (
    <details>
      <summary>{strings.dayCommands}</summary>
      <p>{strings.dayCommandsText}</p>
      <div class="sample">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: wide lines are scrolled with the keyboard. */}
        <pre tabIndex={0}>{text}</pre>
        <CopyButton text={text} />
      </div>
    </details>
  )
}

const DAY_COLUMNS: readonly Column<CoverageValue['days'][number]>[] = [
  { name: strings.dataColumnsDay, text: ({ day }) => day },
  amountColumn(strings.dataColumnsBlocks, ({ blocks }) => blocks),
  amountColumn(strings.dataColumnsFirstBlock, (day) => day.from_height),
  amountColumn(strings.dataColumnsLastBlock, (day) => day.to_height),
  { name: strings.dataColumnsEvents, text: (day) => sizeText(day.events_bytes), isNumber: true },
  { name: strings.dataColumnsBooks, text: (day) => sizeText(day.books_bytes), isNumber: true },
]
const GAP_COLUMNS: readonly Column<Gap>[] = [
  amountColumn(strings.dataColumnsFirstBlock, (gap) => gap.from_height),
  amountColumn(strings.dataColumnsLastBlock, (gap) => gap.to_height),
  { name: strings.dataColumnsAfter, text: (gap) => timeText(gap.after_ms) },
  { name: strings.dataColumnsBefore, text: (gap) => timeText(gap.before_ms) },
  { name: strings.dataColumnsState, text: ({ state }) => strings.dataGapStates[state] },
]
const REPAIR_COLUMNS: readonly Column<CoverageValue['repairs'][number]>[] = [
  amountColumn(strings.dataColumnsFirstBlock, (repair) => repair.from_height),
  amountColumn(strings.dataColumnsLastBlock, (repair) => repair.to_height),
  { name: strings.dataColumnsSource, text: ({ source }) => source },
  { name: strings.dataColumnsRepaired, text: (repair) => timeText(repair.at_ms) },
]

function Tables({ coverage: { from, to, days, repairs }, gaps }: YearValue) {
  const place = (position: CoverageValue['from']) => (position === null ? '–' : timeText(position.time_ms))
  const blocks = days.reduce((sum, day) => sum + day.blocks, 0)
  return (
    <details class="tables">
      <summary>{strings.dataTables}</summary>
      <Figures
        figures={[
          { name: strings.dataSince, value: place(from) },
          { name: strings.dataUntil, value: place(to) },
          { name: strings.dataColumnsBlocks, value: groupedText(String(blocks)), note: strings.dataLastYear },
        ]}
      />
      <Table
        caption={strings.dataCoverage}
        columns={DAY_COLUMNS}
        rows={[...days].reverse()}
        csv="coverage"
        empty={strings.dataNoDays}
      />
      <h3>{strings.dataGaps}</h3>
      <Table caption={strings.dataGaps} columns={GAP_COLUMNS} rows={gaps} csv="gaps" empty={strings.dataNoGaps} />
      <h3>{strings.dataRepairs}</h3>
      <Table
        caption={strings.dataRepairs}
        columns={REPAIR_COLUMNS}
        rows={repairs}
        csv="repairs"
        empty={strings.dataNoRepairs}
      />
    </details>
  )
}
