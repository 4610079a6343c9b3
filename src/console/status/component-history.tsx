// A component with a bar for each of 90 days. The details of a day are shown on hover, on touch and with the arrow keys.

import { useSignal } from '@preact/signals'
import type { ComponentHistory } from '../../monitor/history.ts'
import type { Incident } from '../../monitor/incidents.ts'
import { dateText } from '../ui/format.ts'
import { HISTORY } from './history-strings.ts'
import { dayLines, incidentsOn, levelOf, percentText, stateOf, timesText } from './history-view.ts'
import { COMPONENT_NAMES } from './strings.ts'

const STEP = 4
const HEIGHT = 32
/** Days without data are short, so that they differ by more than their color. */
const EMPTY_HEIGHT = 8

interface ComponentCardProps {
  readonly component: ComponentHistory
  readonly incidents: readonly Incident[]
}

export function ComponentCard({ component, incidents }: ComponentCardProps) {
  const { name, uptimePercent, days, p50Ms, p99Ms } = component
  const title = COMPONENT_NAMES[name]
  const shown = stateOf(component, incidents)
  return (
    <section class="component" aria-label={title}>
      <h3>
        {title}
        <span class={`state ${shown.level}`}>{shown.text}</span>
      </h3>
      <p class="uptime" title={HISTORY.uptimeNote(days.length)}>
        {HISTORY.uptime(percentText(uptimePercent))}
      </p>
      <DayBars component={component} title={title} incidents={incidents} />
      <p class="range">
        <span>{HISTORY.daysAgo(days.length)}</span>
        <span title={HISTORY.measures[name]}>
          {p50Ms !== null && `${HISTORY.measureNames[name]}: ${timesText(p50Ms, p99Ms)}`}
        </span>
        <span>{HISTORY.today}</span>
      </p>
    </section>
  )
}

function DayBars({ component: { name, days }, title, incidents }: ComponentCardProps & { readonly title: string }) {
  const chosen = useSignal<number | null>(null)
  const last = days.length - 1
  const choose = (index: number) => {
    chosen.value = Math.min(Math.max(index, 0), last)
  }
  const point = ({ currentTarget, clientX }: PointerEvent & { readonly currentTarget: HTMLElement }) => {
    const { left, width } = currentTarget.getBoundingClientRect()
    choose(Math.floor(((clientX - left) / width) * days.length))
  }
  const press = (event: KeyboardEvent) => {
    const now = chosen.value ?? last
    const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last }[event.key]
    if (event.key === 'Escape') chosen.value = null
    if (next === undefined) return
    event.preventDefault()
    choose(next)
  }
  const shown = chosen.value === null ? undefined : days[chosen.value]
  const linesOf = (day: (typeof days)[number]) => [
    ...dayLines(day),
    ...incidentsOn(incidents, name, day.date).map((incident) => incident.title),
  ]
  const current = days[chosen.value ?? last]
  return (
    <div
      class="days"
      role="slider"
      tabIndex={0}
      aria-label={HISTORY.barsLabel(title)}
      aria-valuemin={1}
      aria-valuemax={days.length}
      aria-valuenow={(chosen.value ?? last) + 1}
      aria-valuetext={current && [dateText(Date.parse(current.date)), ...linesOf(current)].join('. ')}
      onPointerMove={point}
      onPointerDown={point}
      onPointerLeave={() => (chosen.value = null)}
      onFocus={() => choose(chosen.value ?? last)}
      onBlur={() => (chosen.value = null)}
      onKeyDown={press}
    >
      <svg viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {days.map((day, index) => {
          const level = levelOf(day)
          const height = level === 'none' ? EMPTY_HEIGHT : HEIGHT
          return (
            <rect
              key={day.date}
              class={index === chosen.value ? `${level} chosen` : level}
              x={index * STEP}
              y={HEIGHT - height}
              width={STEP - 1}
              height={height}
            />
          )
        })}
      </svg>
      {shown && <Tip share={(chosen.value ?? 0) / last} date={shown.date} lines={linesOf(shown)} />}
    </div>
  )
}

/** `share`: position of the day, from 0 to 1. The box stays within the bars. */
function Tip({ share, date, lines }: { share: number; date: string; lines: readonly string[] }) {
  const percent = `${(share * 100).toFixed(1)}%`
  return (
    <div class="tip" aria-hidden="true" style={{ left: percent, transform: `translateX(-${percent})` }}>
      <b>{dateText(Date.parse(date))}</b>
      {lines.map((line) => (
        <span key={line}>{line}</span>
      ))}
    </div>
  )
}
