// The form of the API explorer in the query of the page: `type`, and `f.<field>` for each field that differs from its sample
// value. A time that is relative to now is not kept unless it was changed, so that a shared link still returns rows.

import type { FormInput, RequestType } from '../requests/request-form.ts'

const PREFIX = 'f.'

/** Maximum length of a field that the address keeps. */
const VALUE_MAX = 1_000

/** The inputs of the form, with the values of the address. */
export function inputsOf({ fields }: RequestType, query: URLSearchParams, nowMs: number): FormInput[] {
  return fields.map(({ name, place, kind, isRequired, value, agoMs }) => {
    const own = query.get(PREFIX + name)
    const text = own ?? (agoMs === null ? value : String(nowMs - agoMs))
    return { name, place, kind, isRequired, text, agoMs: own === null ? agoMs : null }
  })
}

/** The query with a new value of a field. An empty value is kept, because the sample may have another. */
export function withValue({ fields }: RequestType, query: URLSearchParams, name: string, text: string) {
  const next = new URLSearchParams(query)
  const field = fields.find((each) => each.name === name)
  const isSample = field?.agoMs === null && field.value === text
  if (isSample || text.length > VALUE_MAX) next.delete(PREFIX + name)
  else next.set(PREFIX + name, text)
  return next
}

/** The query with another type, without the values of fields. */
export function withType(query: URLSearchParams, type: string): URLSearchParams {
  const next = new URLSearchParams([...query].filter(([name]) => !name.startsWith(PREFIX)))
  next.set('type', type)
  return next
}

/** Types by group, in their order; only those in `found` if it is not null. */
export function listedTypes(
  types: readonly RequestType[],
  found: readonly string[] | null,
): (readonly [group: string, types: readonly RequestType[]])[] {
  const listed = found === null ? types : types.filter(({ type }) => found.includes(type))
  return [...Map.groupBy(listed, ({ group }) => group)]
}
