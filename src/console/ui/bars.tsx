// A stacked bar chart per day with a legend. A table next to it shows the numbers.

import { Chart, HEIGHT, Swatch, WIDTH } from './chart.tsx'
import { axisSteps, dayMarks } from './chart-scale.ts'
import { compactText, shortDayText } from './format.ts'
import { type StackedColumn, stackedBars, sumOf } from './stacked-bars.ts'
import { BARS } from './strings.ts'

/** Texts of columns, by the time of their start. */
export interface ColumnAxis {
  readonly titleOf: (ms: number) => string
  readonly isMarked: (ms: number) => boolean
  readonly markOf: (ms: number) => string
}

interface BarsProps {
  readonly label: string
  /** One per UTC day, or per step of `axis`; the name is the day or an ISO time. */
  readonly columns: readonly StackedColumn[]
  /** Default: days. */
  readonly axis?: ColumnAxis
  readonly parts: readonly string[]
  readonly valueText: (value: number) => string
  /** Text of a round value at the axis. */
  readonly stepText?: (value: number) => string
}

const MARKS = 6
/** In a chart of few columns, a bar is no block. */
const MAX_BAR_WIDTH = WIDTH / 16
const OTHER_COLOR = 'light-dark(#616b70, #98a3a8)'
const COLORS = [
  'light-dark(#0b6e75, #3fb3bb)',
  'light-dark(#c26a1b, #e39a55)',
  'light-dark(#5a4fa2, #9a90e0)',
  'light-dark(#2f7d32, #74c079)',
  'light-dark(#b03060, #e77fa5)',
  'light-dark(#2864a8, #78ace6)',
  'light-dark(#7d6608, #cbb454)',
  OTHER_COLOR,
]

/** Color of a series by its index. */
export const seriesColor = (index: number) => COLORS[index % COLORS.length] ?? OTHER_COLOR

export function Bars({ label, columns, axis, parts, valueText, stepText = compactText }: BarsProps) {
  const sums = columns.map((column) => sumOf(column, parts))
  const steps = axisSteps(Math.max(...sums, 0))
  const bars = stackedBars(columns, parts, HEIGHT, steps.at(-1))
  const step = WIDTH / Math.max(columns.length, 1)
  const width = Math.min(step - Math.min(step * 0.2, 4), MAX_BAR_WIDTH)
  const colorOf = (part: string) => seriesColor(parts.indexOf(part))
  const middleOf = (column: number) => (column + 0.5) / Math.max(columns.length, 1)
  const times = columns.map(({ name }) => Date.parse(name))
  const days = times.length === 0 || axis ? [] : dayMarks(times[0] ?? 0, times.at(-1) ?? 0, MARKS)
  const { titleOf, isMarked, markOf } = axis ?? {
    titleOf: shortDayText,
    isMarked: (ms: number) => days.includes(ms),
    markOf: shortDayText,
  }
  return (
    <Chart
      label={label}
      steps={steps}
      stepText={stepText}
      marks={times.flatMap((ms, i) => (isMarked(ms) ? [{ at: middleOf(i), text: markOf(ms) }] : []))}
      points={columns.map((column, i) => ({
        at: middleOf(i),
        title: titleOf(times[i] ?? 0),
        rows: [
          { name: BARS.total, text: valueText(sums[i] ?? 0) },
          ...parts
            .filter((part) => (column.parts[part] ?? 0) > 0)
            .map((part) => ({ name: part, text: valueText(column.parts[part] ?? 0), color: colorOf(part) })),
        ],
      }))}
      legend={
        <ul class="legend">
          {parts.map((part) => (
            <li key={part}>
              <Swatch color={colorOf(part)} />
              {part}
            </li>
          ))}
        </ul>
      }
    >
      {bars.map(({ column, part, y, height }) => (
        <rect
          key={`${column} ${part}`}
          fill={colorOf(part)}
          x={column * step + (step - width) / 2}
          y={y}
          width={width}
          height={height}
        />
      ))}
    </Chart>
  )
}
