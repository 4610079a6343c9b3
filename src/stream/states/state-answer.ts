// The text of an info answer, parsed when somebody looks.

import type { StateAnswer } from '../channel.ts'

export function answerOf(text: string): StateAnswer {
  let value: unknown
  return {
    text,
    get value() {
      value ??= JSON.parse(text)
      return value
    },
  }
}
