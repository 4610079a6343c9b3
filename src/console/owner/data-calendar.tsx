// The calendar of archived days, and the hours of one day. Each has one tab stop; the arrow keys move within it.

import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { dateText } from '../ui/format.ts'
import {
  type CoverageState,
  type CoveredPeriod,
  calendarWeeks,
  dayTextOf,
  hourTextOf,
  nextDay,
  nextHour,
} from './data-coverage.ts'
import * as strings from './data-strings.ts'

/** Roles of a grid, in which only one cell can be reached with Tab. A table could not have the keys of a grid. */
const GRID = { role: 'grid', 'aria-label': strings.calendarLabel } as const
const ROW = { role: 'row' } as const
const ROW_HEADER = { role: 'rowheader' } as const
const cellOf = (text: string, isChosen: boolean) =>
  ({ role: 'gridcell', title: text, 'aria-label': text, 'aria-selected': isChosen }) as const

interface CalendarProps {
  readonly days: readonly CoveredPeriod[]
  readonly nowMs: number
  readonly chosenMs: number | null
  readonly onChoose: (dayMs: number) => void
}

/** Columns are weeks, rows are weekdays. `days` are those of `calendarWeeks`. */
export function Calendar({ days, nowMs, chosenMs, onChoose }: CalendarProps) {
  const weeks = calendarWeeks(nowMs)
  const firstMs = days[0]?.startMs ?? nowMs
  const lastMs = days.at(-1)?.startMs ?? nowMs
  const byStart = new Map(days.map((day) => [day.startMs, day]))
  const { stop, roving } = useRovingFocus(
    chosenMs !== null && byStart.has(chosenMs) ? chosenMs : lastMs,
    (key, atMs) => nextDay(key, atMs, firstMs, lastMs),
    onChoose,
  )
  // The newest days are on the right.
  useEffect(() => roving.ref.current?.parentElement?.scrollTo({ left: 1e6 }), [])
  return (
    <>
      <div class="calendar">
        <div class="months" aria-hidden="true">
          {monthsOf(weeks).map(({ month, weeks: span }) => (
            <span key={month} style={{ '--weeks': span }}>
              {span > 2 && month.slice(0, 3)}
            </span>
          ))}
        </div>
        <div {...GRID} {...roving}>
          {strings.weekdays.map((weekday, row) => (
            <div {...ROW} key={weekday}>
              <span {...ROW_HEADER}>{weekday}</span>
              {weeks.map((week) => {
                const day = byStart.get(week[row] ?? -1)
                return (
                  day && (
                    <span
                      key={day.startMs}
                      {...cellOf(dayTextOf(day), day.startMs === chosenMs)}
                      class={`cell ${day.state}`}
                      tabIndex={day.startMs === stop ? 0 : -1}
                      data-at={day.startMs}
                    />
                  )
                )
              })}
            </div>
          ))}
        </div>
      </div>
      <Legend />
    </>
  )
}

interface HoursProps {
  readonly day: number
  readonly hours: readonly CoveredPeriod[]
  readonly chosen: number | null
  readonly onChoose: (hour: number) => void
}

export function Hours({ day, hours, chosen, onChoose }: HoursProps) {
  const { stop, roving } = useRovingFocus(chosen ?? 0, nextHour, onChoose)
  return (
    <div class="hours" role="listbox" aria-label={strings.hoursLabel(dateText(day))} {...roving}>
      {hours.map((each, hour) => (
        <div
          key={hour}
          role="option"
          class={`cell ${each.state}`}
          title={hourTextOf(each)}
          aria-label={hourTextOf(each)}
          aria-selected={hour === chosen}
          tabIndex={hour === stop ? 0 : -1}
          data-at={hour}
        >
          <span aria-hidden="true">{String(hour).padStart(2, '0')}</span>
        </div>
      ))}
    </div>
  )
}

function Legend() {
  return (
    <ul class="states">
      {(Object.keys(strings.coverageStates) as CoverageState[]).map((state) => (
        <li key={state}>
          <span class={`cell ${state}`} />
          {strings.coverageStates[state]}
        </li>
      ))}
    </ul>
  )
}

/** Consecutive weeks by the month of their first day. */
function monthsOf(weeks: readonly (readonly (number | null)[])[]) {
  const months: { readonly month: string; weeks: number }[] = []
  for (const [firstMs] of weeks) {
    const month = dateText(firstMs ?? 0).slice(-8)
    const last = months.at(-1)
    if (last?.month === month) last.weeks++
    else months.push({ month, weeks: 1 })
  }
  return months
}

/**
 * Moves the focus between elements with `data-at`. `first` is the tab stop until a key moves it, `next` is where a key leads
 * to, and Enter and the space bar choose.
 */
function useRovingFocus(
  first: number,
  next: (key: string, at: number) => number | null,
  onChoose: (at: number) => void,
) {
  const ref = useRef<HTMLDivElement>(null)
  const moved = useSignal<number | null>(null)
  const at = moved.value ?? first
  const choose = (to: number) => {
    moved.value = to
    onChoose(to)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const isChoice = event.key === 'Enter' || event.key === ' '
    const to = isChoice ? at : next(event.key, at)
    if (to === null) return
    event.preventDefault()
    if (isChoice) return choose(to)
    moved.value = to
    ref.current?.querySelector<HTMLElement>(`[data-at="${to}"]`)?.focus()
  }
  const onClick = (event: MouseEvent) => {
    const cell = (event.target as Element).closest<HTMLElement>('[data-at]')
    if (cell !== null) choose(Number(cell.dataset.at))
  }
  return { stop: at, roving: { ref, onKeyDown, onClick } }
}
