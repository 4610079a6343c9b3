// A time as people say it, with the exact time in a tooltip.

import { nowMs } from '../clock.dom.ts'
import { relativeText, timeText } from './format.ts'
import { RELATIVE } from './strings.ts'

export function Time({ atMs }: { readonly atMs: number }) {
  return (
    <time dateTime={new Date(atMs).toISOString()} title={RELATIVE.utc(timeText(atMs))}>
      {relativeText(atMs, nowMs())}
    </time>
  )
}
