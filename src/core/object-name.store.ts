// The name of a Durable Object. The platform tells it only if the object is addressed by name. It is missing where an id
// is used, as in Cloudflare's data viewer, so the object stores it when it first learns it.

/** Storage key of the name. */
const NAME = 'name'

/** Returns the object's name; empty if the object was never addressed by name. Such an object must not serve anyone. */
export function objectName({ id, storage }: Pick<DurableObjectState, 'id' | 'storage'>): string {
  const stored = storage.kv.get<string>(NAME)
  if (id.name === undefined || id.name === stored) return stored ?? ''
  storage.kv.put(NAME, id.name)
  return id.name
}
