// A stacked bar chart with a legend. A table next to it shows the numbers.

import { type StackedColumn, stackedBars } from './stacked-bars.ts'

interface BarsProps {
  readonly label: string
  readonly columns: readonly StackedColumn[]
  readonly parts: readonly string[]
  readonly valueText: (value: number) => string
}

const HEIGHT = 120
const STEP = 12
const COLORS = [
  'light-dark(#0b6e75, #3fb3bb)',
  'light-dark(#c26a1b, #e39a55)',
  'light-dark(#5a4fa2, #9a90e0)',
  'light-dark(#2f7d32, #74c079)',
  'light-dark(#b03060, #e77fa5)',
  'light-dark(#2864a8, #78ace6)',
  'light-dark(#7d6608, #cbb454)',
  'light-dark(#616b70, #98a3a8)',
]

export function Bars({ label, columns, parts, valueText }: BarsProps) {
  const bars = stackedBars(columns, parts, HEIGHT)
  const fillOf = (part: string) => COLORS[parts.indexOf(part) % COLORS.length]
  return (
    <figure class="bars">
      <svg
        role="img"
        aria-label={label}
        viewBox={`0 0 ${Math.max(columns.length, 1) * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
      >
        {bars.map(({ column, part, y, height }) => (
          <rect
            key={`${column} ${part}`}
            fill={fillOf(part)}
            x={column * STEP + 1}
            y={y}
            width={STEP - 2}
            height={height}
          >
            <title>
              {columns[column]?.name}: {part} {valueText(columns[column]?.parts[part] ?? 0)}
            </title>
          </rect>
        ))}
      </svg>
      <figcaption>
        <span>{columns[0]?.name}</span>
        <ul>
          {parts.map((part) => (
            <li key={part}>
              <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
                <rect fill={fillOf(part)} width="10" height="10" />
              </svg>
              {part}
            </li>
          ))}
        </ul>
        <span>{columns.at(-1)?.name}</span>
      </figcaption>
    </figure>
  )
}
