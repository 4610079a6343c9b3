// Numbers that matter, each with its name and what it is of.

import type { ComponentChildren } from 'preact'

export interface Figure {
  readonly name: string
  readonly value: ComponentChildren
  /** Its period, or what to think of it. */
  readonly note?: ComponentChildren
}

export function Figures({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <dl class="figures">
      {figures.map(({ name, value, note }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          {note && <dd class="of">{note}</dd>}
        </div>
      ))}
    </dl>
  )
}
