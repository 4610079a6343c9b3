// What a transform may do, as SQLite's authoriser asks of each step of a plan: select, read, call functions, recurse.

const READ = 20
const SELECT = 21
const FUNCTION = 31
const RECURSIVE = 33

/** Another try of a batch must make the same rows; what reaches beyond the database; what makes much of nothing; and
 * what takes the product of two lengths in one step, during which nobody can look at the clock. */
const FORBIDDEN = [
  ...['random', 'randomblob', 'current_timestamp', 'current_date', 'current_time'],
  // Without an argument, or of 'now', they tell the time.
  ...['date', 'time', 'datetime', 'julianday', 'unixepoch', 'strftime', 'timediff'],
  ...['load_extension', 'fts3_tokenizer', 'writefile', 'readfile', 'edit'],
  ...['zeroblob', 'printf', 'format', 'replace', 'hex'],
  ...['instr', 'trim', 'ltrim', 'rtrim', 'json_patch'],
]
/** What is known of the engine and its schema is nobody's data. */
const HIDDEN = /^(?:sqlite_|pragma_|dbstat)/i

/** `one` and `two`: of a read its table and column, of a call nothing and its function. */
export function allows(code: number, one: string | null, two: string | null): boolean {
  if (code === SELECT || code === RECURSIVE) return true
  if (code === READ) return !HIDDEN.test(one ?? '')
  return code === FUNCTION && !FORBIDDEN.includes((two ?? '').toLowerCase())
}
