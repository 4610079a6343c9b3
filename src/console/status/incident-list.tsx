// Incidents and maintenance. Invariant: what was posted is rendered as text, never as HTML.

import { useEffect, useRef } from 'preact/hooks'
import type { Incident } from '../../monitor/incidents.ts'
import { dateText, durationText, timeText } from '../ui/format.ts'
import { labelOf } from '../ui/strings.ts'
import { HISTORY } from './history-strings.ts'
import { DAY_MS } from './history-view.ts'
import { COMPONENT_NAMES, INCIDENT_KIND_NAMES } from './strings.ts'

/** A time: recent ones in words, with the exact time in the title. */
function Ago({ at }: { at: number }) {
  const passedMs = Date.now() - at
  const isRecent = passedMs >= 0 && passedMs < DAY_MS
  return (
    <time dateTime={new Date(at).toISOString()} title={HISTORY.utc(timeText(at))}>
      {isRecent ? HISTORY.ago(durationText(passedMs)) : HISTORY.utc(minuteText(at))}
    </time>
  )
}

/** `25 Nov 2026, 22:40` */
const minuteText = (unixMs: number) => `${dateText(unixMs)}, ${timeText(unixMs).slice(11, 16)}`

/** `25 Nov 2026, 22:40 to 23:40 UTC` */
const windowText = (starts: number, ends: number) =>
  HISTORY.window(
    minuteText(starts),
    dateText(starts) === dateText(ends) ? timeText(ends).slice(11, 16) : minuteText(ends),
  )

export function IncidentCard({ incident }: { incident: Incident }) {
  const { id, kind, title, components, state, starts, ends, closed, updates } = incident
  const card = useRef<HTMLElement>(null)
  const anchor = `incident-${id}`
  // The browser looked for the address before the incidents arrived.
  useEffect(() => {
    if (location.hash === `#${anchor}`) card.current?.scrollIntoView()
  }, [anchor])
  return (
    <article ref={card} id={anchor} class={closed === null ? `incident open ${kind}` : 'incident'}>
      <h3>
        <a href={`#${anchor}`}>{title}</a> <span class="state">{labelOf(state)}</span>
      </h3>
      <p class="soft">
        {[
          INCIDENT_KIND_NAMES[kind],
          ...components.map((name) => COMPONENT_NAMES[name]),
          ...(starts === null || ends === null ? [] : [windowText(starts, ends)]),
        ].join(' · ')}
      </p>
      <ol>
        {updates.map(({ number, at, state: set, message }) => (
          <li key={number}>
            <b>{labelOf(set)}</b> <Ago at={at} />
            <p class="message">{message}</p>
          </li>
        ))}
      </ol>
    </article>
  )
}
