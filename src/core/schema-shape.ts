// Inspects schemas: finds the fields that a schema defines at a path of the input.

import type * as z from 'zod'

export type Shape = Readonly<Record<string, z.core.$ZodType>>

/** The fields of the object that the schema expects at this path. */
export function shapeAt(schema: z.core.$ZodType, value: unknown, path: readonly PropertyKey[]): Shape {
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'object': {
      const [name, ...rest] = path
      if (name === undefined) return def.shape
      const field = Object.hasOwn(def.shape, name) ? def.shape[String(name)] : undefined
      return field === undefined ? {} : shapeAt(field, valueAt(value, [name]), rest)
    }
    case 'array':
      return path.length === 0 ? {} : shapeAt(def.element, valueAt(value, path.slice(0, 1)), path.slice(1))
    case 'pipe':
      return shapeAt(isTransform(def.in) ? def.out : def.in, value, path)
    case 'optional':
    case 'nullable':
    case 'default':
      return shapeAt(def.innerType, value, path)
    case 'union': {
      const option = def.options.find((each) =>
        isChosen(each, 'discriminator' in def ? String(def.discriminator) : '', value),
      )
      return option === undefined ? {} : shapeAt(option, value, path)
    }
    default:
      return {}
  }
}

/** Whether the discriminator of the value selects this option. */
function isChosen(option: z.core.$ZodType, name: string, value: unknown): boolean {
  const field = shapeAt(option, value, [])[name]
  return field !== undefined && (field as z.ZodType).safeParse(valueAt(value, [name])).success
}

function isTransform(schema: z.core.$ZodType): boolean {
  return (schema as z.core.$ZodTypes)._zod.def.type === 'transform'
}

/** The input value at a path. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, name) => (at as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[name],
    value,
  )
}
