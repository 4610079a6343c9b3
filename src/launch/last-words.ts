// Why a child ended, from the end of its log: the last line in which one of our programs, or Node, says what is wrong.

const MAX_UNITS = 300
/** `{"say":"…"}` of the feeder, `devnet: …`, `TypeError: …` of Node; workerd's begin with a file of its source. */
const WORDS = [/^\{"say":(".*")\}$/, /^devnet: (.*)$/, /^(?:Uncaught )?(\w*Error: .*)$/, /^(workerd\/\S+ failed: .*)$/]

/** What is said before it was about something that is over. */
const WELL = /^(?:\{"status":\{"state":"sending","why":null,|gateway at http)/
/** Sent by somebody else: the log of who got it cannot tell why. */
const FROM_OUTSIDE: readonly (string | null)[] = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP']

/** How a child ended, with its own words for that where it has any; `log` is that of this life of it. */
export function howEnded(code: number | null, signal: string | null, log: () => string): string {
  const how = signal ?? `exit code ${code}`
  const words = code === 0 || FROM_OUTSIDE.includes(signal) ? null : lastWords(log())
  return words === null ? how : `${how}: ${words}`
}

/** One line without control characters; null where the log ends in nothing of the kind. */
export function lastWords(log: string): string | null {
  for (const line of log.split('\n').reverse()) {
    if (WELL.test(line)) return null
    const said = WORDS.map((form) => form.exec(line.trim())?.[1]).find((words) => words !== undefined)
    if (said === undefined) continue
    const text = said.startsWith('"') ? unquoted(said) : said
    return text.replace(/\p{Cc}+/gu, ' ').slice(0, MAX_UNITS)
  }
  return null
}

function unquoted(json: string): string {
  try {
    return String(JSON.parse(json))
  } catch {
    return json
  }
}
