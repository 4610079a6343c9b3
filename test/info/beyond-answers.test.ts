// What the types beyond the specification may leave out or null fits their schemas, as well as their examples do.

import { expect, it } from 'vitest'
import { queryOf } from '../../src/info/catalogue.ts'
import { BEYOND_ANSWERS } from './beyond-answers.ts'

it.each(Object.entries(BEYOND_ANSWERS))('%s', (type, answers) => {
  const { response, example } = queryOf(type)!
  for (const answer of answers) {
    expect(response.safeParse(answer).error, JSON.stringify(answer)).toBe(undefined)
    // Each shows something that the example does not.
    expect(answer).not.toEqual(example.response)
  }
})
