// Writes the operator's log, and counts errors and warnings. The platform parses each line as JSON.

import { counters } from './counters.ts'
import { LOG_LEVELS, type LogEvent, type LogFields, logLine } from './log-line.ts'

const WRITE = {
  info: (line: string) => console.log(line),
  warn: (line: string) => console.warn(line),
  error: (line: string) => console.error(line),
}

export function logEvent(event: LogEvent, fields?: LogFields): void {
  if (LOG_LEVELS[event] !== 'info') counters.add('log_events', event)
  WRITE[LOG_LEVELS[event]](logLine(event, fields))
}
