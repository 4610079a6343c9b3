// Finished hours of availability in the SQLite database of the Monitor, and the state of the current one.

import { Tables } from '../core/tables.store.ts'
import { COMPONENTS, type Component, type HourRow, NO_AVAILABILITY, type StoredAvailability } from './availability.ts'
import { oldestHour } from './history.ts'

const AVAILABILITY = 'availability'

type Row = Omit<HourRow, 'component' | 'times'> & { readonly component: string; readonly times: string }

export class AvailabilityStore extends Tables {
  readonly #storage: DurableObjectStorage
  #current: StoredAvailability

  constructor(storage: DurableObjectStorage) {
    super(storage.sql)
    this.#storage = storage
    this.#current = storage.kv.get<StoredAvailability>(AVAILABILITY) ?? NO_AVAILABILITY
  }

  get current(): StoredAvailability {
    return this.#current
  }

  /** Stores a check and the rows of the hour that it ended, in one write. */
  put(next: StoredAvailability, finished: readonly HourRow[]): void {
    for (const { hour, component, checks, failed, times } of finished) {
      const values = [hour, component, checks, failed, JSON.stringify(times)]
      this.run(
        'INSERT OR REPLACE INTO hours (hour, component, checks, failed, times) VALUES (?, ?, ?, ?, ?)',
        ...values,
      )
    }
    if (next.hour !== this.#current.hour) this.run('DELETE FROM hours WHERE hour < ?', oldestHour(next.hour))
    this.#storage.kv.put(AVAILABILITY, next)
    this.#current = next
  }

  /** Finished hours from `fromMs` to before `untilMs`, sorted by hour and component. */
  hours(fromMs: number, untilMs: number): HourRow[] {
    const select = 'SELECT * FROM hours WHERE hour >= ? AND hour < ? ORDER BY hour, component'
    return this.all<Row>(select, fromMs, untilMs).flatMap(({ component, times, ...row }) =>
      isComponent(component) ? [{ ...row, component, times: JSON.parse(times) as HourRow['times'] }] : [],
    )
  }
}

const isComponent = (name: string): name is Component => (COMPONENTS as readonly string[]).includes(name)
