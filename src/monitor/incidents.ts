// Incidents and maintenance, as operators post them, and their RSS feed. Invariants (test/monitor/incidents.test.ts): the
// state of an incident is that of its newest update; the feed is well-formed XML, whatever was posted.

import * as z from 'zod'
import { DAY_MS } from '../core/time.ts'
import { visibleLines } from '../core/visible.ts'
import type { Frozen } from '../protocol/feed/sources-shape.ts'
import { COMPONENTS } from './availability.ts'
import { INCIDENT_KINDS, STATES_OF } from './incident-states.ts'

const State = z.enum([...STATES_OF.incident, ...STATES_OF.maintenance])

const Time = z.int().describe('Unix milliseconds')

export const IncidentShape = z
  .object({
    id: z.int().describe('Number of the incident'),
    kind: z.enum(INCIDENT_KINDS).describe('Kind'),
    title: z.string().describe('Title'),
    components: z.array(z.enum(COMPONENTS)).describe('Components concerned'),
    state: State.describe('State of the newest update'),
    starts: Time.nullable().describe('Start of the maintenance window, Unix milliseconds; null: no window'),
    ends: Time.nullable().describe('End of the maintenance window, Unix milliseconds; null: no window'),
    created: Time.describe('Time of the first update, Unix milliseconds'),
    closed: Time.nullable().describe('Time when it was resolved or completed, Unix milliseconds; null: it is open'),
    updates: z
      .array(
        z.object({
          number: z.int().describe('Number of the update'),
          at: Time.describe('Time of the update, Unix milliseconds'),
          state: State.describe('State from then on'),
          message: z.string().describe('Message, as plain text'),
        }),
      )
      .describe('Updates, newest first, at most 100'),
  })
  .meta({ id: 'Incident' })
export type Incident = Frozen<z.infer<typeof IncidentShape>>

const SHOWN_DAYS = 90

/** Whether the public page shows it. */
export const isShown = ({ closed }: Incident, nowMs: number) => closed === null || nowMs - closed < SHOWN_DAYS * DAY_MS

const FEED_ITEMS_MAX = 50

/** RSS 2.0 with an item per update, newest first. `origin`: of the status page, such as `https://api.example.com`. */
export function incidentsFeed(incidents: readonly Incident[], origin: string): string {
  const items = incidents
    .flatMap((incident) => incident.updates.map((update) => ({ incident, update })))
    .sort((a, b) => b.update.number - a.update.number)
    .slice(0, FEED_ITEMS_MAX)
  const page = `${origin}/status`
  return `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>${xml(`Status of ${origin.replace(/^https?:\/\//, '')}`)}</title>
<link>${xml(page)}</link>
<description>Incidents and planned maintenance</description>
<language>en</language>
<atom:link href="${xml(`${page}/incidents.rss`)}" rel="self" type="application/rss+xml"/>
${items.map(({ incident, update }) => feedItem(incident, update, page)).join('\n')}
</channel>
</rss>
`
}

function feedItem({ id, title }: Incident, { number, at, state, message }: Incident['updates'][number], page: string) {
  const stateText = state.replace('_', ' ')
  return `<item>
<title>${xml(`${stateText.charAt(0).toUpperCase()}${stateText.slice(1)}: ${title}`)}</title>
<link>${xml(`${page}#incident-${id}`)}</link>
<guid isPermaLink="false">${xml(`${page}#update-${number}`)}</guid>
<pubDate>${new Date(at).toUTCString()}</pubDate>
<description>${xml(message)}</description>
</item>`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** XML has no notation for most control characters, so they are shown as escapes. */
const xml = (text: string) => visibleLines(text).replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '')
