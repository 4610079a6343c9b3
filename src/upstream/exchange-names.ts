// Which fields of a canonical request hold names of the exchange: values that we have taken because of their form, and
// that only the exchange can know. Law: a request without any cannot be at fault where a source fails at it.

/** Of these every value that we let through is one that the exchange takes; addresses are known by their form. */
const OURS: ReadonlySet<string> = new Set(['type', 'startTime', 'endTime', 'interval', 'oid'])
const ADDRESS = /^0x[0-9a-f]{40}$/

/** Dotted paths (`req.coin`), a `dex` last: it is looked up beforehand wherever that can be done. */
export function exchangeNames(request: object): readonly string[] {
  const names = Object.entries(request).flatMap(([field, value]: [string, unknown]) => {
    if (OURS.has(field)) return []
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return exchangeNames(value).map((inner) => `${field}.${inner}`)
    const isName = typeof value === 'number' || (typeof value === 'string' && value !== '' && !ADDRESS.test(value))
    return isName ? [field] : []
  })
  return names.toSorted((a, b) => Number(a === 'dex') - Number(b === 'dex'))
}
