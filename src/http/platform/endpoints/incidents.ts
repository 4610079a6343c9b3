// Operator endpoints for incidents and planned maintenance, which the status page and its RSS feed show.

import * as z from 'zod'
import type { Failure } from '../../../core/failure.ts'
import { err } from '../../../core/result.ts'
import { COMPONENTS } from '../../../monitor/availability.ts'
import { INCIDENT_KINDS, STATES_OF, stateFault } from '../../../monitor/incident-states.ts'
import { IncidentShape } from '../../../monitor/incidents.ts'
import { createdResponse, defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { Before, Limit, Next, nextCursor } from '../fields.ts'
import { badField } from '../refusal.ts'

const MESSAGE_RULE = 'must be 1 to 2,000 characters'
const TITLE_RULE = 'must be 1 to 120 characters'
const STATES = [...STATES_OF.incident, ...STATES_OF.maintenance] as const
const Message = z
  .string('is required')
  .trim()
  .min(1, MESSAGE_RULE)
  .max(2_000, MESSAGE_RULE)
  .describe('Message for customers, as plain text')
const State = z
  .enum(STATES, `must be one of ${STATES.join(', ')}`)
  .describe(
    `State from now on. Of an incident: ${STATES_OF.incident.join(', ')}; of a maintenance: ${STATES_OF.maintenance.join(', ')}`,
  )
const TIME_RULE = 'must be Unix milliseconds before the year 2100'
const Time = z.int(TIME_RULE).min(0, TIME_RULE).max(Date.UTC(2100), TIME_RULE)
const WINDOW = {
  starts: Time.optional().describe('Start of the maintenance window, Unix milliseconds'),
  ends: Time.optional().describe('End of the maintenance window, Unix milliseconds'),
}
const WINDOW_FAULT = { message: 'must be after "starts"', path: ['ends'] }
const isWindow = ({ starts, ends }: { readonly starts?: number | undefined; readonly ends?: number | undefined }) =>
  starts === undefined || ends === undefined || ends > starts

const NewIncident = z
  .strictObject({
    kind: z.enum(INCIDENT_KINDS, `must be one of ${INCIDENT_KINDS.join(', ')}`).describe('Kind'),
    title: z.string('is required').trim().min(1, TITLE_RULE).max(120, TITLE_RULE).describe('Title for customers'),
    components: z
      .array(z.enum(COMPONENTS, `must be one of ${COMPONENTS.join(', ')}`))
      .max(COMPONENTS.length)
      .describe('Components concerned'),
    state: State,
    message: Message,
    ...WINDOW,
  })
  .refine(isWindow, WINDOW_FAULT)
  .refine(({ kind, starts, ends }) => kind === 'incident' || (starts !== undefined && ends !== undefined), {
    message: 'is required for a maintenance, with "ends"',
    path: ['starts'],
  })

const IncidentUpdate = z.strictObject({ state: State, message: Message, ...WINDOW }).refine(isWindow, WINDOW_FAULT)

const IncidentId = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'must be the number of an incident')
  .describe('Number')
const PARAMS = { incident: IncidentId }
const NOT_FOUND: Failure = { kind: 'not_found', what: 'This incident', hint: 'See GET /admin/incidents.' }

const INCIDENT_EXAMPLE = {
  id: 12,
  kind: 'incident',
  title: 'Delayed order books',
  components: ['streams'],
  state: 'identified',
  starts: null,
  ends: null,
  closed: null,
  updates: [{ number: 31, state: 'identified', message: 'A node is behind. We are switching to another one.' }],
}

const listIncidents = defineEndpoint({
  id: 'listIncidents',
  route: 'GET /admin/incidents',
  summary: 'List incidents and maintenance, newest first',
  query: z.strictObject({ before: Before, limit: Limit }),
  responses: okResponse(
    'A page of incidents',
    z.object({ incidents: z.array(IncidentShape).describe('Incidents, newest first'), next: Next }),
    { incidents: [INCIDENT_EXAMPLE] },
  ),
  handle: async ({ query: { before, limit } }, { incidents }) => {
    const rows = await incidents.list(before, limit + 1)
    return reply(200, { incidents: rows.slice(0, limit), next: nextCursor(rows, limit, ({ id }) => id) })
  },
})

const createIncident = defineEndpoint({
  id: 'createIncident',
  route: 'POST /admin/incidents',
  summary: 'Post an incident or a planned maintenance on the status page',
  description: 'It appears on `/status` and in its RSS feed within a minute.',
  body: {
    schema: NewIncident,
    optional: false,
    example: {
      kind: 'incident',
      title: 'Delayed order books',
      components: ['streams'],
      state: 'investigating',
      message: 'Order books arrive late. We are looking into it.',
    },
  },
  responses: createdResponse('The incident', IncidentShape, INCIDENT_EXAMPLE),
  handle: async ({ body }, { incidents, now }) => {
    const fault = stateFault(body.kind, body.state)
    return fault === null ? reply(201, await incidents.create(body, now())) : err(badField('state', fault))
  },
})

const updateIncident = defineEndpoint({
  id: 'updateIncident',
  route: 'POST /admin/incidents/{incident}/updates',
  summary: 'Add an update to an incident or a maintenance',
  description:
    'The states `resolved` and `completed` close it; any other state opens it again. `starts` and `ends` move the maintenance window.',
  params: PARAMS,
  body: {
    schema: IncidentUpdate,
    optional: false,
    example: { state: 'resolved', message: 'Order books are in time again.' },
  },
  responses: okResponse('The incident', IncidentShape, { ...INCIDENT_EXAMPLE, state: 'resolved' }),
  refusals: [409],
  handle: async ({ params, body }, { incidents, now }) => {
    const id = Number(params.incident)
    const before = await incidents.find(id)
    if (before === null) return err(NOT_FOUND)
    const fault = stateFault(before.kind, body.state)
    if (fault !== null) return err(badField('state', fault))
    if (!isWindow({ starts: body.starts ?? before.starts ?? undefined, ends: body.ends ?? before.ends ?? undefined }))
      return err(badField('ends', WINDOW_FAULT.message))
    const isStored = await incidents.update(id, body, now())
    const after = await incidents.find(id)
    if (after === null) return err(NOT_FOUND)
    if (isStored) return reply(200, after)
    return err({ kind: 'conflict', message: `incident ${id} has 100 updates. Post a new incident` })
  },
})

const removeIncident = defineEndpoint({
  id: 'removeIncident',
  route: 'DELETE /admin/incidents/{incident}',
  summary: 'Remove an incident that was posted by mistake, with its updates',
  params: PARAMS,
  responses: okResponse('Removed', z.object({ removed: z.int().describe('Number of the incident') }), { removed: 12 }),
  handle: async ({ params }, { incidents }) => {
    const id = Number(params.incident)
    return (await incidents.remove(id)) ? reply(200, { removed: id }) : err(NOT_FOUND)
  },
})

export const INCIDENTS = [listIncidents, createIncident, updateIncident, removeIncident]
