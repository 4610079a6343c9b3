// Values are located exactly as JSON.parse reads them.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { elementsOf, membersOf } from '../../src/rpc/json-spans.ts'

const space = fc.constantFrom('', ' ', '\n\t', '  \r\n')
/** A value as text in unusual form: with spaces, escapes and any number notation. */
const written = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(...String.raw`null true 1e3 -0 1152921504606846977 0.10 "\u0061\\" "\\\"" "[{,}]"`.split(' ')),
    fc.json({ maxDepth: 1 }),
    tie('list'),
    tie('object'),
  ),
  list: fc
    .tuple(space, fc.array(fc.tuple(space, tie('value'), space), { maxLength: 4 }))
    .map(([inner, values]) => `[${inner}${values.map((parts) => parts.join('')).join(',')}]`),
  object: fc
    .tuple(
      space,
      fc.array(
        fc.tuple(space, fc.constantFrom('"a"', '"\\u0061"', '"id"', '""', '"__proto__"'), space, tie('value'), space),
        { maxLength: 4 },
      ),
    )
    .map(
      ([inner, members]) =>
        `{${inner}${members.map(([a, name, b, value, c]) => `${a}${name}${b}:${b}${value}${c}`).join(',')}}`,
    ),
}))

it('finds elements of a list', () => {
  fc.assert(
    fc.property(space, written.list, (before, list) => {
      const text = before + list
      const found = elementsOf(text).map(({ start, end }) => JSON.parse(text.slice(start, end)))
      expect(found).toEqual(JSON.parse(text))
    }),
  )
})

it('finds members of an object, the last duplicate', () => {
  fc.assert(
    fc.property(written.object, (object) => {
      const members = JSON.parse(object) as Readonly<Record<string, unknown>>
      const names = ['a', 'id', '', '__proto__', 'none']
      const found = membersOf(object, 0, names).map((span) => span && JSON.parse(object.slice(span.start, span.end)))
      expect(found).toEqual(names.map((name) => (Object.hasOwn(members, name) ? members[name] : undefined)))
    }),
  )
})
