// Writes the operator's log. The platform parses each line as JSON.

import { LOG_LEVELS, type LogEvent, type LogFields, logLine } from './log-line.ts'

const WRITE = {
  info: (line: string) => console.log(line),
  warn: (line: string) => console.warn(line),
  error: (line: string) => console.error(line),
}

export function logEvent(event: LogEvent, fields?: LogFields): void {
  WRITE[LOG_LEVELS[event]](logLine(event, fields))
}
