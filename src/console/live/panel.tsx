// A panel of the live page, and a select for its header.

import type { ComponentChildren } from 'preact'

interface PanelProps {
  readonly name: string
  readonly title: ComponentChildren
  readonly head?: ComponentChildren
  readonly children: ComponentChildren
}

export function Panel({ name, title, head, children }: PanelProps) {
  return (
    <section class={`panel ${name}`} aria-labelledby={`${name}-title`}>
      <div class="panel-head">
        <h2 id={`${name}-title`}>{title}</h2>
        {head}
      </div>
      {children}
    </section>
  )
}

/** A row of a table of three columns that has nothing to show yet. */
export const EmptyRow = () => (
  <tr class="no-row">
    <td />
    <td />
    <td />
  </tr>
)

interface PanelSelectProps<Value extends string | number> {
  /** Visible unless wrapped in `screenReaderText`. */
  readonly label: ComponentChildren
  readonly value: Value
  readonly options: readonly Value[]
  readonly text?: (value: Value) => ComponentChildren
  readonly isDisabled?: boolean
  readonly onSelect: (value: Value) => void
}

export function PanelSelect<Value extends string | number>({
  label,
  value,
  options,
  text,
  isDisabled,
  onSelect,
}: PanelSelectProps<Value>) {
  return (
    <label>
      {label}
      <select
        value={String(value)}
        disabled={isDisabled}
        onChange={({ currentTarget: { selectedIndex } }) => onSelect(options[selectedIndex] ?? value)}
      >
        {options.map((one) => (
          <option key={one} value={String(one)}>
            {text?.(one) ?? one}
          </option>
        ))}
      </select>
    </label>
  )
}

export const screenReaderText = (text: string) => <span class="unseen">{text}</span>
