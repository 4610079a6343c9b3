// A chart with a value axis, marks below it, and values to read by pointer and keyboard. Its lines or bars are SVG in a
// plane of WIDTH × HEIGHT that stretches; text is laid over it, so that it does not.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { nearestPoint } from './chart-scale.ts'
import { CHART } from './strings.ts'

export const WIDTH = 1_000
export const HEIGHT = 200

export interface ChartPoint {
  /** Share of the width. */
  readonly at: number
  readonly title: string
  readonly rows: readonly { readonly name: string; readonly text: string; readonly color?: string | undefined }[]
}

interface ChartProps {
  /** Describes the chart to screen readers. */
  readonly label: string
  /** Values of the horizontal lines, ascending from 0. */
  readonly steps: readonly number[]
  readonly stepText: (value: number) => string
  /** `at`: share of the width. */
  readonly marks: readonly { readonly at: number; readonly text: string }[]
  /** Places with values to read, from left to right. */
  readonly points: readonly ChartPoint[]
  readonly legend?: ComponentChildren
  readonly children: ComponentChildren
}

export function Chart({ label, steps, stepText, marks, points, legend, children }: ChartProps) {
  const index = useSignal<number | null>(null)
  const top = steps.at(-1) ?? 1
  const shown = index.value === null ? undefined : points[Math.min(index.value, points.length - 1)]
  const onMove = (event: PointerEvent) => {
    const { left, width } = (event.currentTarget as HTMLElement).getBoundingClientRect()
    index.value = nearestPoint(points, (event.clientX - left) / Math.max(width, 1))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const last = points.length - 1
    const now = index.value ?? last
    const to = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last }[event.key]
    if (event.key === 'Escape') index.value = null
    if (to === undefined) return
    event.preventDefault()
    index.value = Math.max(0, Math.min(last, to))
  }
  const hide = () => {
    index.value = null
  }
  return (
    <figure class="chart">
      <div class="area">
        {steps.map((step) => (
          <span key={step} class="y" style={{ bottom: `${(step / top) * 100}%` }}>
            {stepText(step)}
          </span>
        ))}
        <svg role="img" aria-label={label} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none">
          {steps.map((step) => (
            <path key={step} class="grid" d={`M0 ${HEIGHT - (step / top) * HEIGHT}H${WIDTH}`} />
          ))}
          {children}
          {shown && <path class="hand" d={`M${shown.at * WIDTH} 0V${HEIGHT}`} />}
        </svg>
        {points.length > 0 && (
          <div
            class="hits"
            role="slider"
            tabIndex={0}
            aria-label={CHART.pick(label)}
            aria-valuemin={0}
            aria-valuemax={points.length - 1}
            aria-valuenow={index.value ?? points.length - 1}
            aria-valuetext={textOf(shown ?? points.at(-1))}
            onPointerMove={onMove}
            onPointerDown={onMove}
            onPointerLeave={hide}
            onKeyDown={onKeyDown}
            onBlur={hide}
          />
        )}
        {shown && <Tip point={shown} />}
        {marks.map(({ at, text }) => (
          <span key={at} class="x" style={{ left: `${at * 100}%` }}>
            {text}
          </span>
        ))}
      </div>
      {legend && <figcaption>{legend}</figcaption>}
    </figure>
  )
}

const textOf = (point: ChartPoint | undefined) =>
  point && [point.title, ...point.rows.map(({ name, text }) => `${name} ${text}`)].join(', ')

/** On the side of its point that has more room. */
function Tip({ point: { at, title, rows } }: { point: ChartPoint }) {
  const side = at < 0.5 ? { left: `calc(${at * 100}% + 12px)` } : { right: `calc(${(1 - at) * 100}% + 12px)` }
  return (
    <div class="tip" style={side} aria-hidden="true">
      <b>{title}</b>
      <dl>
        {rows.map(({ name, text, color }) => [
          <dt key={`n ${name}`}>
            {color && <Swatch color={color} />}
            {name}
          </dt>,
          <dd key={`v ${name}`}>{text}</dd>,
        ])}
      </dl>
    </div>
  )
}

export const Swatch = ({ color }: { readonly color: string }) => (
  <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
    <rect fill={color} width="10" height="10" />
  </svg>
)
