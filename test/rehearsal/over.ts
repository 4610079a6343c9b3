/** Replaces some properties of an object of the platform; other methods are called on the original. */
export function over<T extends object>(target: T, replaced: Readonly<Record<string, unknown>>): T {
  return new Proxy(target, {
    get(_, name) {
      if (typeof name === 'string' && Object.hasOwn(replaced, name)) return replaced[name]
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
