// A chart of stacked columns, with a table of its numbers for who does not see it.

import { type StackedColumn, stackedBars } from './stacked.ts'

interface BarsProps {
  /** What is shown, with its period. */
  readonly label: string
  readonly columns: readonly StackedColumn[]
  readonly parts: readonly string[]
  /** A value with its unit. */
  readonly words: (value: number) => string
}

const HEIGHT = 120
const STEP = 12
/** Colours of style.css: `part0` to `part7`. */
const COLOURS = 8

export function Bars({ label, columns, parts, words }: BarsProps) {
  const bars = stackedBars(columns, parts, HEIGHT)
  const classOf = (part: string) => `part${parts.indexOf(part) % COLOURS}`
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
            class={classOf(part)}
            x={column * STEP + 1}
            y={y}
            width={STEP - 2}
            height={height}
          >
            <title>
              {columns[column]?.name}: {part} {words(columns[column]?.parts[part] ?? 0)}
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
                <rect class={classOf(part)} width="10" height="10" />
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
