// Why a child ended, from the end of its log: the last line in which one of our programs, or Node, says what is wrong.

const MAX_UNITS = 300
/** `{"say":"…"}` of the feeder, `devnet: …`, `TypeError: …` of Node; workerd's begin with a file of its source. */
const WORDS = [/^\{"say":(".*")\}$/, /^devnet: (.*)$/, /^(?:Uncaught )?(\w*Error: .*)$/, /^(workerd\/\S+ failed: .*)$/]

/** One line without control characters; null where the log ends in nothing of the kind. */
export function lastWords(log: string): string | null {
  for (const line of log.split('\n').reverse()) {
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
