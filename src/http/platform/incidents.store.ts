// Incidents and maintenance in D1. Invariants: an incident and its first update are stored together, as are an update and
// the state that it sets; a row that cannot be read, for example because an older release does not know its state, hides
// no other row.

import * as z from 'zod'
import { logEvent } from '../../core/log.client.ts'
import { isClosing } from '../../monitor/incident-states.ts'
import { type Incident, IncidentShape } from '../../monitor/incidents.ts'
import type { IncidentChange, Incidents, NewIncident } from './platform-api.ts'

const UPDATES_MAX = 100

const json = z.string().transform((text): unknown => JSON.parse(text))
const { id, kind, title, components, starts, ends, created, closed, updates } = IncidentShape.shape
const Row = z.object({
  id,
  kind,
  title,
  components: json.pipe(components),
  starts,
  ends,
  created,
  closed,
  updates: json.pipe(updates),
})

const SELECT = `SELECT i.id, i.kind, i.title, i.components, i.starts, i.ends, i.created, i.closed,
  (SELECT json_group_array(json_object('number', u.number, 'at', u.at, 'state', u.state, 'message', u.message))
    FROM incident_updates u WHERE u.incident = i.id) AS updates
  FROM incidents i`

export class IncidentStore implements Incidents {
  readonly #db: D1Database

  constructor(db: D1Database) {
    this.#db = db
  }

  async list(before: number | undefined, limit: number): Promise<Incident[]> {
    const select = this.#db.prepare(`${SELECT} WHERE i.id < ? ORDER BY i.id DESC LIMIT ?`)
    const found: Incident[] = []
    for (let from = before ?? Number.MAX_SAFE_INTEGER; found.length < limit; ) {
      const missing = limit - found.length
      const { results } = await select.bind(from, missing).all<{ id: number }>()
      found.push(...results.flatMap((row) => incidentOf(row) ?? []))
      const last = results.at(-1)
      if (last === undefined || results.length < missing) break
      from = last.id
    }
    return found
  }

  async find(id: number): Promise<Incident | null> {
    const row = await this.#db.prepare(`${SELECT} WHERE i.id = ?`).bind(id).first()
    return row === null ? null : incidentOf(row)
  }

  async create(incident: NewIncident, nowMs: number): Promise<Incident> {
    const { kind, title, components, state, message, starts, ends } = incident
    const insert = `INSERT INTO incidents (kind, title, components, starts, ends, created, closed)
      VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`
    const closed = isClosing(state) ? nowMs : null
    const values = [kind, title, JSON.stringify(components), starts ?? null, ends ?? null, nowMs, closed]
    const first = `INSERT INTO incident_updates (incident, at, state, message)
      VALUES ((SELECT max(id) FROM incidents), ?, ?, ?)`
    const [made] = await this.#db.batch<{ id: number }>([
      this.#db.prepare(insert).bind(...values),
      this.#db.prepare(first).bind(nowMs, state, message),
    ])
    const stored = await this.find(made?.results[0]?.id ?? 0)
    if (stored === null) throw new Error('the new incident was removed')
    return stored
  }

  async update(id: number, { state, message, starts, ends }: IncidentChange, nowMs: number): Promise<boolean> {
    const isFree = '(SELECT count(*) FROM incident_updates WHERE incident = ?1) < ?2'
    const change = `UPDATE incidents SET closed = ?3, starts = coalesce(?4, starts), ends = coalesce(?5, ends)
      WHERE id = ?1 AND ${isFree}`
    const insert = `INSERT INTO incident_updates (incident, at, state, message)
      SELECT id, ?3, ?4, ?5 FROM incidents WHERE id = ?1 AND ${isFree}`
    const closed = isClosing(state) ? nowMs : null
    const [, inserted] = await this.#db.batch([
      this.#db.prepare(change).bind(id, UPDATES_MAX, closed, starts ?? null, ends ?? null),
      this.#db.prepare(insert).bind(id, UPDATES_MAX, nowMs, state, message),
    ])
    return (inserted?.meta.changes ?? 0) > 0
  }

  async remove(id: number): Promise<boolean> {
    const [, removed] = await this.#db.batch([
      this.#db.prepare('DELETE FROM incident_updates WHERE incident = ?').bind(id),
      this.#db.prepare('DELETE FROM incidents WHERE id = ?').bind(id),
    ])
    return (removed?.meta.changes ?? 0) > 0
  }
}

/** Null if the row cannot be read. */
function incidentOf(row: { readonly id?: unknown }): Incident | null {
  try {
    const { updates, ...incident } = Row.parse(row)
    const newestFirst = updates.toSorted((a, b) => b.number - a.number)
    const [newest] = newestFirst
    if (newest === undefined) throw new Error('the incident has no update')
    return { ...incident, state: newest.state, updates: newestFirst }
  } catch (error) {
    logEvent('incident_unreadable', { id: row.id, error })
    return null
  }
}
