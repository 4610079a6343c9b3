// The mark of Weir, and icons drawn as inline SVG in the color of the text beside them.

import type { IconNode } from 'lucide'
import { h } from 'preact'

interface IconProps {
  readonly node: IconNode
}

export function Icon({ node }: IconProps) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      {node.map(([tag, attributes], i) => h(tag, { ...attributes, key: i }))}
    </svg>
  )
}

/** Three descending lines over a sill. */
export const Mark = () => (
  <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
    <path d="M3 4h8c5 0 7 3 9 10M3 9h6c4 0 5.5 2 7 6M3 14h4c2.5 0 3.5.8 4.5 2.5M3 20.5h18" />
  </svg>
)
