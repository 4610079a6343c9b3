// The history of alerts in the SQLite database of the Monitor. Invariant: it has at most HISTORY_MAX rows.

import { Tables } from '../core/tables.store.ts'
import type { AlertDelivery, AlertEvent, AlertHistoryEntry } from './alerts.ts'

const HISTORY_MAX = 200

interface Row {
  readonly number: number
  readonly event: string
  readonly delivery: string
  readonly attempts: number
  readonly answer: string | null
}

export class AlertHistory extends Tables {
  add(event: AlertEvent, delivery: AlertDelivery): void {
    const insert = 'INSERT INTO alerts (id, at, event, delivery, attempts) VALUES (?, ?, ?, ?, 0)'
    this.run(insert, event.id, event.created, JSON.stringify(event), delivery)
    this.run('DELETE FROM alerts WHERE number <= (SELECT max(number) FROM alerts) - ?', HISTORY_MAX)
  }

  /** After an attempt. */
  attempted(id: string, delivery: AlertDelivery, answer: string): void {
    this.run('UPDATE alerts SET delivery = ?, attempts = attempts + 1, answer = ? WHERE id = ?', delivery, answer, id)
  }

  /** Newest first. `waiting`: ids of the messages in the outbox. Others that are due were dropped from it. */
  list(waiting: readonly string[]): AlertHistoryEntry[] {
    const select = 'SELECT number, event, delivery, attempts, answer FROM alerts ORDER BY number DESC'
    return this.all<Row>(select).map(({ number, event, delivery, attempts, answer }) => {
      const { id, created, ...shown } = JSON.parse(event) as AlertEvent
      const isDropped = delivery === 'due' && !waiting.includes(id)
      return {
        number,
        at: created,
        type: shown.type,
        alert: shown.alert,
        started: shown.started,
        message: shown.message,
        delivery: isDropped ? 'given_up' : (delivery as AlertDelivery),
        attempts,
        answer,
      }
    })
  }
}
